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
			Tag: "asks", Summary: "Ask.",
			Detail: "201 with a new ask; 200 with the one that has this key.",
			Who:    forAgents, In: "AskRequest", Out: "Ask", Query: params{queryWait}, Header: params{headerKey}, Statuses: []int{200, 201, 409, 429},
		},
	},
	{
		method: "GET", path: base + "/asks", action: askback.ActList, serve: (*call).list,
		doc: openapi.Route{
			Tag: "asks", Summary: "List asks.",
			Who: forBoth, Out: "AskPage", Query: params{
				{Name: "status", Description: "pending unless said.", Values: []string{"pending", "answered", "declined", "cancelled", "expired", "all"}},
				queryAgent,
				{Name: "session_id", Description: "Only those of this session."},
				{Name: "to", Description: "Only those put to this person, or to everybody."},
				{Name: "unacked", Description: "Only what is settled and its agent did not say it has, newest first; then status is all unless said.", Values: []string{"true", "false"}},
				{Name: "q", Description: "Only those whose title, questions, tool or label contain this."},
				{Name: "key", Description: "Only the ask that the caller made with this idempotency key, in any status. No other filter is possible then."},
				queryCursor, queryLimit,
			},
		},
	},
	{
		method: "GET", path: base + "/asks/{id}", action: askback.ActGet, serve: (*call).get,
		doc: openapi.Route{
			Tag: "asks", Summary: "Get an ask.",
			Detail: "With wait it replies once the ask is settled, or with the ask as it is.",
			Who:    forBoth, Out: "Ask", Query: params{queryWait}, Statuses: []int{200, 429},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/answer", action: askback.ActAnswer, limit: maxBody, serve: (*call).answer,
		doc: openapi.Route{
			Tag: "asks", Summary: "Answer an ask.",
			Detail: "The first answer wins; who comes later learns who won and with what. The same person may repeat the same answer.",
			Who:    forPeople, In: "AnswerRequest", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/decline", action: askback.ActDecline, limit: maxBody, serve: (*call).decline,
		doc: openapi.Route{
			Tag: "asks", Summary: "Say that one will not answer.",
			Who: forPeople, In: "Reason", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/claim", action: askback.ActClaim, limit: maxBody, serve: (*call).claim,
		doc: openapi.Route{
			Tag: "asks", Summary: "Say that one is looking at it.",
			Detail: "This holds the deadline for a while, and keeps nobody else out.",
			Who:    forPeople, In: "Nothing", Optional: true, Out: "Ask", Statuses: []int{200, 409},
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
			Tag: "asks", Summary: "Spend an approval.",
			Detail: "Once, by the agent that runs the tool, right before it runs.",
			Who:    forAgents, In: "Digest", Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "POST", path: base + "/asks/{id}/ack", action: askback.ActAck, limit: maxBody, serve: (*call).ack,
		doc: openapi.Route{
			Tag: "asks", Summary: "Say that one has the outcome.",
			Detail: "Until then it is kept as not delivered, and MCP's list_open_questions names it. A second receipt changes nothing.",
			Who:    forAgents, In: "Nothing", Optional: true, Out: "Ask", Statuses: []int{200, 409},
		},
	},
	{
		method: "GET", path: base + "/asks/{id}/draft", action: askback.ActDraft, serve: (*call).draft,
		doc: openapi.Route{
			Tag: "asks", Summary: "Get what one typed so far.",
			Who: forPeople, Out: "Draft",
		},
	},
	{
		method: "PUT", path: base + "/asks/{id}/draft", action: askback.ActDraft, limit: askback.MaxDraft, serve: (*call).saveDraft,
		doc: openapi.Route{
			Tag: "asks", Summary: "Keep what one typed so far.",
			Detail: "It is gone when the ask settles.",
			Who:    forPeople, In: "Draft", Statuses: []int{204, 409},
		},
	},
}
