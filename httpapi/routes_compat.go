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
			Tag: "dialects", Summary: "Answer what a session asks, by one text.",
			Who: forPeople, In: "TextAnswer", Out: "SessionReply", Statuses: []int{200, 409}, Own: map[int]string{404: "SessionReply", 409: "SessionReply"},
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
			Tag: "dialects", Summary: "Get what was settled since, as a text for a model.",
			Who: forBoth, OutType: openapi.Text,
		},
	},
	{
		method: "POST", path: "/conversations/{id}/respond", action: askback.ActAnswer, limit: maxBody, serve: (*call).respond,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer what a conversation asks, by the texts of its questions.",
			Detail: "What is wrong with an answer is a 400 here.",
			Who:    forPeople, In: "ConversationAnswer", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: "/agent/questions", action: askback.ActAnswer, serve: (*call).agentQuestions,
		doc: openapi.Route{
			Tag: "dialects", Summary: "List asks, one row each.",
			Who: forPeople, Out: "AgentQuestions", Query: params{
				{Name: "status", Description: "pending unless said.", Values: []string{"pending", "answered", "all"}},
			},
		},
	},
	{
		method: "POST", path: "/agent/answer/{id}", action: askback.ActAnswer, limit: maxBody, serve: (*call).agentAnswer,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer what a session asks, by one text.",
			Detail: "Who comes second is told so without an error.",
			Who:    forPeople, In: "TextAnswer", Out: "AgentReply", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: "/agent/session/{id}", action: askback.ActFollow, serve: (*call).agentSession,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Get a session in one row.",
			Who: forBoth, Out: "AgentSession",
		},
	},
	{
		method: "POST", path: "/conversations/{id}/cancel", action: askback.ActEnd, limit: maxBody, serve: (*call).endTurn,
		doc: openapi.Route{
			Tag: "dialects", Summary: "End the turn of a conversation.",
			Detail: "Its open asks are cancelled; a message begins the next turn.",
			Who:    forBoth, In: "Reason", Optional: true, Out: "Session", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/dialects/{name}/ask", action: askback.ActAsk, limit: maxBody, serve: (*call).dialectAsk,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Ask in the words of a client's own ask tool, and get its result.",
			Detail: "The names are claude, codex, crush, deepagents, flat, gemini, langgraph, opencode and vscode. 202 while nobody has answered; the same call " +
				"with the same key waits again. An approval is spent with the telling.",
			Who: forAgents, In: "Anything", Out: "Anything", Statuses: []int{200, 202, 409}, Query: params{queryWait}, Header: params{headerKey},
		},
	},
	{
		method: "POST", path: claudehook.Path, action: askback.ActAsk, limit: claudehook.MaxInput, serve: (*call).claudeHook,
		doc: openapi.Route{
			Tag: "dialects", Summary: "Answer a hook of Claude Code.",
			Detail: "The body is the event. It replies when a person has decided, however long that takes. 204, or {} if the reply had begun, is no decision. " +
				"Closing the connection withdraws the ask. Events of Codex are read too; to those of other programs the reply is 204.",
			Who: forAgents, In: "Anything", Out: "Anything", Statuses: []int{200, 204, 409, 429},
			Query: params{{
				Name: "defer", Example: "10s",
				Description: "How long a call waits that can be deferred; 0s is for as long as the connection lives. 10s unless said.",
			}},
			Header: params{{
				Name:        claudehook.EntrypointHeader,
				Description: "How Claude Code was started: its variable " + claudehook.EntrypointVariable + ". Of sdk-cli (claude -p) a call can be deferred.",
			}},
		},
	},
}
