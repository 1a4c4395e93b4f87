package compat

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleLanggraph = `[{"action_request": {"action": "delete_file", "args": {"path": "/tmp/x"}}, "config": {"allow_accept": true, "allow_respond": true}}]`

// interrupt is a HumanInterrupt of LangGraph: an action that waits, and what a person may
// do with it.
type interrupt struct {
	action, about                 string
	args                          json.RawMessage
	ignore, respond, edit, accept bool
}

// interruptReply is a HumanResponse: accept, edit, ignore or response.
type interruptReply struct {
	Type string `json:"type"`
	Args any    `json:"args"`
}

// interruptAction is the action to run after a person edited its arguments.
type interruptAction struct {
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
}

// readLanggraph reads the value of interrupt(), alone or in a list of one. It is a HITLRequest
// of LangChain 1.0 or newer; a HumanInterrupt; a string, which is a question; or a question in the flat form.
func readLanggraph(c Client, raw []byte) (Input, error) {
	v, err := jcs.Parse(raw)
	if err != nil {
		return Input{}, err
	}
	r, n := &lenientReader{reader: &reader{}}, node{Value: v}
	if e := v.Elements(); v.Kind == jcs.Array && len(e) == 1 {
		n = node{e[0], "/0"}
	}
	_, acts := n.Get("action_request")
	_, asks := n.Get("question")
	_, list := n.Get("action_requests")
	_, camel := n.Get("actionRequests")
	switch {
	case (list || camel) && !acts && !asks:
		return r.approvals(raw, n)
	case n.Kind == jcs.String:
		return only(Call{questions: []clientQuestion{{Question: askback.Question{Text: n.Text()}}}, reply: answered(flatReply)}.finish(r))
	case asks && !acts:
		call, err := readFlat(c, n.Raw(raw))
		if m, ok := errors.AsType[*Mistake](err); ok {
			err = c.mistake(m.err) // with an example of this client
		}
		return only(call, err)
	case !acts:
		r.problem(n.pointer, "a person cannot answer this interrupt", "send an action_request, or a string")
		return Input{}, r.err()
	}
	return only(r.interrupt(raw, n))
}

func (r *lenientReader) interrupt(raw []byte, n node) (Call, error) {
	var i interrupt
	r.reader.fields(n, "", map[string]func(node){
		"action_request": func(n node) {
			r.reader.fields(n, "", map[string]func(node){"action": r.text(&i.action), "args": func(n node) { i.args = r.arguments(raw, n) }})
		},
		"config": func(n node) {
			r.reader.fields(n, "", map[string]func(node){
				"allow_ignore": r.flag(&i.ignore), "allow_respond": r.flag(&i.respond), "allow_edit": r.flag(&i.edit), "allow_accept": r.flag(&i.accept),
			})
		},
		"description": r.text(&i.about),
	})
	for _, m := range r.warnings {
		r.problem(m.Pointer, m.Detail, "an action that needs approval is never repaired")
	}
	if !i.accept && !i.respond {
		r.problem(n.pointer+"/config", "a person could neither accept nor respond", "allow one of them")
	}
	if err := r.err(); err != nil {
		return Call{}, err
	}
	return i.call()
}

// arguments returns the exact bytes that were sent, because a person approves these. It adds a
// problem if they are not an object, or have no canonical form.
func (r *lenientReader) arguments(raw []byte, n node) json.RawMessage {
	if !r.require(n, jcs.Object, "") {
		return nil
	}
	if _, err := n.Canonical(); err != nil {
		r.problem(n.pointer, err.Error(), "")
	}
	return n.Raw(raw)
}

// call returns a confirmation if the action can be accepted, and else a question.
func (i interrupt) call() (Call, error) {
	if !i.accept {
		q := askback.Question{Text: cmp.Or(i.about, i.action)}
		c := Call{questions: []clientQuestion{{Question: q}}, reply: i.response}
		c.Request.Context = i.args
		return c.finish(&lenientReader{reader: &reader{}})
	}
	r, err := askback.Request{Confirmation: &askback.Confirmation{ToolName: i.action, Description: i.about, Input: i.args}}.Normalize()
	return Call{Request: r, reply: i.decision}, err
}

func (i interrupt) response(all []clientAnswer, ask askback.Ask) (any, error) {
	switch err := answeredOnly(ask); {
	case err == nil:
		return []interruptReply{{"response", all[0].line()}}, nil
	case ask.Status == askback.Declined && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	default:
		return nil, err
	}
}

// decision returns the reply for a decision, as far as the interrupt allows it. Only an
// approval of the original arguments is "accept".
func (i interrupt) decision(_ []clientAnswer, ask askback.Ask) (any, error) {
	o := ask.Outcome
	switch {
	case o.Approved() && len(o.Input) == 0:
		return []interruptReply{{Type: "accept"}}, nil
	case o.Approved() && i.edit:
		return []interruptReply{{"edit", interruptAction{i.action, o.Input}}}, nil
	case o.Approved() && i.respond:
		return []interruptReply{{"response", "Not approved as sent. A person would approve these arguments: " + string(o.Input)}}, nil
	case o.Approved():
		return nil, &Unanswered{ask.Status, "A person approved other arguments, which this graph does not accept. This is not consent."}
	case o.Status == askback.Answered && i.respond:
		return []interruptReply{{"response", denialText(*o)}}, nil
	case (o.Status == askback.Answered || o.Status == askback.Declined) && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	case o.Status == askback.Answered:
		return nil, &Unanswered{ask.Status, denialText(*o)}
	}
	return nil, unanswered(ask)
}

// denialText returns the text of a denial. The reason alone could be mistaken for consent.
func denialText(o askback.Outcome) string {
	out := "Denied: do not do this."
	for _, text := range []string{o.Reason, o.Comment} {
		if text != "" {
			out += " A person wrote: " + quoted(text) + "."
		}
	}
	return out
}
