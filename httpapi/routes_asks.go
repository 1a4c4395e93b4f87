package httpapi

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/openapi"
)

// askRoutes are the routes for asks and answers.
var askRoutes = []route{
	{
		method: "POST", path: base + "/asks", action: askback.ActAsk, limit: maxBody, serve: (*call).ask,
		doc: openapi.Route{
			Tag: "asks", Summary: "Create an ask.",
			Detail: "201 for a new ask; 200 for an existing ask with this key.",
			Who:    forAgents, In: "AskRequest", Out: "Ask", Query: params{queryWait}, Header: params{headerKey}, Statuses: []int{200, 201, 409, 429},
		},
	},
	{
		method: "GET", path: base + "/asks", action: askback.ActList, serve: (*call).list,
		doc: openapi.Route{
			Tag: "asks", Summary: "List asks.",
			Who: forBoth, Out: "AskPage", Query: params{
				{Name: "status", Description: "pending by default.", Values: []string{"pending", "answered", "declined", "cancelled", "expired", "all"}},
				queryAgent,
				{Name: "session_id", Description: "Only those of this session."},
				{Name: "to", Description: "Only those addressed to this person, or to everyone."},
				{Name: "unacked", Description: "Only settled asks whose agent has not acknowledged the outcome, newest first. Then status is all by default.", Values: []string{"true", "false"}},
				{Name: "q", Description: "Only those whose title, questions, tool or label contain this text."},
				{Name: "key", Description: "Only the ask that the caller made with this idempotency key, in any status. No other filter is possible then."},
				queryCursor, queryLimit,
			},
		},
	},
	{
		method: "GET", path: base + "/asks/{id}", action: askback.ActGet, serve: (*call).get,
		doc: openapi.Route{
			Tag: "asks", Summary: "Get an ask.",
			Detail: "With wait, the reply comes when the ask is settled, or after that time.",
			Who:    forBoth, Out: "Ask", Query: params{queryWait}, Statuses: []int{200, 429},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/answer", action: askback.ActAnswer, limit: maxBody, serve: (*call).answer,
		doc: openapi.Route{
			Tag: "asks", Summary: "Answer an ask.",
			Detail: "The first answer counts. A later one gets 409 with the outcome, unless the same person repeats the same answer.",
			Who:    forPeople, In: "AnswerRequest", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/decline", action: askback.ActDecline, limit: maxBody, serve: (*call).decline,
		doc: openapi.Route{
			Tag: "asks", Summary: "Decline to answer.",
			Who: forPeople, In: "Reason", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/claim", action: askback.ActClaim, limit: maxBody, serve: (*call).claim,
		doc: openapi.Route{
			Tag: "asks", Summary: "Claim an ask: show others that you are working on it.",
			Detail: "A claim pauses the deadline for a while. Others can still answer.",
			Who:    forPeople, In: "EmptyRequest", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/cancel", action: askback.ActCancel, limit: maxBody, serve: (*call).cancel,
		doc: openapi.Route{
			Tag: "asks", Summary: "Withdraw an ask.",
			Who: forAgents, In: "Reason", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/consume", action: askback.ActConsume, limit: maxBody, serve: (*call).consume,
		doc: openapi.Route{
			Tag: "asks", Summary: "Consume an approval.",
			Detail: "An approval can be consumed once. The agent does so right before it runs the tool.",
			Who:    forAgents, In: "Digest", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/ack", action: askback.ActAck, limit: maxBody, serve: (*call).ack,
		doc: openapi.Route{
			Tag: "asks", Summary: "Acknowledge the outcome.",
			Detail: "Until then the outcome counts as not delivered, and list_open_questions over MCP lists it. A second ack changes nothing.",
			Who:    forAgents, In: "EmptyRequest", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: base + "/asks/{id}/draft", action: askback.ActDraft, serve: (*call).draft,
		doc: openapi.Route{
			Tag: "asks", Summary: "Get your draft of an answer.",
			Who: forPeople, Out: "Draft",
		},
	},
	{
		method: "PUT", path: base + "/asks/{id}/draft", action: askback.ActDraft, limit: askback.MaxDraft, serve: (*call).saveDraft,
		doc: openapi.Route{
			Tag: "asks", Summary: "Save your draft of an answer.",
			Detail: "It is deleted when the ask is settled.",
			Who:    forPeople, In: "Draft", Statuses: []int{204, 409},
		},
	},
}
