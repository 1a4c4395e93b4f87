package compat

import (
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/jcs"
)

const exampleLanggraph = `[{"action_request": {"action": "delete_file", "args": {"path": "/tmp/x"}}, "config": {"allow_accept": true, "allow_respond": true}}]`

// interrupt is a HumanInterrupt of LangGraph: an action that waits, and what a
// person may do about it.
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

// interruptAction is what runs when a person edited the arguments.
type interruptAction struct {
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
}

// readLanggraph reads the value of interrupt(): a HumanInterrupt, alone or in a
// list; a text, which is a question; or one question in the flat form.
func readLanggraph(c Client, raw []byte) (Call, error) {
	v, err := jcs.Parse(raw)
	if err != nil {
		return Call{}, err
	}
	in, n := &input{body: &body{}}, node{Value: v}
	if e := v.Elements(); v.Kind == jcs.Array && len(e) == 1 {
		n = node{e[0], "/0"}
	}
	_, acts := n.Get("action_request")
	_, asks := n.Get("question")
	switch {
	case n.Kind == jcs.String:
		return Call{asked: []asked{{Question: askback.Question{Text: n.Text()}}}, reply: flatReply}.finish(in)
	case asks && !acts:
		call, err := readFlat(c, n.Raw(raw))
		if m, ok := errors.AsType[*Mistake](err); ok {
			err = c.mistake(m.err) // with an example that fits here
		}
		return call, err
	case !acts:
		in.wrong(n.at, "this is no interrupt that a person can answer", "send an action_request, or a text")
		return Call{}, in.err()
	}
	return in.interrupt(raw, n)
}

func (in *input) interrupt(raw []byte, n node) (Call, error) {
	var i interrupt
	in.body.fields(n, "", map[string]func(node){
		"action_request": func(n node) {
			in.body.fields(n, "", map[string]func(node){"action": in.text(&i.action), "args": func(n node) { i.args = in.arguments(raw, n) }})
		},
		"config": func(n node) {
			in.body.fields(n, "", map[string]func(node){
				"allow_ignore": in.flag(&i.ignore), "allow_respond": in.flag(&i.respond), "allow_edit": in.flag(&i.edit), "allow_accept": in.flag(&i.accept),
			})
		},
		"description": in.text(&i.about),
	})
	for _, m := range in.mended {
		in.wrong(m.Pointer, m.Detail, "an action that waits for consent is never mended")
	}
	if !i.accept && !i.respond {
		in.wrong(n.at+"/config", "a person could neither accept nor respond", "allow one of them")
	}
	if err := in.err(); err != nil {
		return Call{}, err
	}
	return i.call()
}

// arguments are the bytes that were sent: a person approves these and no others.
func (in *input) arguments(raw []byte, n node) json.RawMessage {
	if !in.is(n, jcs.Object, "") {
		return nil
	}
	if _, err := n.Canonical(); err != nil {
		in.wrong(n.at, err.Error(), "")
	}
	return n.Raw(raw)
}

// call makes a confirmation of an action that can be accepted, and a question of
// one that can only be responded to.
func (i interrupt) call() (Call, error) {
	if !i.accept {
		q := askback.Question{Text: i.about}
		if q.Text == "" {
			q.Text = i.action
		}
		c := Call{asked: []asked{{Question: q}}, reply: i.response}
		c.Request.Context = i.args
		return c.finish(&input{body: &body{}})
	}
	r, err := askback.Request{Confirmation: &askback.Confirmation{ToolName: i.action, Description: i.about, Input: i.args}}.Normalize()
	return Call{Request: r, reply: i.decision}, err
}

func (i interrupt) response(all []said, ask askback.Ask) (any, error) {
	switch err := answeredOnly(ask); {
	case err == nil:
		return []interruptReply{{"response", all[0].line()}}, nil
	case ask.Status == askback.Declined && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	default:
		return nil, err
	}
}

// decision says what a person decided, in what the graph allows. Nothing but an
// approval is ever accept, and edited arguments are never the ones that were
// asked about.
func (i interrupt) decision(_ []said, ask askback.Ask) (any, error) {
	o := ask.Outcome
	switch {
	case o.Approved() && len(o.Input) == 0:
		return []interruptReply{{Type: "accept"}}, nil
	case o.Approved() && i.edit:
		return []interruptReply{{"edit", interruptAction{i.action, o.Input}}}, nil
	case o.Approved() && i.respond:
		return []interruptReply{{"response", "Not approved as it is. A person would approve these arguments: " + string(o.Input)}}, nil
	case o.Approved():
		return nil, &Unanswered{ask.Status, "A person approved other arguments, which this graph does not take. This is not consent."}
	case o.Status == askback.Answered && i.respond:
		return []interruptReply{{"response", denied(*o)}}, nil
	case (o.Status == askback.Answered || o.Status == askback.Declined) && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	case o.Status == askback.Answered:
		return nil, &Unanswered{ask.Status, denied(*o)}
	}
	return nil, unanswered(ask)
}

// denied never leaves the reason alone: it could read like consent.
func denied(o askback.Outcome) string {
	out := "Denied: do not do this."
	for _, said := range []string{o.Reason, o.Comment} {
		if said != "" {
			out += " A person says: " + quoted(said) + "."
		}
	}
	return out
}
