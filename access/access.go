// Package access says who may do what: one table of actions, kinds and
// relations, and nothing else.
package access

import (
	"slices"

	"github.com/askback/askback"
)

// anyone is a rule's word for every relation.
var (
	anyone = []askback.Relation{askback.Own, askback.Addressed, askback.Bystander, askback.Starter}
	owner  = []askback.Relation{askback.Own}
	people = []askback.Relation{askback.Addressed}
)

// A rule lets one kind of principal do one action in some relations.
type rule struct {
	kind   askback.Kind
	action askback.Action
	in     []askback.Relation
}

// What is not in the table is not allowed. No rule lets an agent answer,
// decline or claim, and [Allowed] knows no other way.
var table = []rule{
	{askback.Agent, askback.ActAsk, anyone},
	{askback.Agent, askback.ActGet, owner},
	{askback.Agent, askback.ActList, owner},
	{askback.Agent, askback.ActCancel, owner},
	{askback.Agent, askback.ActConsume, owner},
	{askback.Agent, askback.ActReceive, owner},

	{askback.Agent, askback.ActStart, anyone},
	{askback.Agent, askback.ActFollow, owner},
	{askback.Agent, askback.ActReport, owner},
	{askback.Agent, askback.ActEnd, owner},
	{askback.Agent, askback.ActResume, owner},

	{askback.Responder, askback.ActGet, people},
	{askback.Responder, askback.ActList, people},
	{askback.Responder, askback.ActAnswer, people},
	{askback.Responder, askback.ActDecline, people},
	{askback.Responder, askback.ActClaim, people},
	{askback.Responder, askback.ActDraft, people},
	{askback.Responder, askback.ActFollow, people},
	{askback.Responder, askback.ActMessage, people},
	{askback.Responder, askback.ActEnd, people},
	{askback.Responder, askback.ActResume, people},
	{askback.Responder, askback.ActFeed, anyone},
	{askback.Responder, askback.ActPeople, anyone},
	{askback.Responder, askback.ActGrants, anyone},
	{askback.Responder, askback.ActRevoke, anyone}, // to approve less is anybody's right
	{askback.Responder, askback.ActLogin, owner},

	// An operator sees how the server is used, and never what is asked or answered.
	{askback.Operator, askback.ActSessions, anyone},
	{askback.Operator, askback.ActPeople, anyone},
	{askback.Operator, askback.ActGrants, anyone},
	{askback.Operator, askback.ActTokenList, anyone},
	{askback.Operator, askback.ActLogin, owner},

	{askback.Admin, askback.ActTokens, anyone},
	{askback.Admin, askback.ActYield, anyone},
}

// Allowed says whether a principal of this kind may do this action when it
// stands in this relation to what it acts on. An admin may do what a responder
// and an operator may.
func Allowed(kind askback.Kind, action askback.Action, relation askback.Relation) bool {
	return slices.ContainsFunc(table, func(r rule) bool {
		return speaksFor(r.kind, kind) && r.action == action && slices.Contains(r.in, relation)
	})
}

// speaksFor says whether a rule for one kind holds for another: an admin is
// also a responder and an operator, and never an agent.
func speaksFor(rule, kind askback.Kind) bool {
	return rule == kind || kind == askback.Admin && rule != askback.Agent
}

// Ever says whether a principal of this kind may do this action in some
// relation. If not, it is told that its kind may not; otherwise what it may not
// touch does not exist for it.
func Ever(kind askback.Kind, action askback.Action) bool {
	for _, relation := range askback.Relations {
		if Allowed(kind, action, relation) {
			return true
		}
	}
	return false
}
