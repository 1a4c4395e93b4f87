// Package access has the table of permissions. The kind of a principal and its relation to a record determine
// whether it may do an action on the record.
package access

import (
	"slices"

	"github.com/askback/askback"
)

// The sets of relations in the rules.
var (
	anyRelation = []Relation{Owner, Recipient, Unrelated, Starter, Viewer}
	owner       = []Relation{Owner}
	addressed   = []Relation{Recipient}
	// A person may read an ask without being a recipient in two cases. In the first case, the person started
	// the session and must not settle its asks. In the second case, a confirmation is addressed to the
	// person, but other people decide the confirmation.
	seen = []Relation{Recipient, Starter, Viewer}
)

// A rule allows one action to one kind of principal, in the given relations.
type rule struct {
	kind      askback.Kind
	action    Action
	relations []Relation
}

// table has every rule. An action without a rule is forbidden: for example, an agent
// may not answer, decline or claim an ask.
var table = []rule{
	{askback.Agent, ActAsk, anyRelation},
	{askback.Agent, ActGet, owner},
	{askback.Agent, ActList, owner},
	{askback.Agent, ActCancel, owner},
	{askback.Agent, ActConsume, owner},
	{askback.Agent, ActAck, owner},
	{askback.Agent, ActDeliveries, owner},

	{askback.Agent, ActEndpoints, owner},
	{askback.Agent, ActStart, anyRelation},
	{askback.Agent, ActRun, anyRelation},
	{askback.Agent, ActFollow, owner},
	{askback.Agent, ActReport, owner},
	{askback.Agent, ActEnd, owner},
	{askback.Agent, ActResume, owner},

	{askback.Responder, ActGet, seen},
	{askback.Responder, ActList, seen},
	{askback.Responder, ActAnswer, addressed},
	{askback.Responder, ActDecline, addressed},
	{askback.Responder, ActClaim, addressed},
	{askback.Responder, ActDraft, addressed},
	{askback.Responder, ActReassign, addressed},
	{askback.Responder, ActHandOver, addressed},
	{askback.Responder, ActSnooze, seen},
	{askback.Responder, ActSeen, seen},
	{askback.Responder, ActRun, anyRelation},
	{askback.Responder, ActFollow, addressed},
	{askback.Responder, ActMessage, addressed},
	{askback.Responder, ActEnd, addressed},
	{askback.Responder, ActResume, addressed},
	{askback.Responder, ActEvents, anyRelation},
	{askback.Responder, ActPeople, anyRelation},
	{askback.Responder, ActGrants, anyRelation},
	{askback.Responder, ActRevoke, anyRelation}, // any person may revoke a grant
	{askback.Responder, ActLogin, owner},
	{askback.Responder, ActContacts, owner},

	// An operator may read how the server is used, but not questions or answers.
	{askback.Operator, ActSessions, anyRelation},
	{askback.Operator, ActPeople, anyRelation},
	{askback.Operator, ActGrants, anyRelation},
	{askback.Operator, ActTokenList, anyRelation},
	{askback.Operator, ActDeliveries, anyRelation},
	{askback.Operator, ActRetry, anyRelation},
	{askback.Operator, ActEndpoints, anyRelation},
	{askback.Operator, ActReassign, anyRelation},
	{askback.Operator, ActMetrics, anyRelation},
	{askback.Operator, ActLogin, owner},

	{askback.Admin, ActTokens, anyRelation},
	{askback.Admin, ActContacts, anyRelation},
	{askback.Admin, ActDirectory, anyRelation},
	{askback.Admin, ActYield, anyRelation},
	{askback.Admin, ActHandOver, anyRelation}, // an operator may not reassign a confirmation
}

// Allowed reports whether a principal of this kind may do this action on a record
// to which it has this relation. An admin may do everything that a responder or an
// operator may do.
func Allowed(kind askback.Kind, action Action, relation Relation) bool {
	return slices.ContainsFunc(table, func(r rule) bool {
		return appliesTo(r.kind, kind) && r.action == action && slices.Contains(r.relations, relation)
	})
}

// appliesTo reports whether a rule for the kind rule applies to a principal of this kind. The rules for
// responders and operators also apply to admins. The rules for agents do not.
func appliesTo(rule, kind askback.Kind) bool {
	return rule == kind || kind == askback.Admin && rule != askback.Agent
}

// Ever reports whether a principal of this kind may do this action in at least one relation. If it returns
// false, the error for the action is [askback.ErrForbidden]. If it returns true, the error for a record on
// which the principal may not act is [askback.ErrNotFound]. This error does not reveal that the record
// exists.
func Ever(kind askback.Kind, action Action) bool {
	return slices.ContainsFunc(table, func(r rule) bool { return appliesTo(r.kind, kind) && r.action == action })
}
