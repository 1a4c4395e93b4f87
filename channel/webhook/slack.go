package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// Limits of Slack for a message with blocks. Lengths are in UTF-16 code units, which are never fewer than the
// characters that Slack counts. The limit for all blocks together is not documented. maxSlackTotal is below
// the observed limits.
const (
	maxSlackText   = 3000
	maxSlackHeader = 150
	maxSlackBlocks = 50
	maxSlackTotal  = 12_000
)

// isSlack reports whether address is the URL of an incoming webhook of Slack.
func isSlack(address string) bool {
	u, err := url.Parse(address)
	return err == nil && strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "hooks.slack.com")
}

// A slackMessage is the body of an incoming webhook of Slack. Text is for notifications. It is in Slack's
// markup, so foreign text is escaped. In blocks, foreign text is always in the form plain_text, which has no
// markup, no mentions and no links.
type slackMessage struct {
	Text   string       `json:"text"`
	Blocks []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitempty"`    // for plain_text: true if :name: becomes a picture
	Verbatim bool   `json:"verbatim,omitempty"` // for mrkdwn: true if names and addresses do not become links
}

func plainText(s string) slackText { return slackText{Type: "plain_text", Text: s, Emoji: new(bool)} }

var slackEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackBody returns the body of a delivery in the form of Slack. It has the whole ask, or only a link to the
// ask, because a part of a question could be answered wrongly.
func slackBody(d askback.Delivery, about askback.Ask) ([]byte, error) {
	var w slackWriter
	if d.Session != nil {
		w.session(d.Event, *d.Session)
	} else {
		w.ask(d.Event, about)
	}
	return encodeSlack(w.message(about.PageURL))
}

// encodeSlack returns a message as JSON without the escapes that [json.Marshal] adds for HTML.
func encodeSlack(m slackMessage) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return bytes.TrimSpace(b.Bytes()), err
}

// A slackWriter collects the parts of a message.
type slackWriter struct {
	event    string   // the event, in Askback's words
	headline string   // the event, with the names of the people who caused it
	title    string   // the question or the call, for a message with the whole ask; "" for the headline
	agent    string   // the label of the agent
	summary  string   // the text of the first question, or a title, for the notification
	sections []string // safe text
	action   string   // the action to take on the page
}

// message returns the message, with a link to page unless page is "". If the sections do not fit, a note
// replaces them.
func (w *slackWriter) message(page string) slackMessage {
	if length(slackEscaper.Replace(w.headline)) > maxSlackText {
		w.headline = w.event
	}
	header, sections := cmp.Or(w.title, w.headline), w.sections
	if !fits(w.blocks(header, sections)) { // a title would be an excerpt of the ask (F3)
		header, sections = w.headline, []string{"It is too long for this message."}
	}
	m := slackMessage{Text: slackEscaper.Replace(header), Blocks: w.blocks(header, sections)}
	if short := m.Text + ": " + slackEscaper.Replace(safetext.Line(w.summary).String()); w.summary != "" &&
		w.title == "" && length(short) <= maxSlackText {
		m.Text = short
	}
	link := slackText{
		Type: "mrkdwn", Text: "This server has no public address. Open Askback on its computer.", Verbatim: true,
	}
	if page != "" {
		page = slackEscaper.Replace(strings.ReplaceAll(page, "|", "%7C"))
		link.Text = "<" + page + "|" + w.action + ">"
		m.Text += "\n<" + page + ">"
	}
	m.Blocks = append(m.Blocks, slackBlock{"section", link})
	return m
}

// blocks returns a header and sections as blocks. A text that is too long for the header becomes the first
// section.
func (w *slackWriter) blocks(header string, sections []string) []slackBlock {
	if length(header) > maxSlackHeader {
		header, sections = w.event, append([]string{header}, sections...)
	}
	blocks := []slackBlock{{"header", plainText(header)}}
	for _, s := range sections {
		blocks = append(blocks, slackBlock{"section", plainText(s)})
	}
	return blocks
}

// fits reports whether Slack accepts these blocks and another block with a link.
func fits(blocks []slackBlock) bool {
	total := 0
	for _, b := range blocks {
		n := length(b.Text.Text)
		if n > maxSlackText {
			return false
		}
		total += n
	}
	return len(blocks) < maxSlackBlocks && total <= maxSlackTotal
}

// length returns the number of UTF-16 code units of s.
func length(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// add adds sections with safe text. It omits blank sections, which Slack rejects.
func (w *slackWriter) add(sections ...string) {
	for _, s := range sections {
		if strings.TrimSpace(s) != "" {
			w.sections = append(w.sections, s)
		}
	}
}

// addList adds lines in as few sections as possible.
func (w *slackWriter) addList(lines []string) {
	var section string
	for _, l := range lines {
		switch {
		case section == "":
			section = l
		case length(section)+1+length(l) > maxSlackText:
			w.add(section)
			section = l
		default:
			section += "\n" + l
		}
	}
	w.add(section)
}

func block(s string) string { return safetext.Block(s).String() }

// labeled returns foreign text after a label. If s is blank, it returns "".
func labeled(label, s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return label + ": " + indent(block(s))
}

// indent indents every line of s after the first line, so that no line can imitate the surrounding lines.
func indent(s string) string { return strings.ReplaceAll(s, "\n", "\n     ") }

// pretty returns JSON with line breaks as safe text. For null, an empty object and invalid JSON it returns
// "".
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil || b.String() == "{}" || b.String() == "null" {
		return ""
	}
	return safetext.Code(b.String()).String()
}

func (w *slackWriter) ask(event askback.EventType, a askback.Ask) {
	w.agent = safetext.Line(a.Agent).String()
	form := a.Form()
	if len(form) > 0 {
		w.summary = form[0].Text
	}
	if event.Settles() && a.Outcome != nil {
		w.add(labeled("Title", a.Title))
		w.outcome(a, *a.Outcome)
		return
	}
	w.title = notice.Heading(a).String()
	w.add(labeled("From", view.Of(a).Origin().String()))
	if a.Confirmation != nil {
		w.event, w.action = "Approval wanted", "Open the page to decide"
		w.headline = w.event + " by " + w.agent
		w.confirmation(*a.Confirmation)
	} else {
		w.event, w.action = "Question", "Open the page to answer"
		w.headline = w.event + " from " + w.agent
		for _, q := range form {
			w.question(q)
		}
	}
	w.add(contextOf(a.Context), labeled("Title", a.Title))
}

// contextOf returns the context of an ask as text. Without a context it returns "".
func contextOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return labeled("Context", s)
	}
	if s = pretty(raw); s != "" {
		s = "Context:\n" + s
	}
	return s
}

func (w *slackWriter) question(q askback.Question) {
	w.add(block(q.Text))
	var lines []string
	for i, o := range q.Options {
		l := fmt.Sprintf("%d. %s", i+1, safetext.Line(o.Label))
		if o.Description != "" {
			l += "\n     " + indent(block(o.Description))
		}
		if o.Preview != "" {
			l += "\n     Preview:\n     " + indent(safetext.Code(o.Preview).String())
		}
		lines = append(lines, l)
	}
	w.addList(lines)
	if q.MultiSelect {
		w.add("Several options may be chosen.")
	}
}

func (w *slackWriter) confirmation(c askback.Confirmation) {
	if c.Dangerous {
		w.add("This is marked as dangerous.")
	}
	if call := view.Of(askback.Ask{Confirmation: &c}).Confirmation; call.Own {
		w.add("Action: "+indent(call.Action.String()), labeled("Details", c.Context))
		return
	}
	w.add(block(c.Description), labeled("Tool", c.ToolName), labeled("Server", c.Server))
	w.arguments("Arguments:", c.Input)
	w.add(labeled("Preview", c.InputPreview), labeled("Context", c.Context))
}

// arguments adds arguments and their label, unless raw is empty.
func (w *slackWriter) arguments(label string, raw json.RawMessage) {
	if pretty(raw) != "" {
		w.add(label, "     "+indent(view.ArgumentLines(raw).String()))
	}
}

func (w *slackWriter) outcome(a askback.Ask, o askback.Outcome) {
	w.event = map[askback.Status]string{
		askback.Answered: "Answered", askback.Declined: "Declined", askback.Cancelled: "Cancelled",
		askback.Expired: "Expired",
	}[o.Status]
	if o.Decision != "" {
		w.event = "Denied"
		if o.Approved() {
			w.event = "Approved"
		}
	}
	w.headline, w.action = w.event, "Open the page"
	if o.Actor.Name != "" {
		w.headline += " by " + safetext.Line(o.Actor.Name).String()
	}
	w.headline += ", asked by " + w.agent
	for i, q := range a.Form() {
		w.add(block(q.Text))
		if i < len(o.Answers) {
			w.answer(o.Answers[i])
		}
	}
	if o.Defaulted {
		w.add("No one answered in time. The agent's default answer is used.")
	}
	w.arguments("Arguments as edited:", o.Input)
	w.add(labeled("Comment", o.Comment), labeled("Reason", o.Reason))
}

func (w *slackWriter) answer(q askback.QuestionAnswer) {
	var lines []string
	for _, s := range q.Selected {
		lines = append(lines, "Answer: "+safetext.Line(s).String())
	}
	for _, l := range []string{labeled("Answer", q.Other), labeled("Notes", q.Notes)} {
		if l != "" {
			lines = append(lines, l)
		}
	}
	w.addList(lines)
}

func (w *slackWriter) session(event askback.EventType, s askback.Session) {
	w.agent, w.summary, w.action = safetext.Line(s.Agent).String(), s.Title, "Open the page of the session"
	switch {
	case event == askback.EventSessionFailed:
		w.event = "Session failed"
	case event == askback.EventSessionCancelled:
		w.event = "Session cancelled"
	case s.Phase == "idle":
		w.event = "Turn ended"
	default:
		w.event = "Session completed"
	}
	w.headline = w.event + ": " + w.agent
	w.add(labeled("Title", s.Title), labeled("Error", s.Error))
	if r := pretty(s.Result); r != "" {
		w.add("Result:", r)
	}
}
