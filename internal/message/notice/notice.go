// Package notice draws messages about asks: a title and lines. Askback's own words and the text of agents are
// separate, so that each channel can escape foreign text in its own way.
package notice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// A Message is the content of a message that a channel sends. It has the whole ask or, if the ask does not
// fit, a short form.
type Message struct {
	Tag      string // the same for all messages about one ask
	Title    Title
	Lines    []Line
	Footer   []Line // lines at the end: how to answer, or where the details are
	Link     string // address of the page where people answer; "" if the server has no public address
	Buttons  []Button
	Urgent   bool // dangerous
	Quiet    bool // a notice that needs no attention
	Settling bool // replaces the message with the same tag, if the service supports that
}

// A Line is one line of a message: Askback's own words, followed by text of the agent or of a person. A
// channel must not let the foreign text act as markup. If Link is set, the line is only that address.
type Line struct {
	Own     string
	Foreign string // safe text
	Link    string
	Exact   bool // whether the line is shown like source code, with all spaces and in a fixed width
}

// All returns the lines with the footer.
func (m Message) All() []Line { return slices.Concat(m.Lines, m.Footer) }

// Text returns all lines as text. It escapes foreign text with escape.
func (m Message) Text(escape func(string) string) string {
	var b strings.Builder
	for i, l := range m.All() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Own)
		b.WriteString(escape(l.Foreign))
		b.WriteString(l.Link)
	}
	return b.String()
}

// Plain is the escape function for services that show text unchanged.
func Plain(s string) string { return s }

// Gutter precedes every line of a text of the agent, so that the text cannot imitate Askback's own lines
// (T10).
const Gutter = "│ "

// Own returns a line of Askback's own words.
func Own(format string, args ...any) Line { return Line{Own: fmt.Sprintf(format, args...)} }

// quote returns the lines of a foreign text, each after indent and the gutter. For "" it returns nil.
func quote(indent, text string) (lines []Line) {
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(safetext.Block(text).String(), "\n") {
		lines = append(lines, Line{Own: indent + Gutter, Foreign: l})
	}
	return lines
}

// quoteExact returns the lines of a foreign text in which each character matters.
func quoteExact(text safetext.Text) (lines []Line) {
	for l := range strings.SplitSeq(text.String(), "\n") {
		lines = append(lines, Line{Own: Gutter, Foreign: l, Exact: true})
	}
	return lines
}

// exact marks lines as exact.
func exact(lines []Line) []Line {
	for i := range lines {
		lines[i].Exact = true
	}
	return lines
}

// InZone returns an ask with its deadline in the time zone of a person, for [Pending]. If zone is nil, this is UTC.
func InZone(a askback.Ask, person string, zone func(person string) *time.Location) askback.Ask {
	if zone != nil {
		a.Deadline = a.Deadline.In(zone(person))
	}
	return a
}

// Pending returns the message with the whole ask. What is asked comes first, and then how it is decided.
// The deadline is shown in the zone of a.Deadline.
func Pending(a askback.Ask, buttons []Button) Message {
	v := view.Of(a)
	m := Message{Tag: a.ID, Title: titleOf(v), Link: a.PageURL, Buttons: buttons, Urgent: v.Confirmation != nil &&
		v.Confirmation.Dangerous}
	m.Lines = append(append(m.Lines, fromLine(v)), othersWaiting(a)...)
	if v.Hidden {
		m.Lines = append(m.Lines, Own("Warning: it contains invisible characters, which are shown as marks."))
	}
	if v.Confirmation != nil {
		m.Lines = append(append(m.Lines, callLines(*a.Confirmation, v)...), contextLines(a)...)
	} else {
		m.Lines = append(m.Lines, contextLines(a)...)
	}
	for i, q := range a.Questions {
		if len(a.Questions) > 1 {
			m.Lines = append(m.Lines, Own("Question %d of %d", i+1, len(a.Questions)))
		}
		m.Lines = append(m.Lines, Question(q)...)
	}
	if a.Title != "" {
		m.Lines = append(m.Lines, Line{Own: "Title: ", Foreign: v.Title.String()})
	}
	m.Lines = append(m.Lines, processLines(a, v)...)
	m.Footer = howToAnswer(m)
	return m
}

// processLines returns the lines about an ask that do not change what is asked: the people who are not asked,
// the repairs, the people who decide, and the deadline.
func processLines(a askback.Ask, v view.Ask) (lines []Line) {
	for _, w := range v.LeftOut {
		lines = append(lines, Line{Own: "Not asked: ", Foreign: w.String()})
	}
	for _, w := range v.Warnings {
		lines = append(lines, Line{Own: "Repaired: ", Foreign: w.String()})
	}
	if a.Quorum > 1 {
		what := "this call"
		if v.Confirmation.Own {
			what = "this"
		}
		lines = append(lines, Own("%d people must approve %s; one can deny it", a.Quorum, what))
	}
	if len(a.Approvers) > 0 {
		lines = append(lines, Deciders("Approval: ", askback.NotApproverError{Who: a.Deciders()}))
	}
	if !a.Deadline.IsZero() {
		lines = append(lines, Own("Until %s", view.FormatTime(a.Deadline, a.Deadline.Location())))
	}
	return lines
}

// othersWaiting returns a line with the number of questions of the same agent that get no separate message.
// Without such questions it returns nil.
func othersWaiting(a askback.Ask) []Line {
	switch a.OthersWaiting {
	case 0:
		return nil
	case 1:
		return []Line{Own("One more question of this agent waits in the inbox, without a message.")}
	}
	return []Line{Own("%d more questions of this agent wait in the inbox, without a message.", a.OthersWaiting)}
}

// fromLine returns the line with the asker of an ask.
func fromLine(v view.Ask) Line { return Line{Own: "From ", Foreign: v.Origin().String()} }

// contextLines returns the lines with the context of the ask. Without a context it returns nil.
func contextLines(a askback.Ask) []Line {
	var text string
	raw := bytes.TrimSpace(a.Context)
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == "{}":
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return append([]Line{Own("Context:")}, quote("", text)...)
	}
	formatted, _ := view.FormatJSON(raw)
	return append([]Line{Own("Context:")}, quoteExact(formatted)...)
}

// callLines returns the call that needs an approval. The lines of the call come first, and the agent's
// description of the call follows.
func callLines(c askback.Confirmation, v view.Ask) (lines []Line) {
	call := v.Confirmation
	if call.Own {
		lines = append([]Line{Own("Action:")}, quoteExact(call.Action)...)
		if call.Details.String() != "" {
			lines = append(append(lines, Own("Details:")), quoteExact(call.Details)...)
		}
		return lines
	}
	lines = append(lines, Line{Own: "Tool: ", Foreign: call.Tool.String()})
	if c.Server != "" {
		lines = append(lines, Line{Own: "Server: ", Foreign: call.Server.String()})
	}
	switch {
	case call.Plan == nil:
		lines = append(append(lines, Own("Arguments:")), quoteExact(call.Lines)...)
	default:
		lines = append(append(lines, Own("Plan:")), quoteExact(call.Plan.Exact)...)
		if others := call.Plan.Others; others.String() != "" {
			lines = append(append(lines, Own("Other arguments:")), quoteExact(others)...)
		}
	}
	for _, w := range call.Warnings {
		lines = append(lines, Line{Own: "Warning: ", Foreign: warning(w)})
	}
	for _, part := range []struct {
		name  string
		lines []Line
	}{
		{"The agent's description:", quote("", c.Description)},
		{"The agent's preview:", exact(quote("", call.Preview.String()))},
		{"The agent's context:", quote("", c.Context)},
	} {
		if len(part.lines) > 0 {
			lines = append(append(lines, Own("%s", part.name)), part.lines...)
		}
	}
	return lines
}

// Question returns the lines of a question with its options and defaults.
func Question(q askback.Question) (lines []Line) {
	shown := view.Of(askback.Ask{Questions: []askback.Question{q}}).Questions[0]
	if q.Header != "" {
		lines = append(lines, Line{Own: "Subject: ", Foreign: safetext.Line(q.Header).String()})
	}
	lines = append(lines, quote("", q.Text)...)
	lines = append(lines, Own("%s", instruction(q)))
	for i, o := range q.Options {
		lines = append(lines, Line{Own: fmt.Sprintf("%d. ", i+1), Foreign: safetext.Line(o.Label).String()})
		lines = append(lines, quote("   ", o.Description)...)
		if o.Preview != "" {
			lines = append(lines, Own("   Preview:"))
			lines = append(lines, exact(quote("   ", shown.Choices[i].Preview.String()))...)
		}
	}
	for _, d := range q.Default {
		lines = append(lines, Line{Own: "Default: ", Foreign: safetext.Line(d).String()})
	}
	return lines
}

// instruction returns a line that explains how a question may be answered.
func instruction(q askback.Question) string {
	s := "Choose one"
	switch {
	case len(q.Options) == 0:
		s = "Write an answer"
	case q.MultiSelect:
		s = "Choose any number"
	}
	if len(q.Options) > 0 && !q.NoOther {
		s += ", or write your own answer"
	}
	if q.Optional {
		s += ", or leave it out"
	}
	return s + ":"
}

// howToAnswer returns the last lines of a message about an open ask.
func howToAnswer(m Message) []Line {
	switch {
	case m.Link != "" && len(m.Buttons) > 0:
		return []Line{{Own: "Answer with a button, or here: ", Link: m.Link}}
	case m.Link != "":
		return []Line{{Own: "Answer here: ", Link: m.Link}}
	case len(m.Buttons) > 0:
		return []Line{Own("Answer with a button, or at the computer: askback inbox")}
	}
	return []Line{Own("Answer at the computer: askback inbox")}
}

// Short returns the message for an ask that does not fit as a whole. The message has the agent, the title,
// the tool, the headers and the link, but not the question (F3). If names is false, the message has no text
// of the agent.
func Short(a askback.Ask, names bool) Message {
	v := view.Of(a)
	m := Message{
		Tag: a.ID, Title: Title{Own: "Question"}, Link: a.PageURL,
		Urgent: v.Confirmation != nil && v.Confirmation.Dangerous,
	}
	if v.Confirmation != nil {
		m.Title.Own = "Approval needed"
	}
	if names {
		m.Title = shortTitle(a, v)
		m.Lines = append(append(m.Lines, fromLine(v)), othersWaiting(a)...)
		if a.Title != "" {
			m.Lines = append(m.Lines, Line{Own: "Title: ", Foreign: v.Title.String()})
		}
		if c := v.Confirmation; c != nil && !c.Own {
			m.Lines = append(m.Lines, Line{Own: "Tool: ", Foreign: c.Tool.String()})
		}
		for _, q := range a.Questions {
			if q.Header != "" {
				m.Lines = append(m.Lines, Line{Own: "Subject: ", Foreign: safetext.Line(q.Header).String()})
			}
		}
	}
	if !names {
		m.Lines = append(m.Lines, othersWaiting(a)...)
	}
	m.Lines = append(m.Lines, Own("The whole text does not fit into this message."))
	m.Footer = howToAnswer(m)
	return m
}

// maxNoticeAnswer is the maximum number of characters of an answer that a notice repeats.
const maxNoticeAnswer = 200

// Settled returns the notice that an ask needs no answer any more. If names is false, the notice has no text
// of the agent or of a person. If buttons is true, the notice mentions the buttons of earlier messages.
// Answers and questions longer than maxNoticeAnswer are omitted.
func Settled(a askback.Ask, names, buttons bool) Message {
	v := view.Of(a)
	m := Message{
		Tag: a.ID, Title: Title{Own: "No answer needed any more"}, Quiet: true, Settling: true, Link: a.PageURL,
	}
	if v.Outcome == nil {
		return m
	}
	if names {
		m.Title = settledTitle(v)
		m.Lines = append(m.Lines, fromLine(v))
		for _, q := range a.Questions {
			if text := safetext.Line(q.Text).String(); utf8.RuneCountInString(text) <= maxNoticeAnswer {
				m.Lines = append(m.Lines, Line{Own: Gutter, Foreign: text})
			}
		}
		if c := v.Confirmation; c != nil && !c.Own {
			m.Lines = append(m.Lines, Line{Own: "Tool: ", Foreign: c.Tool.String()})
		}
		m.Lines = append(m.Lines, Line{Own: "It was ", Foreign: v.Outcome.Sentence.String()})
		for _, answer := range a.Outcome.Answers {
			if text := safetext.Line(answer.String()).String(); text != "" &&
				utf8.RuneCountInString(text) <= maxNoticeAnswer {
				m.Lines = append(m.Lines, Line{Own: "Answer: ", Foreign: text})
			}
		}
	}
	if buttons {
		m.Lines = append(m.Lines, Own("Buttons of earlier messages about it have no effect."))
	}
	if m.Link != "" {
		m.Footer = []Line{{Own: "Details: ", Link: m.Link}}
	}
	return m
}

// Reassigned returns the notice for people whose question was reassigned to other people. The notice contains
// nothing of the ask and no link, because these people may not open its page.
func Reassigned(a askback.Ask) Message {
	return Message{
		Tag: a.ID, Title: Title{Own: "No answer needed from you any more"}, Quiet: true, Settling: true,
		Lines: []Line{Own("The question was passed on to other people.")},
	}
}

// Late returns the outcome of a settled ask as a sentence for a person whose answer was late. Short answers
// follow the sentence.
func Late(a askback.Ask, person string) string {
	s := view.ConflictOf(*a.Outcome, person).Sentence.String()
	for _, answer := range a.Outcome.Answers {
		if text := safetext.Line(answer.String()).String(); text != "" &&
			utf8.RuneCountInString(text) <= maxNoticeAnswer {
			s += ": " + text
		}
	}
	return s
}

// TooLate returns the message for a person whose answer was late.
func TooLate(a askback.Ask, person string) Message {
	return Message{Tag: a.ID, Title: Title{Own: "Your answer was not needed any more"}, Settling: true, Lines: []Line{
		{Foreign: Late(a, person)},
	}}
}

// Counted returns the message for a person whose approval was recorded but settled nothing, because more
// people must approve.
func Counted(a askback.Ask) Message {
	return Message{
		Tag: a.ID, Title: Title{Own: "Your approval is recorded"}, Settling: true, Link: a.PageURL,
		Lines: []Line{Own("%s. You can still deny it on its page.", CountedText(a))},
	}
}

// CountedText returns the number of required and recorded approvals, as a sentence without a period.
func CountedText(a askback.Ask) string {
	return fmt.Sprintf("You approved this call. It needs %d approvals and has %d", a.Quorum, len(a.Votes))
}

// Ended returns the message for a person who may not answer the ask, or whose ask no longer exists.
func Ended(id string) Message {
	return Message{Tag: id, Title: Title{Own: "Your answer was not needed any more"}, Settling: true, Lines: []Line{
		Own("The question no longer exists, or you may no longer answer it."),
	}}
}

// NotApprover returns the message for a person whose decision was not recorded, because other people decide.
func NotApprover(id string, err askback.NotApproverError) Message {
	return Message{
		Tag: id, Title: Title{Own: "Your answer was not recorded"}, Settling: true,
		Lines: []Line{Deciders("Reason: ", err)},
	}
}

// Deciders returns a line with the words own, followed by the text of err, which names the people who may
// decide the call.
func Deciders(own string, err askback.NotApproverError) Line {
	return Line{Own: own, Foreign: safetext.Line(err.Error()).String()}
}

// Test returns the message that askback channel test sends.
func Test() Message {
	return Message{Tag: "askback-test", Title: Title{Own: "Test from Askback"}, Lines: []Line{
		Own("This receiver works. Questions of agents arrive like this."),
	}}
}

// warning returns a warning about arguments as one line.
func warning(w view.Warning) string {
	s := w.Sentence
	for i, n := range w.Names {
		if i == 0 {
			s += ": "
		} else {
			s += ", "
		}
		s += safetext.Line(n.String()).String()
	}
	return s
}
