package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// An Outcome describes how an ask ended (F4).
type Outcome struct {
	Sentence  safetext.Text // "answered by ana in the terminal"
	Answers   []Answer
	Comment   safetext.Text
	Reason    safetext.Text
	Arguments safetext.Text // the edited arguments as JSON; empty if the person edited no arguments
	Lines     safetext.Text // the edited arguments as by [ArgumentLines]
	Changes   []DiffLine    // changes of the person to the arguments
	Grant     safetext.Text // id of the standing approval that was made with the answer, or that gave the answer
	At        time.Time
	ByTimer   bool // whether the ask's own deadline passed without an answer
	Defaulted bool // whether the timer applied the defaults
	ByGrant   bool // whether a standing approval answered, not a person
	Approved  bool
}

// An Answer is the answer to one question.
type Answer struct {
	Question Markdown
	Values   []safetext.Text // labels, then the person's own text; empty if the question was skipped
	Notes    safetext.Text
}

func outcome(o askback.Outcome) *Outcome {
	var c cleaner
	v := &Outcome{
		Sentence: safetext.Line(sentence(o)), Comment: c.block(o.Comment), Reason: c.block(o.Reason),
		At: o.At, ByTimer: o.Actor.Kind == askback.ActorTimer && o.Status != askback.Cancelled, Defaulted: o.Defaulted,
		Approved: o.Approved(), Grant: c.line(o.GrantID), ByGrant: byGrant(o),
	}
	if len(o.Input) > 0 {
		v.Arguments, v.Lines = c.json(o.Input), ArgumentLines(o.Input)
	}
	for _, a := range o.Answers {
		answer := Answer{Question: c.markdown(a.Question), Notes: c.block(a.Notes)}
		for _, value := range a.Values() {
			answer.Values = append(answer.Values, c.block(value))
		}
		v.Answers = append(v.Answers, answer)
	}
	return v
}

// sentence describes how an ask ended, by whom, and through which channel. It never
// describes a timer as a person.
func sentence(o askback.Outcome) string {
	switch {
	case o.Actor.Kind == askback.ActorTimer && o.Defaulted:
		return "expired without an answer; the default answer was used"
	case o.Actor.Kind == askback.ActorTimer && o.Status == askback.Cancelled:
		return "cancelled when its session ended"
	case o.Unreached():
		return "expired: no message about it was delivered"
	case o.Actor.Kind == askback.ActorTimer:
		return "expired without an answer"
	case o.Actor.Kind == askback.ActorAgent && o.Status == askback.Cancelled:
		return "withdrawn by the agent"
	case byGrant(o):
		return "approved by the standing approval of " + o.Actor.Name + " (" + o.GrantID + ")"
	case len(o.Input) > 0:
		return "approved with other arguments by " + o.Actor.String() + " " + place(o.Channel)
	}
	return strings.TrimSpace(verb(o) + " by " + o.Actor.String() + " " + place(o.Channel))
}

// byGrant reports whether a grant approved the call, and not a person.
func byGrant(o askback.Outcome) bool {
	return o.Actor.Kind == askback.ActorPolicy && o.GrantID != "" && o.Approved()
}

// verb returns the verb for an outcome, such as "answered" or "denied".
func verb(o askback.Outcome) string {
	if o.Status != askback.Answered || o.Decision == "" {
		return string(o.Status)
	}
	switch {
	case o.Decision != askback.ApproveAll:
	case o.Waiting > 0:
		return "approved, also for " + Count(o.Waiting, "call") + " that waited and for later calls,"
	default:
		return "approved, also for later calls,"
	}
	return string(o.Decision)
}

var places = map[askback.Channel]string{
	askback.ChannelWeb:      "in the browser",
	askback.ChannelTerminal: "in the terminal",
	askback.ChannelSlack:    "in Slack",
	askback.ChannelTelegram: "in Telegram",
	askback.ChannelEmail:    "by e-mail",
	askback.ChannelPush:     "from a notification",
	askback.ChannelAPI:      "over the API",
	askback.ChannelHook:     "through a hook",
	askback.ChannelMCP:      "over MCP",
}

// place describes a channel, such as "in the browser". It returns "" for an outcome without
// a channel.
func place(via askback.Channel) string {
	if via == "" {
		return ""
	}
	return cmp.Or(places[via], "via "+string(via))
}

// Status describes the state of an ask, such as "waiting for an answer; ana is looking at it", or its
// outcome.
func (a Ask) Status() safetext.Text {
	if a.Outcome != nil {
		return a.Outcome.Sentence
	}
	s := "waiting for an answer"
	if a.Confirmation != nil {
		s = "waiting for approval"
	}
	if words := a.Approvals(); words != "" {
		s += "; " + words
	}
	if words := a.Watchers(); words != "" {
		s += "; " + words
	}
	return safetext.Line(s)
}

// Watchers names the people who have claimed the ask, as in "ana and ben are looking at it". It returns "" if
// no person has claimed the ask.
func (a Ask) Watchers() string {
	var names []string
	for _, c := range a.Claims {
		names = append(names, c.Name.String())
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is looking at it"
	}
	return enumerate(names) + " are looking at it"
}

// enumerate joins words as in "a, b and c".
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// TimeoutNotice describes the effect of the deadline (F5). It returns "" if the ask has no deadline or is
// settled. A nil zone is UTC.
func (a Ask) TimeoutNotice(zone *time.Location) string {
	if a.Deadline.IsZero() || a.Outcome != nil {
		return ""
	}
	start := "If no one answers by " + FormatTime(a.Deadline, zone) + ", "
	switch a.onTimeout {
	case askback.OnTimeoutFail:
		return start + "the ask expires, and the agent's session fails."
	case askback.OnTimeoutDefault:
		return start + "the default answers are used."
	case askback.OnTimeoutDecline:
		return start + "the agent continues without an answer."
	}
	return start + "it keeps waiting."
}

// FormatTime formats a time in a zone for people. A nil zone is UTC.
func FormatTime(t time.Time, zone *time.Location) string {
	t = in(t, zone)
	return t.Format("2 January 2006, 15:04 ") + ZoneName(t)
}

// ZoneName returns the name of a time's zone at that time: its abbreviation, such as CET, or its offset, such as
// UTC+05:45, if it has no abbreviation.
func ZoneName(t time.Time) string {
	name, _ := t.Zone()
	if name == "" || name[0] == '+' || name[0] == '-' {
		return t.Format("UTC-07:00")
	}
	return name
}
