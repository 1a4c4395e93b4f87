// Package view is an ask as safe values: what every door draws.
//
// Each string that came from outside is a [safetext.Text] here, so a template or a
// terminal panel cannot draw one that was not made safe. Every plain string is a
// sentence of ours. The raw words of the agent stay inside, for one purpose: what a
// person picks becomes an answer in exactly those words.
package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
)

// An Ask is an [askback.Ask] that can be drawn.
type Ask struct {
	ID       safetext.Text
	Agent    safetext.Text   // the label of who asks, never an identity
	Owner    safetext.Text   // the token that asks, where it is not named like the label
	Path     []safetext.Text // the parents of a sub-agent
	To       []safetext.Text // who may answer; nobody named is everybody
	Tags     []safetext.Text
	Title    safetext.Text
	Context  Markdown           // what the agent wants known beside the question, where it is words
	Data     safetext.Text   // and where it is an object, exactly
	Warnings []safetext.Text // where the agent's call was mended
	Claims   []Claim
	Created  time.Time
	Deadline time.Time // zero: none
	Hidden   bool      // some text of the agent holds characters that cannot be seen
	OwnSession    bool      // its session is its own and ends with it: a grant for that would cover nothing

	Questions    []Question
	Confirmation *Confirmation // instead of questions
	Outcome      *Outcome      // nil while it waits
	AckedAt     time.Time     // when the agent had the outcome; zero: it did not say

	onTimeout askback.OnTimeout
}

// A Claim says that a person is looking at an ask.
type Claim struct {
	Name safetext.Text
	At   time.Time
}

// A Confirmation is a tool call that waits for a person (F7). Tool, server and
// arguments are what will run. The rest is the agent's prose, drawn below and apart.
type Confirmation struct {
	Tool      safetext.Text
	Server    safetext.Text
	Arguments safetext.Text // exact, in the order they were sent
	ArgumentsLine      safetext.Text // the beginning of the arguments in one line, for lists
	Warnings  []Warning     // about the arguments
	Dangerous bool
	FreeText  bool // see [FreeText]: a wide standing approval of it has a warning
	NoEdit    bool // other arguments than these cannot be approved
	Digest    safetext.Text

	Description Markdown
	Preview     safetext.Text // exact as well
	Context     Markdown

	// SuggestYes is the asker's highlight (C3). The door that knows of it sets it;
	// it approves nothing.
	SuggestYes bool

	// Repeated reports that Description and Context are the arguments of confirm_action,
	// which askback confirm and the tool of that name make: they need not be shown twice.
	Repeated bool

	raw json.RawMessage // the arguments as they were sent
}

// HasText says whether the agent adds words of its own to a call.
func (a Ask) HasText() bool {
	c := a.Confirmation
	words := c.Preview.String() + a.Data.String() + a.Title.String()
	return words != "" || len(c.Description)+len(c.Context)+len(a.Context)+len(a.Tags)+len(a.Warnings) > 0
}

// AddsText reports whether the agent adds words that are not among the arguments.
func (a Ask) AddsText() bool {
	c := *a.Confirmation
	if c.Repeated {
		c.Description, c.Context = nil, nil
	}
	a.Confirmation = &c
	return a.HasText()
}

// From says in one line who asks: the label, and beside it the token where that is
// another.
func (a Ask) From() safetext.Text {
	if a.Owner.String() == "" {
		return a.Agent
	}
	return safetext.Line(a.Agent.String() + " (token " + a.Owner.String() + ")")
}

// Of makes an ask safe to draw.
func Of(a askback.Ask) Ask {
	var c cleaner
	v := Ask{
		ID: c.line(a.ID), Agent: c.line(a.Agent), Path: c.lines(a.Path), To: c.lines(a.To), Tags: c.lines(a.Tags),
		Title: c.line(c.visible(a.Title)), Created: a.CreatedAt, Deadline: a.Deadline, onTimeout: a.OnTimeout,
	}
	v.OwnSession = number(a.ID) == number(a.SessionID)
	if a.Owner != a.Agent {
		v.Owner = c.line(a.Owner)
	}
	v.Context, v.Data = c.context(a.Context)
	v.Warnings = c.repairs(a.Warnings)
	for _, claim := range a.Claims {
		v.Claims = append(v.Claims, Claim{c.line(claim.Name), claim.At})
	}
	for _, q := range a.Questions {
		v.Questions = append(v.Questions, c.question(q))
	}
	if a.Confirmation != nil {
		v.Confirmation = c.confirmation(*a.Confirmation)
	}
	v.Hidden = c.hidden
	if c.stripped {
		v.Warnings = append(v.Warnings, safetext.Line("A block <resume-context> in these words is for the agent and is not shown."))
	}
	if a.Outcome != nil {
		v.Outcome, v.AckedAt = outcome(*a.Outcome), a.AckedAt
	}
	return v
}

// number is an id without its prefix. An ask that names no session gives it its own.
func number(id string) string { return id[strings.IndexByte(id, '_')+1:] }

// Headline is the ask in one line, for lists: its title, its first question, or the
// tool it wants to run with what the agent says of it behind a colon.
func (a Ask) Headline() safetext.Text {
	switch {
	case a.Confirmation != nil:
		return a.Confirmation.headline(a.Title)
	case a.Title.String() != "":
		return a.Title
	case len(a.Questions) > 0:
		return safetext.Line(a.Questions[0].Text.String())
	}
	return a.ID
}

// maxHeadline is how many columns of what an agent says of a call stand in a list.
const maxHeadline = 100

// headline names the tool first: a title, or a description, is only what is said of it.
func (c *Confirmation) headline(title safetext.Text) safetext.Text {
	tool := safetext.Line(c.Tool.String()).String()
	words := title.String()
	if words == "" {
		words = c.Description.String()
	}
	rows := safetext.Wrap(safetext.Line(words), maxHeadline)
	switch {
	case words == "":
		return safetext.Line("Run " + tool + "?")
	case len(rows) > 1:
		return safetext.Line(tool + ": " + rows[0].String() + " …")
	}
	return safetext.Line(tool + ": " + words)
}

// cleaner makes text safe and remembers whether any of it hid something, and whether some
// of it was left out.
type cleaner struct{ hidden, stripped bool }

func (c *cleaner) line(s string) safetext.Text {
	c.hidden = c.hidden || safetext.Hidden(s)
	return safetext.Line(s)
}

func (c *cleaner) lines(list []string) []safetext.Text {
	var out []safetext.Text
	for _, s := range list {
		out = append(out, c.line(s))
	}
	return out
}

func (c *cleaner) block(s string) safetext.Text {
	c.hidden = c.hidden || safetext.Hidden(s)
	return safetext.Block(s)
}

// code is for what must be read exactly, the name of a tool for one.
func (c *cleaner) code(s string) safetext.Text {
	c.hidden = c.hidden || safetext.Hidden(s)
	return safetext.Code(s)
}

func (c *cleaner) json(raw json.RawMessage) safetext.Text {
	t, hidden := FormatJSON(raw)
	c.hidden = c.hidden || hidden
	return t
}

// context is a JSON string, which is words, or an object.
func (c *cleaner) context(raw json.RawMessage) (Markdown, safetext.Text) {
	var s string
	switch {
	case len(raw) == 0:
		return nil, safetext.Text{}
	case json.Unmarshal(raw, &s) == nil:
		return c.prose(s), safetext.Text{}
	}
	return nil, c.json(raw)
}

func (c *cleaner) confirmation(of askback.Confirmation) *Confirmation {
	d := draw(of.Input)
	c.hidden = c.hidden || d.hidden
	return &Confirmation{
		Repeated: repeated(of),
		Tool:     c.code(of.ToolName), Server: c.code(of.Server), Arguments: d.text, ArgumentsLine: oneLine(of.Input), Warnings: d.warnings(),
		Dangerous: of.Dangerous, FreeText: FreeText(of.ToolName), NoEdit: of.NoEdit, Digest: c.line(of.Digest),
		Description: c.prose(of.Description), Preview: c.block(unfenced(of.InputPreview)), Context: c.prose(of.Context), raw: of.Input,
	}
}

// confirmAction is the tool whose arguments are the words that are shown beside it.
const confirmAction = "confirm_action"

// repeated reports whether all that is said about a call is among its arguments.
func repeated(c askback.Confirmation) bool {
	var said struct{ Action, Details string }
	return c.ToolName == confirmAction && json.Unmarshal(c.Input, &said) == nil &&
		said.Action == c.Description && said.Details == c.Context
}

// maxEditable is how many bytes of arguments can be edited: as many as a person can read.
const maxEditable = 100_000

// Editable returns the arguments as JSON to be changed, and nothing where they are too
// long for that. What cannot be seen is an escape in it.
func (c *Confirmation) Editable() RawText {
	if len(c.raw) > maxEditable {
		return ""
	}
	return RawText(editable(c.raw))
}
