package compat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// An approvalRequest is one action of a HITLRequest of LangChain, with the decisions that a person may make
// about it. LangChain's HumanInTheLoopMiddleware passes the request to interrupt().
type approvalRequest struct {
	camel       bool // sent by LangChain for JavaScript, which has other names
	name, about string
	args        json.RawMessage
	allowed     []string
}

// A decisionList is a HITLResponse: one decision for each action.
type decisionList struct {
	Decisions []actionDecision `json:"decisions"`
}

// An actionDecision is approve, edit, reject or respond.
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

// hitlNames are the names of the fields of a HITLRequest.
type hitlNames struct{ requests, configs, action, allowed, schema string }

// approvals reads a HITLRequest. Each action is a confirmation of its own.
func (r *Reader) approvals(raw []byte, n Node) (Input, error) {
	_, camel := n.Get("actionRequests")
	names := hitlNames{"action_requests", "review_configs", "action_name", "allowed_decisions", "args_schema"}
	if camel {
		names = hitlNames{"actionRequests", "reviewConfigs", "actionName", "allowedDecisions", "argsSchema"}
	}
	var actions []approvalRequest
	rules := map[string][]string{}
	r.reader.fields(n, "", map[string]func(Node){
		names.requests: func(n Node) {
			if e := n.Elements(); n.Kind == jcs.Array && (len(e) == 0 || len(e) > MaxCalls) {
				r.Problem(n.Pointer, fmt.Sprintf("a request has 1 to %d actions", MaxCalls), "")
				return
			}
			r.elements(n, func(n Node) {
				a := approvalRequest{camel: camel}
				r.reader.fields(n, "", map[string]func(Node){
					"name": r.Text(&a.name), "args": func(n Node) { a.args = r.arguments(raw, n) },
					"description": r.Text(&a.about),
				})
				actions = append(actions, a)
			})
		},
		names.configs: func(n Node) { r.elements(n, func(n Node) { r.reviewConfig(n, names, rules) }) },
	})
	for i := range actions {
		a := &actions[i]
		if a.allowed = rules[a.name]; !a.may("approve") && !a.may("edit") && !a.may("respond") {
			r.Problem(n.Pointer+"/"+names.configs, "a person could neither approve this action nor respond to it",
				"allow approve, edit or respond for it")
		}
	}
	for _, m := range r.warnings {
		r.Problem(m.Pointer, m.Detail, "an action that needs approval is never repaired")
	}
	if err := r.err(); err != nil {
		return Input{}, err
	}
	return joinedActions(actions)
}

// reviewConfig reads the decisions that a person may make about the actions with one name.
func (r *Reader) reviewConfig(n Node, names hitlNames, rules map[string][]string) {
	var action string
	var kinds []string
	r.reader.fields(n, "", map[string]func(Node){
		names.action: r.Text(&action), names.schema: func(Node) {},
		names.allowed: func(n Node) {
			r.elements(n, func(n Node) {
				kinds = append(kinds, "")
				r.Text(&kinds[len(kinds)-1])(n)
			})
		},
	})
	rules[action] = kinds
}

// joinedActions returns the input with a confirmation or a question for each action. The result of the input has
// a decision for each action, in the order of the actions.
func joinedActions(actions []approvalRequest) (in Input, err error) {
	for _, a := range actions {
		if !a.may("approve") && !a.may("edit") {
			call, err := a.question()
			if err != nil {
				return Input{}, err
			}
			in.Calls = append(in.Calls, call)
			continue
		}
		confirm := &askback.Confirmation{ToolName: a.name, Description: a.about, Input: a.args, NoEdit: !a.may("edit")}
		request, err := askback.Request{Confirmation: confirm}.Normalize()
		if err != nil {
			return Input{}, err
		}
		in.Calls = append(in.Calls, Call{Request: request, reply: a.decision})
	}
	in.join = func(all []any) any {
		var d decisionList
		for _, one := range all {
			d.Decisions = append(d.Decisions, one.(actionDecision))
		}
		return d
	}
	return in, nil
}

// question returns the call for an action that a person can only respond to, such as a tool that asks the
// user. Arguments in the form of Askback's own tool are its questions. Otherwise the question is the
// description, and the arguments are its context.
func (a approvalRequest) question() (Call, error) {
	var c Call
	if r, err := decode.Questions(a.args); err == nil {
		c.Request = r
		for _, q := range r.Questions {
			c.questions = append(c.questions, ClientQuestion{Question: q})
		}
	} else {
		r, err := askback.Request{
			Questions: []askback.Question{{Text: cmp.Or(a.about, a.name)}}, Context: a.args,
		}.Normalize()
		if err != nil {
			return Call{}, err
		}
		c.Request, c.questions = r, []ClientQuestion{{Question: r.Questions[0]}}
	}
	c.reply = a.respond
	return c, nil
}

// respond returns the answer of a person as the result of the tool, which does not run. A question that a
// person declined is "reject" if the list allows it.
func (a approvalRequest) respond(all []ClientAnswer, ask askback.Ask) (any, error) {
	err := AnsweredOnly(ask)
	switch {
	case err != nil && ask.Status == askback.Declined && a.may("reject"):
		return actionDecision{Type: "reject", Message: err.Error()}, nil
	case err != nil:
		return nil, err
	case len(all) == 1:
		return actionDecision{Type: "respond", Message: all[0].Line()}, nil
	}
	var lines []string
	for _, s := range all {
		lines = append(lines, Quoted(s.ClientQuestion.Question.Text)+": "+s.Line())
	}
	return actionDecision{Type: "respond", Message: strings.Join(lines, "\n")}, nil
}

func (a approvalRequest) may(kind string) bool { return slices.Contains(a.allowed, kind) }

// decision returns the reply for a decision. A denial is "reject" or, if the list allows only that, "respond". It
// is "reject" even if the list allows neither: then the agent fails, instead of running the call. If no person
// decided, or a person approved arguments that the list does not allow, the error is an *[Unanswered].
func (a approvalRequest) decision(_ []ClientAnswer, ask askback.Ask) (any, error) {
	var d actionDecision
	switch o := ask.Outcome; {
	case o.Approved() && len(o.Input) > 0 && a.may("edit"):
		d = a.edit(o.Input)
	case o.Approved() && len(o.Input) > 0:
		return nil, otherArguments(ask)
	case o.Approved() && a.may("approve"):
		d.Type = "approve"
	case o.Approved():
		d = a.edit(a.args) // only edited actions are accepted
	case o.Status == askback.Answered && a.may("respond") && !a.may("reject"):
		d = actionDecision{Type: "respond", Message: outcometext.Denial(ask)}
	case o.Status == askback.Answered:
		d = actionDecision{Type: "reject", Message: outcometext.Denial(ask)}
	default:
		return nil, unanswered(ask)
	}
	return d, nil
}

func (a approvalRequest) edit(args json.RawMessage) actionDecision {
	edited := &editedAction{a.name, args}
	if a.camel {
		return actionDecision{Type: "edit", Camel: edited}
	}
	return actionDecision{Type: "edit", Edited: edited}
}
