package openapi_test

import "github.com/askback/askback/internal/openapi"

const base = "/api/v1"

var info = openapi.Info{
	Title: "Askback", Version: "test", Base: base,
	Description: "The place where agents ask people, and get an answer, however long it takes. A token's kind is what its holder may do; an admin may do what a responder and an operator may. Times are RFC 3339 in UTC; what is not there is null.",
	Tags: []openapi.Tag{
		{Name: "asks", Description: "An agent asks, a person answers."},
		{Name: "sessions", Description: "The runs of agents, what is said in them and what happens."},
		{Name: "directory", Description: "Standing approvals, people, agents and statistics."},
		{Name: "tokens", Description: "Who may come in."},
		{Name: "server", Description: "How the server is."},
		{Name: "dialects", Description: "The same asks in the words of other systems."},
	},
}

var (
	agent     = []string{"agent"}
	responder = []string{"responder"}
	both      = []string{"agent", "responder"}
	admin     = []string{"admin"}

	wait   = openapi.Param{Name: "wait", Description: "Wait until it is settled, at most this long and at most 60s.", Example: "30s"}
	cursor = openapi.Param{Name: "cursor", Description: "The next_cursor of the page before."}
	limit  = openapi.Param{Name: "limit", Description: "The maximum number of entries. The default is 50.", Type: "integer"}
	label  = openapi.Param{Name: "agent", Description: "Only those of agents with this label."}
	after  = openapi.Param{Name: "after", Description: "Go on behind this cursor; without one the stream begins with a snapshot."}
	last   = openapi.Param{Name: "Last-Event-ID", Description: "The same as after, as browsers send it; it wins."}
	key    = openapi.Param{Name: "Idempotency-Key", Description: "The same key of the same token is the same ask, for as long as the ask is kept."}
)

// routes are routes of every kind. The full table is in package httpapi.
var routes = []openapi.Route{
	{Method: "POST", Path: base + "/asks", Tag: "asks", Summary: "Ask.", Detail: "201 with a new ask; 200 with the one that has this key.", Who: agent, In: "AskRequest", Out: "Ask", Query: []openapi.Param{wait}, Header: []openapi.Param{key}, Statuses: []int{200, 201, 409, 429}},
	{Method: "GET", Path: base + "/asks", Tag: "asks", Summary: "List asks.", Who: both, Out: "AskPage", Query: []openapi.Param{
		{Name: "status", Description: "The default is pending.", Values: []string{"pending", "answered", "declined", "cancelled", "expired", "all"}},
		label,
		{Name: "session_id", Description: "Only those of this session."},
		{Name: "to", Description: "Only those put to this person, or to everybody."},
		{Name: "q", Description: "Only those whose title, questions, tool or label contain this."},
		cursor, limit,
	}},
	{Method: "GET", Path: base + "/asks/{id}", Tag: "asks", Summary: "Get an ask.", Detail: "With wait it replies once the ask is settled, or with the ask as it is.", Who: both, Out: "Ask", Query: []openapi.Param{wait}, Statuses: []int{200, 429}},
	{Method: "POST", Path: base + "/asks/{id}/answer", Tag: "asks", Summary: "Answer an ask.", Detail: "The first answer wins; who comes later learns who won and with what. The same person may repeat the same answer.", Who: responder, In: "AnswerRequest", Out: "Ask", Statuses: []int{200, 409}},
	{Method: "PUT", Path: base + "/asks/{id}/draft", Tag: "asks", Summary: "Keep what one typed so far.", Detail: "It is gone when the ask settles.", Who: responder, In: "Draft", Statuses: []int{204, 409}},
	{Method: "POST", Path: base + "/sessions", Tag: "sessions", Summary: "Announce a run.", Detail: "201 with a new session; 200 with the one that has this key.", Who: agent, In: "SessionRequest", Out: "Session", Statuses: []int{200, 201}},
	{Method: "GET", Path: base + "/sessions/{id}/events", Tag: "sessions", Summary: "Follow a session.", Who: both, Out: "Event", OutType: openapi.Events, Query: []openapi.Param{after}, Header: []openapi.Param{last}, Statuses: []int{200, 429}},
	{Method: "POST", Path: base + "/sessions/{id}/answer", Tag: "dialects", Summary: "Answer what a session asks, by one text.", Who: responder, In: "TextAnswer", Out: "SessionReply", Statuses: []int{200, 409}, ErrorSchemas: map[int]string{404: "SessionReply", 409: "SessionReply"}},
	{Method: "GET", Path: base + "/sessions/{id}/resume-context", Tag: "dialects", Summary: "Get what was settled since, as a text for a model.", Who: both, OutType: openapi.Text},
	{Method: "GET", Path: base + "/grants", Tag: "directory", Summary: "List standing approvals.", Who: responder, Out: "GrantPage", Query: []openapi.Param{
		{Name: "ended", Description: "Those that are over or revoked instead.", Values: []string{"true", "false"}},
		label, cursor, limit,
	}},
	{Method: "DELETE", Path: base + "/grants/{id}", Tag: "directory", Summary: "End a standing approval.", Detail: "When it replies, no ask is approved by it any more.", Who: responder, Out: "Grant"},
	{Method: "GET", Path: base + "/people", Tag: "directory", Summary: "List who may answer.", Who: responder, Out: "PersonPage"},
	{Method: "GET", Path: base + "/groups", Tag: "directory", Summary: "List groups of people.", Who: responder, Out: "GroupPage"},
	{Method: "GET", Path: base + "/agents", Tag: "directory", Summary: "List who asks.", Who: responder, Out: "AgentPage"},
	{Method: "GET", Path: base + "/stats", Tag: "directory", Summary: "See how long agents wait, and for whom.", Who: responder, Out: "Stats"},
	{Method: "POST", Path: base + "/tokens", Tag: "tokens", Summary: "Make a token.", Detail: "This is the one time that its secret is seen.", Who: admin, In: "TokenRequest", Out: "CreatedToken", Statuses: []int{201}},
	{Method: "POST", Path: base + "/logins", Tag: "tokens", Summary: "Make a link that logs in one browser as oneself.", Who: []string{"responder", "operator"}, In: "EmptyRequest", Optional: true, Out: "LoginLink", Statuses: []int{201}},
	{Method: "GET", Path: "/healthz", Tag: "server", Summary: "See whether this process lives.", Out: "Health", Query: []openapi.Param{
		{Name: "nonce", Description: "16 to 128 characters, to be proven with."},
	}},
	{Method: "GET", Path: "/readyz", Tag: "server", Summary: "See whether it serves.", Out: "Health", Statuses: []int{200, 503, 507}},
}
