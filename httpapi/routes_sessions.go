package httpapi

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/openapi"
)

// sessionRoutes are the routes for sessions.
var sessionRoutes = []route{
	{
		method: "POST", path: base + "/sessions", action: askback.ActStart, limit: maxBody, serve: (*call).startSession,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Announce a run.",
			Detail: "201 with a new session; 200 with the one that has this key.",
			Who:    forAgents, In: "SessionRequest", Out: "Session", Statuses: []int{200, 201},
		},
	},
	{
		method: "GET", path: base + "/sessions", action: askback.ActFollow, or: askback.ActSessions, serve: (*call).sessions,
		doc: openapi.Route{
			Tag: "sessions", Summary: "List sessions.",
			Detail: "The session that a single ask has of its own is not among them: the ask is in the list of asks. An operator sees how they stand, and nothing that is said.",
			Who:    forAll, Out: "SessionPage", Query: params{
				{Name: "status", Description: "Every one unless said.", Values: []string{"running", "waiting_for_input", "completed", "failed", "cancelled"}},
				queryAgent,
				{Name: "q", Description: "Only those whose title or label contains this."},
				queryCursor, queryLimit,
			},
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}", action: askback.ActFollow, or: askback.ActSessions, serve: (*call).session,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Get a session.",
			Who: forAll, Out: "Session",
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}/messages", action: askback.ActFollow, serve: (*call).messages,
		doc: openapi.Route{
			Tag: "sessions", Summary: "List what was said.",
			Who: forBoth, Out: "MessagePage", Query: params{queryCursor, queryLimit},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/messages", action: askback.ActMessage, or: askback.ActReport, limit: maxBody, serve: (*call).postMessage,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Say something.",
			Detail: "It answers no ask.",
			Who:    forBoth, In: "MessageRequest", Out: "Session", Statuses: []int{202, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/cancel", action: askback.ActEnd, limit: maxBody, serve: (*call).endSession,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Cancel a session for good.",
			Detail: "Its open asks are cancelled.",
			Who:    forBoth, In: "Reason", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/resume", action: askback.ActResume, limit: maxBody, serve: (*call).resume,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Begin the next turn.",
			Detail: "409 while an ask is open.",
			Who:    forBoth, In: "ResumeRequest", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/complete", action: askback.ActReport, limit: maxBody, serve: (*call).complete,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Say how a run ended.",
			Detail: "Open asks are withdrawn.",
			Who:    forAgents, In: "Completion", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "PUT", path: base + "/sessions/{id}/todos", action: askback.ActReport, limit: maxBody, serve: (*call).setTodos,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Say what a run means to do.",
			Who: forAgents, In: "Todos", Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}/events", action: askback.ActFollow, serve: (*call).events,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Follow a session.",
			Who: forBoth, Out: "Event", OutType: openapi.Events, Query: params{queryAfter}, Header: params{headerLast}, Statuses: []int{200, 429},
		},
	},
	{
		method: "GET", path: base + "/events", action: askback.ActEvents, serve: (*call).events,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Follow every session.",
			Who: forPeople, Out: "Event", OutType: openapi.Events, Query: params{queryAfter}, Header: params{headerLast}, Statuses: []int{200, 429},
		},
	},
}
