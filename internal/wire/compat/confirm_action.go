package compat

import (
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
)

// The types of the payload of an agent that calls interrupt() in LangGraph.
const (
	userQuestion  = "user_question"
	confirmAction = "confirm_action"
)

// yesNo are the options of a payload with the type confirm_action. The first option approves.
var yesNo = []string{"Yes, proceed", "No, cancel"}

// readTyped reads a payload {"type": "user_question" or "confirm_action", "question", …},
// alone or in a list of one. known is false for any other input.
func readTyped(raw []byte) (call Call, known bool, err error) {
	v, err := jcs.Parse(raw)
	if err != nil {
		return Call{}, false, nil // the next reader reports the mistake
	}
	n := Node{Value: v}
	if e := v.Elements(); v.Kind == jcs.Array && len(e) == 1 {
		n = Node{e[0], "/0"}
	}
	kind, typed := n.Get("type")
	_, asks := n.Get("question")
	switch {
	case !typed || !asks || kind.Kind != jcs.String:
		return Call{}, false, nil
	case kind.Text() == userQuestion:
		call, err = interruptQuestion(raw, n)
	case kind.Text() == confirmAction:
		call, err = interruptConfirmation(n)
	default:
		return Call{}, false, nil
	}
	return call, true, err
}

// interruptQuestion reads a user_question: a question in the flat form, and the type. Null
// members are ignored.
func interruptQuestion(raw []byte, n Node) (Call, error) {
	var flat []string
	for _, m := range n.Members() {
		if m.Name != "type" && m.Value.Kind != jcs.Null {
			flat = append(flat, Quoted(m.Name)+":"+string(m.Value.Raw(raw)))
		}
	}
	return readFlatQuestion([]byte("{" + strings.Join(flat, ",") + "}"))
}

// interruptConfirmation reads a confirm_action, whose action is the question. It repairs
// nothing, because a person approves these words. Fields without a meaning for a confirmation,
// such as the default, are ignored.
func interruptConfirmation(n Node) (Call, error) {
	r := &reader{}
	var question, header string
	var options, descriptions []string
	texts := func(into *[]string) func(Node) {
		return func(n Node) {
			if !r.require(n, jcs.Array, "") {
				return
			}
			for _, e := range n.Elements() {
				var s string
				if e.Kind != jcs.Null {
					r.Text(&s)(Node{e, n.Pointer})
				}
				*into = append(*into, s)
			}
		}
	}
	unused := func(Node) {}
	r.fields(n, "", map[string]func(Node){
		"type": unused, "question": r.Text(&question), "options": texts(&options), "descriptions": texts(&descriptions),
		"header": r.Text(&header), "multi_select": unused, "allow_custom": unused, "default": unused,
	})
	if options != nil && !slices.Equal(options, yesNo) {
		r.Problem(n.Pointer+"/options", "the options of a confirmation are always "+strings.Join(yesNo, " and "),
			"leave them out")
	}
	details := ""
	if len(descriptions) > 0 {
		details = descriptions[0]
	}
	if len(descriptions) > 1 && strings.TrimSpace(strings.Join(descriptions[1:], "")) != "" {
		r.Problem(n.Pointer+"/descriptions", "only the first option may have a description",
			"describe the action in the first description, and leave the others out")
	}
	if err := r.err(); err != nil {
		return Call{}, err
	}
	return newConfirmation(strings.TrimPrefix(question, "Confirm: "), details, func(yes bool) any {
		if yes {
			return yesNo[0]
		}
		return yesNo[1]
	})
}

// readFlatAction reads the flat form of confirm_action: {"action", "details", "default"}. The
// result of the call is true or false.
func readFlatAction(raw []byte) (Call, error) {
	a, err := decode.Confirm(raw)
	if err != nil {
		return Call{}, &Mistake{decode.Correction(raw, err, decode.ConfirmTool), err}
	}
	return newConfirmation(a.Action, a.Details, func(yes bool) any { return yes })
}

// newConfirmation returns a call that asks for approval of an action. reply returns the result of the call.
// yes is true only for an approval of the unchanged arguments. If no person decided, the result is an
// *[Unanswered] error.
func newConfirmation(action, details string, reply func(yes bool) any) (Call, error) {
	raw, _ := jcs.Marshal(struct { // texts can always be encoded
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{action, details})
	input, err := jcs.Canonical(raw)
	if err != nil {
		return Call{}, err
	}
	if strings.TrimSpace(action) == "" {
		return Call{}, askback.Invalid{
			{Pointer: "/question", Detail: "the action is missing", Fix: "write it in question"},
		}
	}
	r, err := askback.Request{Confirmation: &askback.Confirmation{
		ToolName: confirmAction, Description: action, Context: details, Input: input,
	}}.Normalize()
	return Call{Request: r, reply: func(_ []ClientAnswer, ask askback.Ask) (any, error) {
		if ask.Status != askback.Answered {
			return nil, unanswered(ask)
		}
		return reply(ask.Outcome.Approved() && len(ask.Outcome.Input) == 0), nil
	}}, err
}
