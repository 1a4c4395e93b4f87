package view

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
)

// An Outcome is how an ask ended, in words (F4).
type Outcome struct {
	Sentence  safetext.Text // "answered by ana in the terminal"
	Answers   []Answer
	Comment   safetext.Text
	Reason    safetext.Text
	Arguments safetext.Text // as a person edited them, beside those of the ask; nothing where they were not
	Grant     safetext.Text // the standing approval that was made, or that answered
	At        time.Time
	ByTimer     bool // a timer ended it, without an answer
	Defaulted bool // the timer applied the defaults
	ByGrant  bool // nobody was asked: a standing approval answered
	Approved  bool
}

// An Answer is what was said to one question.
type Answer struct {
	Question Markdown
	Values   []safetext.Text // labels, then words of one's own; none where it was skipped
	Notes    safetext.Text
}

func outcome(o askback.Outcome) *Outcome {
	var c cleaner
	v := &Outcome{
		Sentence: safetext.Line(sentence(o)), Comment: c.block(o.Comment), Reason: c.block(o.Reason),
		At: o.At, ByTimer: o.Actor.Kind == askback.ActorTimer, Defaulted: o.Defaulted, Approved: o.Approved(), Grant: c.line(o.GrantID), ByGrant: standing(o),
	}
	if len(o.Input) > 0 {
		v.Arguments = c.json(o.Input)
	}
	for _, a := range o.Answers {
		said := Answer{Question: c.prose(a.Question), Notes: c.block(a.Notes)}
		for _, value := range a.Values() {
			said.Values = append(said.Values, c.block(value))
		}
		v.Answers = append(v.Answers, said)
	}
	return v
}

// sentence says how it ended, by whom and where. A timer's ending is always said to be
// a timer's.
func sentence(o askback.Outcome) string {
	switch {
	case o.Actor.Kind == askback.ActorTimer && o.Defaulted:
		return "a timer applied the default: nobody answered"
	case o.Actor.Kind == askback.ActorTimer:
		return "a timer ended it: nobody answered"
	case o.Actor.Kind == askback.ActorAgent && o.Status == askback.Cancelled:
		return "withdrawn by the agent"
	case standing(o):
		return "approved by the standing approval of " + o.Actor.Name + " (" + o.GrantID + ")"
	case len(o.Input) > 0:
		return "approved with other arguments by " + o.Actor.String() + " " + place(o.Channel)
	}
	return strings.TrimSpace(verb(o) + " by " + o.Actor.String() + " " + place(o.Channel))
}

// standing says whether a grant answered, so that nobody takes it for a person.
func standing(o askback.Outcome) bool {
	return o.Actor.Kind == askback.ActorPolicy && o.GrantID != "" && o.Approved()
}

func verb(o askback.Outcome) string {
	if o.Status != askback.Answered || o.Decision == "" {
		return string(o.Status)
	}
	if o.Decision == askback.ApproveAll {
		return "approved, also for later calls,"
	}
	return string(o.Decision)
}

func place(via askback.Channel) string {
	switch via {
	case "":
		return ""
	case askback.ChannelWeb:
		return "in the browser"
	case askback.ChannelTerminal:
		return "in the terminal"
	case askback.ChannelSlack:
		return "in Slack"
	case askback.ChannelEmail:
		return "by e-mail"
	case askback.ChannelPush:
		return "from a notification"
	case askback.ChannelAPI:
		return "over the API"
	case askback.ChannelHook:
		return "through a hook"
	case askback.ChannelMCP:
		return "over MCP"
	}
	return "via " + string(via)
}

// Status says where the ask stands: "waiting for an answer; ana is looking at it", or
// how it ended.
func (a Ask) Status() safetext.Text {
	if a.Outcome != nil {
		return a.Outcome.Sentence
	}
	s := "waiting for an answer"
	if a.Confirmation != nil {
		s = "waiting for approval"
	}
	for i, c := range a.Claims {
		switch {
		case i == 0:
			s += "; "
		case i == len(a.Claims)-1:
			s += " and "
		default:
			s += ", "
		}
		s += c.Name.String()
	}
	switch len(a.Claims) {
	case 0:
	case 1:
		s += " is looking at it"
	default:
		s += " are looking at it"
	}
	return safetext.Line(s)
}

// TimeoutNotice says in a sentence what the end of the deadline means (F5), and "" where
// there is none or the ask is settled.
func (a Ask) TimeoutNotice(zone *time.Location) string {
	if a.Deadline.IsZero() || a.Outcome != nil {
		return ""
	}
	by := "If nobody answers by " + FormatTime(a.Deadline, zone) + ", "
	switch a.onTimeout {
	case askback.OnTimeoutFail:
		return by + "this expires and the session fails."
	case askback.OnTimeoutDefault:
		return by + "a timer applies the defaults."
	case askback.OnTimeoutDecline:
		return by + "the agent is told that nobody answered, and goes on."
	}
	return by + "it keeps waiting."
}

// FormatTime writes a time for people; nil is UTC.
func FormatTime(t time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2 January 2006, 15:04 MST")
}
