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
			Tag: "sessions", Summary: "Start a session for a run.",
			Detail: "201 for a new session; 200 for an existing session with this key.",
			Who:    forAgents, In: "SessionRequest", Out: "Session", Statuses: []int{200, 201},
		},
	},
	{
		method: "GET", path: base + "/sessions", action: askback.ActFollow, or: askback.ActSessions, serve: (*call).sessions,
		doc: openapi.Route{
			Tag: "sessions", Summary: "List sessions.",
			Detail: "Sessions that were created for a single ask are not listed; see the list of asks. For an operator, texts are left out.",
			Who:    forAll, Out: "SessionPage", Query: params{
				{Name: "status", Description: "All by default.", Values: []string{"running", "waiting_for_input", "completed", "failed", "cancelled"}},
				queryAgent,
				{Name: "q", Description: "Only those whose title or label contains this text."},
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
			Tag: "sessions", Summary: "List messages.",
			Who: forBoth, Out: "MessagePage", Query: params{queryCursor, queryLimit},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/messages", action: askback.ActMessage, or: askback.ActReport, limit: maxBody, serve: (*call).postMessage,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Post a message.",
			Detail: "A message does not answer an ask.",
			Who:    forBoth, In: "MessageRequest", Out: "Session", Statuses: []int{202, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/cancel", action: askback.ActEnd, limit: maxBody, serve: (*call).endSession,
		doc: openapi.Route{
			Tag: "sessions", Summary: "End a session permanently.",
			Detail: "Its open asks are cancelled.",
			Who:    forBoth, In: "Reason", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/resume", action: askback.ActResume, limit: maxBody, serve: (*call).resume,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Resume a session with its next turn.",
			Detail: "409 while an ask is open.",
			Who:    forBoth, In: "ResumeRequest", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/sessions/{id}/complete", action: askback.ActReport, limit: maxBody, serve: (*call).complete,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Report the end of a run.",
			Detail: "Its open asks are withdrawn.",
			Who:    forAgents, In: "Completion", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "PUT", path: base + "/sessions/{id}/todos", action: askback.ActReport, limit: maxBody, serve: (*call).setTodos,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Set the todos of a run.",
			Who: forAgents, In: "Todos", Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}/events", action: askback.ActFollow, serve: (*call).events,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Stream the events of a session.",
			Who: forBoth, Out: "Event", OutType: openapi.Events, Query: params{queryAfter}, Header: params{headerLast}, Statuses: []int{200, 429},
		},
	},
	{
		method: "GET", path: base + "/events", action: askback.ActEvents, serve: (*call).events,
		doc: openapi.Route{
			Tag: "sessions", Summary: "Stream the events of all sessions.",
			Who: forPeople, Out: "Event", OutType: openapi.Events, Query: params{queryAfter}, Header: params{headerLast}, Statuses: []int{200, 429},
		},
	},
}
