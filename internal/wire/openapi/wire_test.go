package openapi_test

import "github.com/askback/askback/internal/wire/openapi"

const base = "/api/v1"

var info = openapi.Info{
	Title: "Askback", Version: "test", Base: base,
	Description: "The place where agents ask people, and get an answer, however long it takes. A token's kind is " +
		"what its holder may do; an admin may do what a responder and an operator may. Times are RFC 3339 in UTC; " +
		"what is not there is null.",
	Tags: []openapi.Tag{
		{Name: "asks", Description: "Agents ask, people answer."},
		{Name: "sessions", Description: "The runs of agents, with their messages and events."},
		{Name: "directory", Description: "Standing approvals, people, agents and statistics."},
		{Name: "tokens", Description: "Tokens and log-in links."},
		{Name: "server", Description: "The state of the server."},
		{Name: "dialects", Description: "The same asks in the formats of other programs."},
	},
}

var (
	agent     = []string{"agent"}
	responder = []string{"responder"}
	both      = []string{"agent", "responder"}
	admin     = []string{"admin"}

	wait = openapi.Param{
		Name: "wait", Description: "How long to wait until the ask is settled, at most 60s.", Example: "30s",
	}
	cursor = openapi.Param{Name: "cursor", Description: "The next_cursor of the previous page."}
	limit  = openapi.Param{Name: "limit", Description: "The maximum number of items; 50 by default.", Type: "integer"}
	label  = openapi.Param{Name: "agent", Description: "Only asks or sessions of agents with this label."}
	after  = openapi.Param{
		Name: "after", Description: "Continue after this cursor. Without one, the stream begins with a snapshot.",
	}
	last = openapi.Param{
		Name:        "Last-Event-ID",
		Description: "The same as after; browsers send it when they reconnect. It has priority over after.",
	}
	key = openapi.Param{
		Name:        "Idempotency-Key",
		Description: "Requests with the same token and key are the same ask, as long as the ask is kept.",
	}
)

// routes are routes of every kind. The full table is in package httpapi.
var routes = []openapi.Route{
	{
		Method: "POST", Path: base + "/asks", Tag: "asks", Summary: "Create an ask.",
		Detail: "201 for a new ask; 200 for an existing ask with this key.", Who: agent, In: "AskRequest", Out: "Ask",
		Query: []openapi.Param{wait}, Header: []openapi.Param{key}, Statuses: []int{200, 201, 409, 429},
	},
	{
		Method: "GET",
		Path:   base + "/asks", Tag: "asks", Summary: "List asks.", Who: both, Out: "AskPage", Query: []openapi.Param{
			{Name: "status", Description: "The default is pending.", Values: []string{
				"pending", "answered", "declined", "cancelled", "expired", "all",
			}},
			label,
			{Name: "session_id", Description: "Only asks of this session."},
			{Name: "to", Description: "Only asks for this person or for everyone."},
			{Name: "q", Description: "Only asks whose title, questions, tool or label contain this."},
			cursor, limit,
		},
	},
	{
		Method: "GET", Path: base + "/asks/{id}", Tag: "asks", Summary: "Get an ask.",
		Detail: "With wait, the reply comes when the ask is settled, or after that time.", Who: both, Out: "Ask",
		Query: []openapi.Param{wait}, Statuses: []int{200, 429},
	},
	{
		Method: "POST", Path: base + "/asks/{id}/answer", Tag: "asks", Summary: "Answer an ask.",
		Detail: "The first answer counts. A later answer gets 409 with the outcome, unless the same person repeats " +
			"the same answer.",
		Who: responder, In: "AnswerRequest", Out: "Ask", Statuses: []int{200, 409},
	},
	{
		Method: "PUT", Path: base + "/asks/{id}/draft", Tag: "asks", Summary: "Save your draft of an answer.",
		Detail: "It is deleted when the ask is settled.", Who: responder, In: "Draft", Statuses: []int{204, 409},
	},
	{
		Method: "POST", Path: base + "/sessions", Tag: "sessions", Summary: "Start a session for a run.",
		Detail: "201 for a new session; 200 for an existing session with this key.", Who: agent, In: "SessionRequest",
		Out: "Session", Statuses: []int{200, 201},
	},
	{
		Method: "GET", Path: base + "/sessions/{id}/events", Tag: "sessions",
		Summary: "Stream the events of a session.", Who: both, Out: "Event", OutType: openapi.Events,
		Query: []openapi.Param{after}, Header: []openapi.Param{last}, Statuses: []int{200, 429},
	},
	{
		Method: "POST", Path: base + "/sessions/{id}/answer", Tag: "dialects",
		Summary: "Answer an ask of a session with one text.", Who: responder, In: "TextAnswer", Out: "SessionReply",
		Statuses: []int{200, 409}, ErrorSchemas: map[int]string{404: "SessionReply", 409: "SessionReply"},
	},
	{
		Method: "GET", Path: base + "/sessions/{id}/resume-context", Tag: "dialects",
		Summary: "Get the asks settled since the last turn, as a text for a model.", Who: both, OutType: openapi.Text,
	},
	{
		Method: "GET", Path: base + "/grants",
		Tag: "directory", Summary: "List standing approvals.", Who: responder, Out: "GrantPage", Query: []openapi.Param{
			{Name: "ended", Description: "List ended and revoked ones instead.", Values: []string{"true", "false"}},
			label, cursor, limit,
		},
	},
	{
		Method: "DELETE", Path: base + "/grants/{id}", Tag: "directory", Summary: "Revoke a standing approval.",
		Detail: "After the reply it approves no more calls.", Who: responder, Out: "Grant",
	},
	{
		Method: "GET", Path: base + "/people", Tag: "directory", Summary: "List people who may answer.",
		Who: responder, Out: "PersonPage",
	},
	{
		Method: "GET", Path: base + "/groups", Tag: "directory", Summary: "List groups of people.", Who: responder,
		Out: "GroupPage",
	},
	{
		Method: "GET", Path: base + "/agents", Tag: "directory", Summary: "List agents that ask.", Who: responder,
		Out: "AgentPage",
	},
	{
		Method: "GET", Path: base + "/stats", Tag: "directory",
		Summary: "Get statistics: how long agents wait, and for whom.", Who: responder, Out: "Stats",
	},
	{
		Method: "POST", Path: base + "/tokens", Tag: "tokens", Summary: "Create a token.",
		Detail: "The secret is only in this reply.", Who: admin, In: "TokenRequest", Out: "CreatedToken",
		Statuses: []int{201},
	},
	{
		Method: "POST", Path: base + "/logins", Tag: "tokens",
		Summary: "Create a link that logs one browser in as yourself.", Who: []string{"responder", "operator"},
		In: "EmptyRequest", Optional: true, Out: "LoginLink", Statuses: []int{201},
	},
	{
		Method: "GET", Path: "/healthz",
		Tag: "server", Summary: "Check that the process is running.", Out: "Health", Query: []openapi.Param{
			{Name: "nonce", Description: "16 to 128 characters, for the proof."},
		},
	},
	{
		Method: "GET", Path: "/readyz", Tag: "server", Summary: "Check that the server accepts requests.",
		Out: "Health", Statuses: []int{200, 503, 507},
	},
}
