package post

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// A message is what a template draws. It is whole, or short because the whole does not fit.
type message struct {
	tag      string // the same for all messages about one ask
	title    string // safe text
	lines    []line
	link     string // of the page where people answer; "" if the server has no public address
	buttons  []Button
	urgent   bool // dangerous
	quiet    bool // a notice that needs no one's attention
	settling bool // it replaces the message with the same tag, where the service can do that
}

// A line is Askback's own words, then one line of text of the agent or of a person. A
// template must not let the foreign text act as markup. A link has only an address.
type line struct {
	own     string
	foreign string // safe text
	link    string
}

// gutter precedes every line of a text of the agent, so that it cannot imitate Askback's own
// lines (T10).
const gutter = "│ "

func own(format string, args ...any) line { return line{own: fmt.Sprintf(format, args...)} }

// quote returns the lines of a foreign text.
func quote(indent, text string) (lines []line) {
	if text == "" {
		return nil
	}
	for l := range strings.SplitSeq(safetext.Block(text).String(), "\n") {
		lines = append(lines, line{own: indent + gutter, foreign: l})
	}
	return lines
}

// quoteExact returns the lines of a foreign text in which each character matters.
func quoteExact(text safetext.Text) (lines []line) {
	for l := range strings.SplitSeq(text.String(), "\n") {
		lines = append(lines, line{own: gutter, foreign: l})
	}
	return lines
}

// pending returns the message with the whole of an ask.
func pending(a askback.Ask, buttons []Button) message {
	v := view.Of(a)
	m := message{tag: a.ID, title: titleOf(v), link: a.PageURL, buttons: buttons, urgent: v.Confirmation != nil && v.Confirmation.Dangerous}
	m.lines = append(m.lines, fromLines(v)...)
	if v.Hidden {
		m.lines = append(m.lines, own("Warning: it contains invisible characters, which are shown as marks."))
	}
	if a.Title != "" {
		m.lines = append(m.lines, line{foreign: v.Title.String(), own: "Title: "})
	}
	m.lines = append(m.lines, contextLines(a)...)
	if v.Confirmation != nil {
		m.lines = append(m.lines, callLines(*a.Confirmation, v)...)
	}
	for i, q := range a.Questions {
		if len(a.Questions) > 1 {
			m.lines = append(m.lines, own("Question %d of %d", i+1, len(a.Questions)))
		}
		m.lines = append(m.lines, questionLines(q)...)
	}
	for _, w := range v.Warnings {
		m.lines = append(m.lines, line{own: "Repaired: ", foreign: w.String()})
	}
	if !a.Deadline.IsZero() {
		m.lines = append(m.lines, own("Until %s", a.Deadline.UTC().Format("2006-01-02 15:04 UTC")))
	}
	m.lines = append(m.lines, howToAnswer(m)...)
	return m
}

// titleOf returns a title. It has the label of the agent only if that is short.
func titleOf(v view.Ask) string {
	noun := "Question"
	switch {
	case v.Confirmation != nil && v.Confirmation.Dangerous:
		noun = "Dangerous: approval needed"
	case v.Confirmation != nil:
		noun = "Approval needed"
	case len(v.Questions) > 1:
		noun = fmt.Sprintf("%d questions", len(v.Questions))
	}
	if titled(v) {
		return noun + " from " + v.From().String()
	}
	return noun
}

// titled reports whether the title has the label of the agent.
func titled(v view.Ask) bool { return utf8.RuneCountInString(v.From().String()) <= maxTitleLabel }

// fromLines returns a line with the label of the agent if the title does not have it.
func fromLines(v view.Ask) []line {
	if titled(v) {
		return nil
	}
	return []line{{own: "From ", foreign: v.From().String()}}
}

// maxTitleLabel is the number of characters of the longest label of an agent that a title
// has. A title of ntfy has at most 200 bytes, and a phone shows about forty characters.
const maxTitleLabel = 40

// contextLines returns what a person should know first.
func contextLines(a askback.Ask) []line {
	var text string
	raw := bytes.TrimSpace(a.Context)
	switch {
	case len(raw) == 0 || string(raw) == "null" || string(raw) == "{}":
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return append([]line{own("Context:")}, quote("", text)...)
	}
	formatted, _ := view.FormatJSON(raw)
	return append([]line{own("Context:")}, quoteExact(formatted)...)
}

// callLines returns the call that needs an approval: first the call itself, then the words of
// the agent about it.
func callLines(c askback.Confirmation, v view.Ask) (lines []line) {
	call := v.Confirmation
	lines = append(lines, line{own: "Tool: ", foreign: call.Tool.String()})
	if c.Server != "" {
		lines = append(lines, line{own: "Server: ", foreign: call.Server.String()})
	}
	lines = append(lines, own("Arguments:"))
	lines = append(lines, quoteExact(call.Arguments)...)
	for _, w := range call.Warnings {
		lines = append(lines, line{own: "Warning: ", foreign: warning(w)})
	}
	for _, part := range []struct{ name, text string }{
		{"The agent's description:", c.Description}, {"The agent's preview:", c.InputPreview}, {"The agent's context:", c.Context},
	} {
		if part.text != "" {
			lines = append(lines, own("%s", part.name))
			lines = append(lines, quote("", part.text)...)
		}
	}
	return lines
}

// questionLines returns one question with everything that it offers.
func questionLines(q askback.Question) (lines []line) {
	if q.Header != "" {
		lines = append(lines, line{own: "Subject: ", foreign: safetext.Line(q.Header).String()})
	}
	lines = append(lines, quote("", q.Text)...)
	lines = append(lines, own("%s", instruction(q)))
	for i, o := range q.Options {
		lines = append(lines, line{own: fmt.Sprintf("%d. ", i+1), foreign: safetext.Line(o.Label).String()})
		lines = append(lines, quote("   ", o.Description)...)
		if o.Preview != "" {
			lines = append(lines, own("   Preview:"))
			lines = append(lines, quote("   ", o.Preview)...)
		}
	}
	for _, d := range q.Default {
		lines = append(lines, line{own: "Default: ", foreign: safetext.Line(d).String()})
	}
	return lines
}

// instruction returns how a question may be answered.
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
func howToAnswer(m message) []line {
	switch {
	case m.link != "" && len(m.buttons) > 0:
		return []line{{own: "Answer with a button, or here: ", link: m.link}}
	case m.link != "":
		return []line{{own: "Answer here: ", link: m.link}}
	case len(m.buttons) > 0:
		return []line{own("Answer with a button, or at the computer: askback inbox")}
	}
	return []line{own("Answer at the computer: askback inbox")}
}

// short returns the message for an ask whose whole does not fit: who asks, what it is called
// and the link, and no part of the question (F3). Without names it has no text of the agent.
func short(a askback.Ask, names bool) message {
	v := view.Of(a)
	m := message{tag: a.ID, title: "Question", link: a.PageURL, urgent: v.Confirmation != nil && v.Confirmation.Dangerous}
	if v.Confirmation != nil {
		m.title = "Approval needed"
	}
	if names {
		m.title = titleOf(v)
		m.lines = append(m.lines, fromLines(v)...)
		if a.Title != "" {
			m.lines = append(m.lines, line{own: "Title: ", foreign: v.Title.String()})
		}
		if c := v.Confirmation; c != nil {
			m.lines = append(m.lines, line{own: "Tool: ", foreign: c.Tool.String()})
		}
		for _, q := range a.Questions {
			if q.Header != "" {
				m.lines = append(m.lines, line{own: "Subject: ", foreign: safetext.Line(q.Header).String()})
			}
		}
	}
	m.lines = append(m.lines, own("The whole does not fit into this message."))
	m.lines = append(m.lines, howToAnswer(m)...)
	return m
}

// maxNoticeAnswer is the number of characters of the longest answer that a notice repeats.
const maxNoticeAnswer = 200

// settled returns the notice that an ask needs no answer any more. Without names it has no
// text of the agent or of a person. With buttons it mentions those of the earlier message.
func settled(a askback.Ask, names, buttons bool) message {
	v := view.Of(a)
	m := message{tag: a.ID, title: "No answer needed any more", quiet: true, settling: true, link: a.PageURL}
	if v.Outcome == nil {
		return m
	}
	if names {
		m.title = "Done: " + strings.TrimPrefix(titleOf(v), "Dangerous: ")
		m.lines = append(m.lines, fromLines(v)...)
		for _, q := range a.Questions {
			if text := safetext.Line(q.Text).String(); utf8.RuneCountInString(text) <= maxNoticeAnswer {
				m.lines = append(m.lines, line{own: gutter, foreign: text})
			}
		}
		if c := v.Confirmation; c != nil {
			m.lines = append(m.lines, line{own: "Tool: ", foreign: c.Tool.String()})
		}
		m.lines = append(m.lines, line{own: "It was ", foreign: v.Outcome.Sentence.String()})
		for _, answer := range a.Outcome.Answers {
			if text := safetext.Line(answer.String()).String(); text != "" && utf8.RuneCountInString(text) <= maxNoticeAnswer {
				m.lines = append(m.lines, line{own: "Answer: ", foreign: text})
			}
		}
	}
	if buttons {
		m.lines = append(m.lines, own("Buttons of earlier messages about it have no effect."))
	}
	if m.link != "" {
		m.lines = append(m.lines, line{own: "Details: ", link: m.link})
	}
	return m
}

// test returns the message of askback notify test.
func test() message {
	return message{tag: "askback-test", title: "Test from Askback", lines: []line{own("This receiver works. Questions of agents arrive like this.")}}
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
