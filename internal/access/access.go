// Package access has the table of permissions. Whether a principal may do an action
// on a record depends on the kind of the principal and its relation to the record.
package access

import (
	"slices"

	"github.com/askback/askback"
)

// The sets of relations in the rules.
var (
	anyRelation = []askback.Relation{askback.Owner, askback.Recipient, askback.Unrelated, askback.Starter, askback.Viewer}
	owner       = []askback.Relation{askback.Owner}
	addressed   = []askback.Relation{askback.Recipient}
	// A person who must not settle the asks of a session that this person started sees them, and so
	// does one whom a confirmation is addressed to that others decide.
	seen = []askback.Relation{askback.Recipient, askback.Starter, askback.Viewer}
)

// A rule allows one action to one kind of principal, in the given relations.
type rule struct {
	kind      askback.Kind
	action    askback.Action
	relations []askback.Relation
}

// table has every rule. An action without a rule is forbidden: for example, an agent
// may not answer, decline or claim an ask.
var table = []rule{
	{askback.Agent, askback.ActAsk, anyRelation},
	{askback.Agent, askback.ActGet, owner},
	{askback.Agent, askback.ActList, owner},
	{askback.Agent, askback.ActCancel, owner},
	{askback.Agent, askback.ActConsume, owner},
	{askback.Agent, askback.ActAck, owner},
	{askback.Agent, askback.ActDeliveries, owner},

	{askback.Agent, askback.ActEndpoints, owner},
	{askback.Agent, askback.ActStart, anyRelation},
	{askback.Agent, askback.ActRun, anyRelation},
	{askback.Agent, askback.ActFollow, owner},
	{askback.Agent, askback.ActReport, owner},
	{askback.Agent, askback.ActEnd, owner},
	{askback.Agent, askback.ActResume, owner},

	{askback.Responder, askback.ActGet, seen},
	{askback.Responder, askback.ActList, seen},
	{askback.Responder, askback.ActAnswer, addressed},
	{askback.Responder, askback.ActDecline, addressed},
	{askback.Responder, askback.ActClaim, addressed},
	{askback.Responder, askback.ActDraft, addressed},
	{askback.Responder, askback.ActReassign, addressed},
	{askback.Responder, askback.ActHandOver, addressed},
	{askback.Responder, askback.ActSnooze, seen},
	{askback.Responder, askback.ActSeen, seen},
	{askback.Responder, askback.ActRun, anyRelation},
	{askback.Responder, askback.ActFollow, addressed},
	{askback.Responder, askback.ActMessage, addressed},
	{askback.Responder, askback.ActEnd, addressed},
	{askback.Responder, askback.ActResume, addressed},
	{askback.Responder, askback.ActEvents, anyRelation},
	{askback.Responder, askback.ActPeople, anyRelation},
	{askback.Responder, askback.ActGrants, anyRelation},
	{askback.Responder, askback.ActRevoke, anyRelation}, // any person may withdraw an approval
	{askback.Responder, askback.ActLogin, owner},
	{askback.Responder, askback.ActContacts, owner},

	// An operator may read how the server is used, but not questions or answers.
	{askback.Operator, askback.ActSessions, anyRelation},
	{askback.Operator, askback.ActPeople, anyRelation},
	{askback.Operator, askback.ActGrants, anyRelation},
	{askback.Operator, askback.ActTokenList, anyRelation},
	{askback.Operator, askback.ActDeliveries, anyRelation},
	{askback.Operator, askback.ActRetry, anyRelation},
	{askback.Operator, askback.ActEndpoints, anyRelation},
	{askback.Operator, askback.ActReassign, anyRelation},
	{askback.Operator, askback.ActMetrics, anyRelation},
	{askback.Operator, askback.ActLogin, owner},

	{askback.Admin, askback.ActTokens, anyRelation},
	{askback.Admin, askback.ActContacts, anyRelation},
	{askback.Admin, askback.ActDirectory, anyRelation},
	{askback.Admin, askback.ActYield, anyRelation},
	{askback.Admin, askback.ActHandOver, anyRelation}, // an operator gives no approval to others
}

// Allowed reports whether a principal of this kind may do this action on a record
// to which it has this relation. An admin may do everything that a responder or an
// operator may do.
func Allowed(kind askback.Kind, action askback.Action, relation askback.Relation) bool {
	return slices.ContainsFunc(table, func(r rule) bool {
		return appliesTo(r.kind, kind) && r.action == action && slices.Contains(r.relations, relation)
	})
}

// appliesTo reports whether the rules for one kind apply to principals of another. The
// rules for responders and operators apply to admins, too; those for agents do not.
func appliesTo(rule, kind askback.Kind) bool {
	return rule == kind || kind == askback.Admin && rule != askback.Agent
}

// Ever reports whether a principal of this kind may do this action in at least one
// relation. If not, the error for the action is [askback.ErrForbidden]. If so, the error
// for a record on which the principal may not act is [askback.ErrNotFound], which does
// not reveal that the record exists.
func Ever(kind askback.Kind, action askback.Action) bool {
	return slices.ContainsFunc(table, func(r rule) bool { return appliesTo(r.kind, kind) && r.action == action })
}
