package compat

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/wire/jcs"
)

const exampleLanggraph = `[{"action_request": {"action": "delete_file", "args": {"path": "/tmp/x"}}, "config": {"allow_accept": true, "allow_respond": true}}]`

// An interrupt is a HumanInterrupt of LangGraph: an action that waits, and the replies that it allows a
// person.
type interrupt struct {
	action, about                 string
	args                          json.RawMessage
	ignore, respond, edit, accept bool
}

// An interruptReply is a HumanResponse: accept, edit, ignore or response.
type interruptReply struct {
	Type string `json:"type"`
	Args any    `json:"args"`
}

// An interruptAction is the action to run after a person edited its arguments.
type interruptAction struct {
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
}

// readLanggraph reads the value of interrupt(), alone or in a list of one. The value is a HITLRequest of
// LangChain 1.0 or newer, a HumanInterrupt, a string that is a question, or a question in the flat form.
func readLanggraph(c Client, raw []byte) (Input, error) {
	v, err := jcs.Parse(raw)
	if err != nil {
		return Input{}, err
	}
	r, n := &Reader{reader: &reader{}}, Node{Value: v}
	if e := v.Elements(); v.Kind == jcs.Array && len(e) == 1 {
		n = Node{e[0], "/0"}
	}
	_, acts := n.Get("action_request")
	_, asks := n.Get("question")
	_, list := n.Get("action_requests")
	_, camel := n.Get("actionRequests")
	switch {
	case (list || camel) && !acts && !asks:
		return r.approvals(raw, n)
	case n.Kind == jcs.String:
		return only(Call{
			questions: []ClientQuestion{{Question: askback.Question{Text: n.Text()}}}, reply: Answered(flatReply),
		}.finish(r))
	case asks && !acts:
		call, err := readFlat(c, n.Raw(raw))
		if m, ok := errors.AsType[*Mistake](err); ok {
			err = c.mistake(m.err) // makes the error again, with an example for this client
		}
		return only(call, err)
	case !acts:
		r.Problem(n.Pointer, "a person cannot answer this interrupt", "send an action_request, or a string")
		return Input{}, r.err()
	}
	return only(r.interrupt(raw, n))
}

func (r *Reader) interrupt(raw []byte, n Node) (Call, error) {
	var i interrupt
	r.reader.fields(n, "", map[string]func(Node){
		"action_request": func(n Node) {
			r.reader.fields(n, "", map[string]func(Node){"action": r.Text(&i.action), "args": func(n Node) {
				i.args = r.arguments(raw, n)
			}})
		},
		"config": func(n Node) {
			r.reader.fields(n, "", map[string]func(Node){
				"allow_ignore": r.Flag(&i.ignore), "allow_respond": r.Flag(&i.respond), "allow_edit": r.Flag(&i.edit),
				"allow_accept": r.Flag(&i.accept),
			})
		},
		"description": r.Text(&i.about),
	})
	for _, m := range r.warnings {
		r.Problem(m.Pointer, m.Detail, "an action that needs approval is never repaired")
	}
	if !i.accept && !i.respond {
		r.Problem(n.Pointer+"/config", "a person could neither accept nor respond", "allow one of them")
	}
	if err := r.err(); err != nil {
		return Call{}, err
	}
	return i.call()
}

// arguments returns the exact bytes of n in raw, because a person approves these bytes. It adds a problem if
// n is not an object, or has no canonical form.
func (r *Reader) arguments(raw []byte, n Node) json.RawMessage {
	if !r.require(n, jcs.Object, "") {
		return nil
	}
	if _, err := n.Canonical(); err != nil {
		r.Problem(n.Pointer, err.Error(), "")
	}
	return n.Raw(raw)
}

// call returns a confirmation if the action can be accepted, and otherwise a question.
func (i interrupt) call() (Call, error) {
	if !i.accept {
		q := askback.Question{Text: cmp.Or(i.about, i.action)}
		c := Call{questions: []ClientQuestion{{Question: q}}, reply: i.response}
		c.Request.Context = i.args
		return c.finish(&Reader{reader: &reader{}})
	}
	r, err := askback.Request{
		Confirmation: &askback.Confirmation{ToolName: i.action, Description: i.about, Input: i.args},
	}.Normalize()
	return Call{Request: r, reply: i.decision}, err
}

func (i interrupt) response(all []ClientAnswer, ask askback.Ask) (any, error) {
	switch err := AnsweredOnly(ask); {
	case err == nil:
		return []interruptReply{{"response", all[0].Line()}}, nil
	case ask.Status == askback.Declined && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	default:
		return nil, err
	}
}

// decision returns the reply for a decision. Only an approval of the original arguments is "accept". If the
// interrupt does not allow a reply for the decision, the error is an *[Unanswered].
func (i interrupt) decision(_ []ClientAnswer, ask askback.Ask) (any, error) {
	o := ask.Outcome
	switch {
	case o.Approved() && len(o.Input) == 0:
		return []interruptReply{{Type: "accept"}}, nil
	case o.Approved() && i.edit:
		return []interruptReply{{"edit", interruptAction{i.action, o.Input}}}, nil
	case o.Approved() && i.respond:
		return []interruptReply{
			{"response", outcometext.OtherArguments(ask)},
		}, nil
	case o.Approved():
		return nil, otherArguments(ask)
	case o.Status == askback.Answered && i.respond:
		return []interruptReply{{"response", outcometext.Denial(ask)}}, nil
	case (o.Status == askback.Answered || o.Status == askback.Declined) && i.ignore:
		return []interruptReply{{Type: "ignore"}}, nil
	case o.Status == askback.Answered:
		return nil, &Unanswered{ask.Status, outcometext.Denial(ask)}
	}
	return nil, unanswered(ask)
}
