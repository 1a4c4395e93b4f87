package httpapi

import (
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/wire/openapi"
)

// compatRoutes are the routes in the formats of other programs (docs/wire.md §3).
var compatRoutes = []route{
	{
		method: "POST", path: base + "/sessions/{id}/answer", action: access.ActAnswer, limit: maxBody,
		serve: (*call).sessionAnswer, tag: "dialects", summary: "Answer an ask of a session with one text.",
		who: forPeople, in: "TextAnswer", out: "SessionReply", statuses: []int{200, 409},
		errorSchemas: map[int]string{404: "SessionReply", 409: "SessionReply"},
	},
	{
		method: "GET", path: base + "/sessions/{id}/pending-question", action: access.ActFollow,
		serve: (*call).pendingQuestion, tag: "dialects", summary: "Get the oldest open ask of a session.",
		who: forBoth, out: "PendingQuestion",
	},
	{
		method: "GET", path: base + "/sessions/{id}/resume-context", action: access.ActFollow,
		serve: (*call).resumeContext, tag: "dialects",
		summary: "Get the asks settled since the last turn, as a text for a model.", who: forBoth,
		outType: openapi.Text,
	},
	{
		method: "POST", path: "/conversations/{id}/respond", action: access.ActAnswer, limit: maxBody,
		serve: (*call).respond, tag: "dialects",
		summary: "Answer an ask of a conversation, by the texts of its questions.",
		detail:  "An invalid answer has status 400.",
		who:     forPeople, in: "ConversationAnswer", out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "GET", path: "/agent/questions", action: access.ActAnswer, serve: (*call).agentQuestions,
		tag: "dialects", summary: "List asks, one row for each.",
		who: forPeople, out: "AgentQuestions", query: params{
			{Name: "status", Description: "pending by default.", Values: []string{"pending", "answered", "all"}},
		},
	},
	{
		method: "POST", path: "/agent/answer/{id}", action: access.ActAnswer, limit: maxBody,
		serve: (*call).agentAnswer, tag: "dialects", summary: "Answer an ask of a session with one text.",
		detail: "If a person has already answered the ask, the reply states this, and is not an error.",
		who:    forPeople, in: "TextAnswer", out: "AgentReply", statuses: []int{200, 409},
	},
	{
		method: "GET", path: "/agent/session/{id}", action: access.ActFollow, serve: (*call).agentSession,
		tag: "dialects", summary: "Get a session as one row.",
		who: forBoth, out: "AgentSession",
	},
	{
		method: "POST", path: "/conversations/{id}/cancel", action: access.ActEnd, limit: maxBody,
		serve: (*call).endTurn, tag: "dialects", summary: "End the turn of a conversation.",
		detail: "Its open asks are cancelled. The next message begins a new turn.",
		who:    forBoth, in: "Reason", optional: true, out: "Session", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/dialects/{name}/ask", action: access.ActAsk, limit: maxBody,
		serve: (*call).dialectAsk, tag: "dialects",
		summary: "Ask in the format of a client's own ask tool, and get its result.",
		detail: "The names are a2a, ag-ui, claude, codex, crush, deepagents, flat, gemini, langgraph, opencode and " +
			"vscode. 202 without an answer; send the request again " +
			"with the same key to wait again. The reply consumes an approval.",
		who: forAgents, in: "AnyJSON", out: "AnyJSON", statuses: []int{200, 202, 409, 429}, query: params{queryWait},
		header: params{headerKey, headerTrace},
	},
	{
		method: "POST", path: claudecode.Path, action: access.ActAsk, limit: claudecode.MaxInput,
		serve: (*call).claudeHook, tag: "dialects", summary: "Handle a hook of Claude Code.",
		detail: "The body is the event. The reply comes when a person has decided, however long that takes. 204, or " +
			"{} after heartbeats, is no decision. " +
			"Closing the connection withdraws the ask. Events of Codex are supported too; for other programs the " +
			"reply is 204.",
		who: forAgents, in: "AnyJSON", out: "AnyJSON", statuses: []int{200, 204, 409, 429},
		query: params{{
			Name: "defer", Example: "10s",
			Description: "How long a deferrable call waits; 0s is as long as the connection is open. 10s by default.",
		}, {
			Name: "subagents", Example: "60s",
			Description: "How long a call of a sub-agent at a terminal waits. Claude Code then shows its dialog. " +
				"0s is as long as the connection is open. 60s by default.",
		}},
		header: params{{
			Name: claudecode.EntrypointHeader,
			Description: "How Claude Code was started: the value of its variable " + claudecode.EntrypointVariable +
				". Calls of sdk-cli (claude -p) can be deferred.",
		}},
	},
}
