package compat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

// The types of a payload with which an agent of LangGraph interrupts itself.
const (
	userQuestion  = "user_question"
	confirmAction = "confirm_action"
)

// The options of a confirmation in that payload; the first approves.
var yesNo = []string{"Yes, proceed", "No, cancel"}

// readInterrupt reads a payload {"type": "user_question" or "confirm_action", "question",
// …}, alone or in a list of one. known is false for any other input.
func readInterrupt(raw []byte) (call Call, known bool, err error) {
	v, err := jcs.Parse(raw)
	if err != nil {
		return Call{}, false, nil // the next reader reports it
	}
	n := node{Value: v}
	if e := v.Elements(); v.Kind == jcs.Array && len(e) == 1 {
		n = node{e[0], "/0"}
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

// interruptQuestion is the flat form with a type. What is null was left out.
func interruptQuestion(raw []byte, n node) (Call, error) {
	var flat bytes.Buffer
	for _, m := range n.Members() {
		if m.Name == "type" || m.Value.Kind == jcs.Null {
			continue
		}
		name, err := marshal(m.Name)
		if err != nil {
			return Call{}, err
		}
		flat.WriteString("," + string(name) + ":")
		flat.Write(m.Value.Raw(raw))
	}
	return readFlatQuestion([]byte("{" + strings.TrimPrefix(flat.String(), ",") + "}"))
}

// interruptConfirmation is confirm_action, whose words stand in the question. Nothing of
// it is mended: a person approves it as it is. The default only suggests.
func interruptConfirmation(n node) (Call, error) {
	b := &body{}
	var question, header string
	var options, descriptions []string
	texts := func(into *[]string) func(node) {
		return func(n node) {
			if !b.is(n, jcs.Array, "") {
				return
			}
			for _, e := range n.Elements() {
				var s string
				if e.Kind != jcs.Null {
					b.text(&s)(node{e, n.at})
				}
				*into = append(*into, s)
			}
		}
	}
	unused := func(node) {}
	b.fields(n, "", map[string]func(node){
		"type": unused, "question": b.text(&question), "options": texts(&options), "descriptions": texts(&descriptions),
		"header": b.text(&header), "multi_select": unused, "allow_custom": unused, "default": unused,
	})
	if options != nil && !slices.Equal(options, yesNo) {
		b.wrong(n.at+"/options", "a confirmation has the options "+strings.Join(yesNo, " and "), "leave them out")
	}
	details := ""
	if len(descriptions) > 0 {
		details = descriptions[0]
	}
	if len(descriptions) > 1 && strings.TrimSpace(strings.Join(descriptions[1:], "")) != "" {
		b.wrong(n.at+"/descriptions", "only what is approved is described", "describe the first option")
	}
	if err := b.err(); err != nil {
		return Call{}, err
	}
	return confirming(strings.TrimPrefix(question, "Confirm: "), details, func(yes bool) any {
		if yes {
			return yesNo[0]
		}
		return yesNo[1]
	})
}

// readFlatAction reads the flat form of confirm_action: {"action", "details", "default"}.
// Its result is true or false.
func readFlatAction(raw []byte) (Call, error) {
	a, err := decode.Confirm(raw)
	if err != nil {
		return Call{}, &Mistake{decode.Correction(raw, err, decode.ConfirmTool), err}
	}
	return confirming(a.Action, a.Details, func(yes bool) any { return yes })
}

// confirming is a call that asks for a yes. Only an approval of exactly these words is one.
func confirming(action, details string, reply func(yes bool) any) (Call, error) {
	raw, err := json.Marshal(struct {
		Action  string `json:"action"`
		Details string `json:"details,omitempty"`
	}{action, details})
	if err != nil {
		return Call{}, err
	}
	input, err := jcs.Canonical(raw)
	if err != nil {
		return Call{}, err
	}
	if strings.TrimSpace(action) == "" {
		return Call{}, askback.Invalid{{Pointer: "/question", Detail: "what is about to be done?", Fix: "say what"}}
	}
	r, err := askback.Request{Confirmation: &askback.Confirmation{
		ToolName: confirmAction, Description: action, Context: details, Input: input,
	}}.Normalize()
	return Call{Request: r, reply: func(_ []said, ask askback.Ask) (any, error) {
		if ask.Status != askback.Answered {
			return nil, unanswered(ask)
		}
		return reply(ask.Outcome.Approved() && len(ask.Outcome.Input) == 0), nil
	}}, err
}
