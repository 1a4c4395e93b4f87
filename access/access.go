// Package access says who may do what: one table of actions, kinds and
// relations, and nothing else.
package access

import "github.com/askback/askback"

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

	{askback.Responder, askback.ActGet, people},
	{askback.Responder, askback.ActList, people},
	{askback.Responder, askback.ActAnswer, people},
	{askback.Responder, askback.ActDecline, people},
	{askback.Responder, askback.ActClaim, people},
}

// Allowed says whether a principal of this kind may do this action when it
// stands in this relation to what it acts on. An admin may do what a responder
// and an operator may.
func Allowed(kind askback.Kind, action askback.Action, relation askback.Relation) bool {
	if kind == askback.Admin {
		return Allowed(askback.Responder, action, relation) || Allowed(askback.Operator, action, relation)
	}
	for _, r := range table {
		if r.kind != kind || r.action != action {
			continue
		}
		for _, in := range r.in {
			if in == relation {
				return true
			}
		}
	}
	return false
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
