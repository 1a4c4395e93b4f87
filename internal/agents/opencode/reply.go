package opencode

import (
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

// A Reply is the reply to a question, a permission or a tool call of OpenCode. Only the fields for that kind
// are set.
type Reply struct {
	// Answers are the answers to a question, in the format of POST /question/{id}/reply.
	Answers json.RawMessage `json:"answers,omitempty"`
	// Rejected is set if a person declined a question.
	Rejected bool `json:"rejected,omitempty"`

	// Permission is "once" or "reject". Askback never replies "always": its own grants
	// approve later calls.
	Permission string `json:"reply,omitempty"`
	// Message explains to the model why a permission was rejected.
	Message string `json:"message,omitempty"`

	// Decision is "approved" or "denied", for a call of the gate.
	Decision string `json:"decision,omitempty"`
	// Args are the arguments that a person wrote to replace the arguments of the call.
	Args json.RawMessage `json:"args,omitempty"`
	// Reason explains to the model why a call was denied.
	Reason string `json:"reason,omitempty"`
}

// IsApproval reports whether the reply allows a call.
func (r Reply) IsApproval() bool { return r.Permission == once || r.Decision == approved }

// The replies to a permission, and the decisions of the gate.
const (
	once     = "once"
	reject   = "reject"
	approved = "approved"
	denied   = "denied"
)

// decide returns the reply for the outcome of the ask of an event. It returns false if there is no reply:
// then the dialog of OpenCode decides. The caller must consume an approval first, as [hook.Runner.Run] does.
func (p preparedRequest) decide(ask askback.Ask) (r Reply, ok bool) {
	if !ask.Settled() {
		return Reply{}, false
	}
	if p.event == QuestionAsked {
		return p.answered(ask)
	}
	if !hook.IsAbout(*p.request.Confirmation, ask) {
		return Reply{}, false
	}
	text, _, _ := asktool.Result(ask)
	o := ask.Outcome
	if p.event == ToolCall {
		if o.Approved() {
			return Reply{Decision: approved, Args: o.Input}, true
		}
		return Reply{Decision: denied, Reason: text}, true
	}
	switch {
	case o.Approved() && len(o.Input) == 0:
		return Reply{Permission: once}, true
	case o.Approved() || o.Status == askback.Answered || o.Status == askback.Declined:
		return Reply{Permission: reject, Message: text}, true
	}
	return Reply{}, false
}

func (p preparedRequest) answered(ask askback.Ask) (Reply, bool) {
	raw, err := p.call.Result(ask)
	if _, ok := errors.AsType[*compat.Unanswered](err); ok && ask.Outcome.Status == askback.Declined {
		return Reply{Rejected: true}, true
	}
	var out struct {
		Answers [][]string `json:"answers"`
	}
	if err != nil || json.Unmarshal(raw, &out) != nil || len(out.Answers) != len(ask.Questions) {
		return Reply{}, false
	}
	answers, err := jcs.Marshal(out.Answers)
	return Reply{Answers: answers}, err == nil
}
