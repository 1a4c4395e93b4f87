package compat

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

// approvalRequest is a HITLRequest of LangChain: what its HumanInTheLoopMiddleware passes to
// interrupt(). It names calls, and what a person may decide about each.
type approvalRequest struct {
	camel  bool // sent by LangChain for JavaScript, which has other names
	action struct {
		name, about string
		args        json.RawMessage
	}
	allowed []string
}

// decisionList is a HITLResponse: one decision for each action.
type decisionList struct {
	Decisions []actionDecision `json:"decisions"`
}

// actionDecision is approve, edit or reject.
type actionDecision struct {
	Type    string        `json:"type"`
	Edited  *editedAction `json:"edited_action,omitempty"`
	Camel   *editedAction `json:"editedAction,omitempty"`
	Message string        `json:"message,omitempty"`
}

type editedAction struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// approvals reads a HITLRequest with one action. An ask has one confirmation, so the actions of
// a longer list are asked one by one.
func (r *lenientReader) approvals(raw []byte, n node) (Call, error) {
	var a approvalRequest
	_, a.camel = n.Get("actionRequests")
	requests, configs, name, allowed, schema := "action_requests", "review_configs", "action_name", "allowed_decisions", "args_schema"
	if a.camel {
		requests, configs, name, allowed, schema = "actionRequests", "reviewConfigs", "actionName", "allowedDecisions", "argsSchema"
	}
	rules := map[string][]string{}
	r.reader.fields(n, "", map[string]func(node){
		requests: func(n node) {
			r.single(n, func(n node) {
				r.reader.fields(n, "", map[string]func(node){
					"name": r.text(&a.action.name), "args": func(n node) { a.action.args = r.arguments(raw, n) }, "description": r.text(&a.action.about),
				})
			})
		},
		configs: func(n node) {
			r.elements(n, func(n node) {
				var action string
				var kinds []string
				r.reader.fields(n, "", map[string]func(node){
					name: r.text(&action), schema: func(node) {},
					allowed: func(n node) {
						r.elements(n, func(n node) {
							kinds = append(kinds, "")
							r.text(&kinds[len(kinds)-1])(n)
						})
					},
				})
				rules[action] = kinds
			})
		},
	})
	a.allowed = rules[a.action.name]
	if !a.may("approve") && !a.may("edit") {
		r.problem(n.pointer+"/"+configs, "a person could not approve this action", "allow approve or edit for it")
	}
	for _, m := range r.warnings {
		r.problem(m.Pointer, m.Detail, "an action that needs approval is never repaired")
	}
	if err := r.err(); err != nil {
		return Call{}, err
	}
	confirm := &askback.Confirmation{ToolName: a.action.name, Description: a.action.about, Input: a.action.args, NoEdit: !a.may("edit")}
	request, err := askback.Request{Confirmation: confirm}.Normalize()
	return Call{Request: request, reply: a.decision}, err
}

func (a approvalRequest) may(kind string) bool { return slices.Contains(a.allowed, kind) }

// decision returns the reply for a decision. A denial is "reject" also if the list does not
// allow it: then the agent fails, instead of running the call.
func (a approvalRequest) decision(_ []clientAnswer, ask askback.Ask) (any, error) {
	var d actionDecision
	switch o := ask.Outcome; {
	case o.Approved() && len(o.Input) > 0 && a.may("edit"):
		d = a.edit(o.Input)
	case o.Approved() && len(o.Input) > 0:
		return nil, &Unanswered{ask.Status, "A person approved other arguments, which this agent does not accept. This is not consent."}
	case o.Approved() && a.may("approve"):
		d.Type = "approve"
	case o.Approved():
		d = a.edit(a.action.args) // only edited actions are accepted
	case o.Status == askback.Answered:
		d = actionDecision{Type: "reject", Message: denialText(*o)}
	default:
		return nil, unanswered(ask)
	}
	return decisionList{[]actionDecision{d}}, nil
}

func (a approvalRequest) edit(args json.RawMessage) actionDecision {
	edited := &editedAction{a.action.name, args}
	if a.camel {
		return actionDecision{Type: "edit", Camel: edited}
	}
	return actionDecision{Type: "edit", Edited: edited}
}

// single reads a list of one element, and adds a problem for any other.
func (r *lenientReader) single(n node, read func(node)) {
	if e := n.Elements(); n.Kind == jcs.Array && len(e) != 1 {
		r.problem(n.pointer, "a person decides about one action at a time", "send a request for each action, with a key of its own")
		return
	}
	r.elements(n, read)
}
