package httpapi

import (
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/limits"
)

// askRoutes are the routes for asks and answers.
var askRoutes = []route{
	{
		method: "POST", path: base + "/asks", action: access.ActAsk, limit: maxBody, serve: (*call).ask,
		tag: "asks", summary: "Create an ask.",
		detail: "201 for a new ask; 200 for an existing ask with this key.",
		who:    forAgents, in: "AskRequest", out: "Ask", query: params{queryWait},
		header: params{headerKey, headerTrace}, statuses: []int{200, 201, 409, 429},
	},
	{
		method: "GET", path: base + "/asks", action: access.ActList, serve: (*call).list,
		tag: "asks", summary: "List asks.",
		who: forBoth, out: "AskPage", query: params{
			{Name: "status", Description: "pending by default; settled is every status but pending.", Values: []string{
				"pending", "answered", "declined", "cancelled", "expired", "settled", "all",
			}},
			queryAgent,
			{Name: "session_id", Description: "Only asks of this session."},
			{Name: "to", Description: "Only asks that are addressed to this person, or to everyone."},
			{Name: "unacked", Description: "Only settled asks whose agent has not acknowledged the outcome, newest " +
				"first. Then status is all by default.", Values: []string{"true", "false"}},
			{Name: "snoozed", Description: "If true, list only asks that you have snoozed; if false, only the other " +
				"asks. By default, list both, with the times in snoozes.", Values: []string{"true", "false"}},
			{Name: "q", Description: "With a status of settled asks: only asks that contain all these words, " +
				"anywhere. Otherwise: only asks whose title, questions, tool or label contain this text."},
			{Name: "tool", Description: "Only confirmations of this tool."},
			{Name: "tag", Description: "Only asks with this tag."},
			{Name: "by", Description: "Only asks that this person settled."},
			{
				Name: "decision", Description: "Only confirmations with this decision; approved includes approve_all.",
				Values: []string{"approved", "approve_all", "denied"},
			},
			{Name: "since", Description: "Only asks created at this time or later (RFC 3339). In a list of settled " +
				"asks, only asks settled at this time or later."},
			{Name: "until", Description: "Only asks created before this time (RFC 3339). In a list of settled asks, " +
				"only asks settled before this time."},
			{Name: "key", Description: "Only the ask that the caller made with this idempotency key, in any status. " +
				"No other filter is possible then."},
			queryCursor, queryLimit,
		},
	},
	{
		method: "GET", path: base + "/asks/{id}", action: access.ActGet, serve: (*call).get,
		tag: "asks", summary: "Get an ask.",
		detail: "With wait, the reply comes when the ask is settled, or after that time.",
		who:    forBoth, out: "Ask", query: params{queryWait}, statuses: []int{200, 429},
	},
	{
		method: "POST", path: base + "/asks/{id}/answer", action: access.ActAnswer, limit: maxBody,
		serve: (*call).answer, tag: "asks", summary: "Answer an ask.",
		detail: "The first answer counts. A later answer gets 409 with the outcome, unless the same person repeats " +
			"the same answer. 202 if the answer is held, and can be undone until its sends_at.",
		who: forPeople, in: "AnswerRequest", out: "Ask", statuses: []int{200, 202, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/decline", action: access.ActDecline, limit: maxBody,
		serve: (*call).decline, tag: "asks", summary: "Decline to answer.",
		detail: "202 if the refusal is held, and can be undone until its sends_at.",
		who:    forPeople, in: "DeclineRequest", optional: true, out: "Ask", statuses: []int{200, 202, 409},
	},
	{
		method: "DELETE", path: base + "/asks/{id}/held", action: access.ActAnswer, serve: (*call).undo,
		tag: "asks", summary: "Undo your held answer to an ask.",
		detail: "The ask stays pending. Without a held answer it changes nothing. 409 if this or another " +
			"answer was sent.",
		who: forPeople, out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/reassign", action: access.ActReassign, limit: maxBody,
		serve: (*call).reassign, tag: "asks", summary: "Reassign an ask to other people.",
		detail: "With delegate, they replace only you. An operator gets an ask without its content.",
		who:    forScreens, in: "ReassignRequest", out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/claim", action: access.ActClaim, limit: maxBody, serve: (*call).claim,
		tag: "asks", summary: "Claim an ask: show others that you are working on it.",
		detail: "A claim pauses the deadline for a while. Others can still answer.",
		who:    forPeople, in: "EmptyRequest", optional: true, out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/seen", action: access.ActSeen, limit: maxBody, serve: (*call).seen,
		tag: "asks", summary: "Record that you have an ask on your screen.",
		detail: "This sets seen_at of your deliveries of the ask, once. It changes nothing else, and nothing in a " +
			"settled ask.",
		who: forPeople, in: "EmptyRequest", optional: true, statuses: []int{204},
	},
	{
		method: "POST", path: base + "/asks/{id}/cancel", action: access.ActCancel, limit: maxBody,
		serve: (*call).cancel, tag: "asks", summary: "Withdraw an ask.",
		who: forAgents, in: "Reason", optional: true, out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/consume", action: access.ActConsume, limit: maxBody,
		serve: (*call).consume, tag: "asks", summary: "Consume an approval.",
		detail: "An approval can be consumed once. The agent does so right before it runs the tool.",
		who:    forAgents, in: "Digest", out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "POST", path: base + "/asks/{id}/ack", action: access.ActAck, limit: maxBody, serve: (*call).ack,
		tag: "asks", summary: "Acknowledge the outcome.",
		detail: "Until then the outcome counts as not delivered, and list_open_questions over MCP lists it. A " +
			"second ack changes nothing.",
		who: forAgents, in: "EmptyRequest", optional: true, out: "Ask", statuses: []int{200, 409},
	},
	{
		method: "GET", path: base + "/asks/{id}/draft", action: access.ActDraft, serve: (*call).draft,
		tag: "asks", summary: "Get your draft of an answer.",
		who: forPeople, out: "Draft",
	},
	{
		method: "PUT", path: base + "/asks/{id}/draft", action: access.ActDraft, limit: limits.MaxDraft,
		serve: (*call).saveDraft, tag: "asks", summary: "Save your draft of an answer.",
		detail: "It is deleted when the ask is settled.",
		who:    forPeople, in: "Draft", statuses: []int{204, 409},
	},
	{
		method: "GET", path: base + "/asks/{id}/snooze", action: access.ActSnooze, serve: (*call).snoozed,
		tag: "asks", summary: "Get your snooze of an ask.",
		detail: "Its until is null if you have not snoozed the ask.",
		who:    forPeople, out: "Snooze",
	},
	{
		method: "PUT", path: base + "/asks/{id}/snooze", action: access.ActSnooze, limit: maxBody,
		serve: (*call).snooze, tag: "asks", summary: "Snooze an ask: hide it from your own list until a time.",
		detail: "It does not stop the deadline, and others cannot see it. For a week after that time, your list " +
			"marks the ask.",
		who: forPeople, in: "SnoozeRequest", out: "Snooze", statuses: []int{200, 409},
	},
	{
		method: "DELETE", path: base + "/asks/{id}/snooze", action: access.ActSnooze, serve: (*call).unsnooze,
		tag: "asks", summary: "End your snooze of an ask.",
		who: forPeople, statuses: []int{204},
	},
}
