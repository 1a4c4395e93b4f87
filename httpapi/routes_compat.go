package httpapi

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/openapi"
)

// compatRoutes are the routes in the formats of other programs (docs/wire.md §3).
var compatRoutes = []route{
	{
		method: "POST", path: base + "/sessions/{id}/answer", action: askback.ActAnswer, limit: maxBody, serve: (*call).sessionAnswer,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer an ask of a session with one text.",
			Who: forPeople, In: "TextAnswer", Out: "SessionReply", Statuses: []int{200, 409}, ErrorSchemas: map[int]string{404: "SessionReply", 409: "SessionReply"},
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}/pending-question", action: askback.ActFollow, serve: (*call).pendingQuestion,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Get the oldest open ask of a session.",
			Who: forBoth, Out: "PendingQuestion",
		},
	},
	{
		method: "GET", path: base + "/sessions/{id}/resume-context", action: askback.ActFollow, serve: (*call).resumeContext,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Get the asks settled since the last turn, as a text for a model.",
			Who: forBoth, OutType: openapi.Text,
		},
	},
	{
		method: "POST", path: "/conversations/{id}/respond", action: askback.ActAnswer, limit: maxBody, serve: (*call).respond,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer an ask of a conversation, by the texts of its questions.",
			Detail: "An invalid answer has status 400.",
			Who:    forPeople, In: "ConversationAnswer", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: "/agent/questions", action: askback.ActAnswer, serve: (*call).agentQuestions,
		doc: openapi.Route{
			Tag: "dialects", Summary: "List asks, one row for each.",
			Who: forPeople, Out: "AgentQuestions", Query: params{
				{Name: "status", Description: "pending by default.", Values: []string{"pending", "answered", "all"}},
			},
		},
	},
	{
		method: "POST", path: "/agent/answer/{id}", action: askback.ActAnswer, limit: maxBody, serve: (*call).agentAnswer,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer an ask of a session with one text.",
			Detail: "An answer to an ask that a person has already answered is not an error; the reply says so.",
			Who:    forPeople, In: "TextAnswer", Out: "AgentReply", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: "/agent/session/{id}", action: askback.ActFollow, serve: (*call).agentSession,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Get a session as one row.",
			Who: forBoth, Out: "AgentSession",
		},
	},
	{
		method: "POST", path: "/conversations/{id}/cancel", action: askback.ActEnd, limit: maxBody, serve: (*call).endTurn,
		doc: openapi.Route{
			Tag: "dialects", Summary: "End the turn of a conversation.",
			Detail: "Its open asks are cancelled. The next message begins a new turn.",
			Who:    forBoth, In: "Reason", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/dialects/{name}/ask", action: askback.ActAsk, limit: maxBody, serve: (*call).dialectAsk,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Ask in the format of a client's own ask tool, and get its result.",
			Detail: "The names are claude, codex, crush, deepagents, flat, gemini, langgraph, opencode and vscode. 202 without an answer; send the request again " +
				"with the same key to wait again. The reply consumes an approval.",
			Who: forAgents, In: "AnyJSON", Out: "AnyJSON", Statuses: []int{200, 202, 409}, Query: params{queryWait}, Header: params{headerKey},
		},
	},
	{
		method: "POST", path: claudehook.Path, action: askback.ActAsk, limit: claudehook.MaxInput, serve: (*call).claudeHook,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Handle a hook of Claude Code.",
			Detail: "The body is the event. The reply comes when a person has decided, however long that takes. 204, or {} after heartbeats, is no decision. " +
				"Closing the connection withdraws the ask. Events of Codex are supported too; for other programs the reply is 204.",
			Who: forAgents, In: "AnyJSON", Out: "AnyJSON", Statuses: []int{200, 204, 409, 429},
			Query: params{{
				Name: "defer", Example: "10s",
				Description: "How long a deferrable call waits; 0s is as long as the connection is open. 10s by default.",
			}},
			Header: params{{
				Name:        claudehook.EntrypointHeader,
				Description: "How Claude Code was started: its variable " + claudehook.EntrypointVariable + ". Calls of sdk-cli (claude -p) can be deferred.",
			}},
		},
	},
}
