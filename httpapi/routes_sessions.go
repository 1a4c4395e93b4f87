package httpapi

import (
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/openapi"
)

// sessionRoutes are the routes for sessions.
var sessionRoutes = []route{
	{
		method: "POST", path: base + "/sessions", action: access.ActRun, limit: maxBody, serve: (*call).startSession,
		tag: "sessions", summary: "Start a hosted agent, or a session for a run elsewhere.",
		detail: "Only an agent starts a session for a run elsewhere. 201 for a new session; 200 for an existing " +
			"session with this key. Another callback_url replaces the callback_url of the session; 409 if the " +
			"session has ended.",
		who: forBoth, in: "SessionRequest", out: "Session", statuses: []int{200, 201, 409},
	},
	{
		method: "GET", path: base + "/hosted-agents", action: access.ActRun, serve: (*call).hostedAgents,
		tag: "sessions", summary: "List the agents that this server runs itself.",
		who: forBoth, out: "HostedAgentPage",
	},
	{
		method: "POST", path: "/hooks/{agent}", action: access.ActStart, signed: true, limit: limits.MaxInput,
		serve: (*call).startHook, tag: "sessions", summary: "Start a hosted agent by a webhook.",
		detail: "The body is the payload for the agent: any JSON. Instead of a token, the request may have a " +
			"signature of Standard Webhooks with the webhook_secret of the agent. " +
			"A repeated delivery gets the same session.",
		who: forAgents, in: "HookPayload", out: "HookStarted", statuses: []int{202},
		header: params{headerDelivery, headerSent, headerSignature, headerHookKey},
	},
	{
		method: "GET", path: base + "/sessions", action: access.ActFollow, or: access.ActSessions,
		serve: (*call).sessions, tag: "sessions", summary: "List sessions.",
		detail: "Sessions that were created for a single ask are not listed; see the list of asks. For an operator, " +
			"texts are left out.",
		who: forAll, out: "SessionPage", query: params{
			{Name: "status", Description: "All by default.", Values: []string{
				"running", "waiting_for_input", "completed", "failed", "cancelled",
			}},
			queryAgent,
			{Name: "q", Description: "Only sessions whose title or label contains this text."},
			queryCursor, queryLimit,
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}", action: access.ActFollow, or: access.ActSessions,
		serve: (*call).session, tag: "sessions", summary: "Get a session.",
		who: forAll, out: "Session",
	},
	{
		method: "GET", path: base + "/sessions/{id}/messages", action: access.ActFollow, serve: (*call).messages,
		tag: "sessions", summary: "List messages.",
		who: forBoth, out: "MessagePage", query: params{queryCursor, queryLimit},
	},
	{
		method: "POST", path: base + "/sessions/{id}/messages", action: access.ActMessage, or: access.ActReport,
		limit: maxBody, serve: (*call).postMessage, tag: "sessions", summary: "Post a message.",
		detail: "A message does not answer an ask.",
		who:    forBoth, in: "MessageRequest", out: "Session", statuses: []int{202, 409},
	},
	{
		method: "POST", path: base + "/sessions/{id}/cancel", action: access.ActEnd, limit: maxBody,
		serve: (*call).endSession, tag: "sessions", summary: "End a session permanently.",
		detail: "Its open asks are cancelled.",
		who:    forBoth, in: "Reason", optional: true, out: "Session", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/sessions/{id}/resume", action: access.ActResume, limit: maxBody,
		serve: (*call).resume, tag: "sessions", summary: "Resume a session with its next turn.",
		detail: "409 while an ask is open.",
		who:    forBoth, in: "ResumeRequest", optional: true, out: "Session", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/sessions/{id}/complete", action: access.ActReport, limit: maxBody,
		serve: (*call).complete, tag: "sessions", summary: "Report the end of a run.",
		detail: "Its open asks are withdrawn.",
		who:    forAgents, in: "Completion", optional: true, out: "Session", statuses: []int{200, 409},
	},
	{
		method: "PUT", path: base + "/sessions/{id}/todos", action: access.ActReport, limit: maxBody,
		serve: (*call).setTodos, tag: "sessions", summary: "Set the todos of a run.",
		who: forAgents, in: "Todos", out: "Session", statuses: []int{200, 409},
	},
	{
		method: "GET", path: base + "/sessions/{id}/events", action: access.ActFollow, serve: (*call).events,
		tag: "sessions", summary: "Stream the events of a session.",
		who: forBoth, out: "Event", outType: openapi.Events, query: params{queryAfter}, header: params{headerLast},
		statuses: []int{200, 429},
	},
	{
		method: "GET", path: base + "/events", action: access.ActEvents, serve: (*call).events,
		tag: "sessions", summary: "Stream the events of all sessions.",
		who: forPeople, out: "Event", outType: openapi.Events, query: params{queryAfter}, header: params{headerLast},
		statuses: []int{200, 429},
	},
}
