// Package view is an ask as safe values: what every door draws.
//
// Each string that came from outside is a [safetext.Text] here, so a template or a
// terminal panel cannot draw one that was not made safe. Every plain string is a
// sentence of ours. The raw words of the agent stay inside, for one purpose: what a
// person picks becomes an answer in exactly those words.
package view

import (
	"encoding/json"
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
	Context  safetext.Text // what the agent wants known beside the question
	Code     bool          // Context is an object, drawn exactly
	Claims   []Claim
	Created  time.Time
	Deadline time.Time // zero: none
	Hidden   bool      // some text of the agent holds characters that cannot be seen

	Questions    []Question
	Confirmation *Confirmation // instead of questions
	Outcome      *Outcome      // nil while it waits

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
	Dangerous bool
	Digest    safetext.Text

	Description safetext.Text
	Preview     safetext.Text
	Context     safetext.Text

	// SuggestYes is the asker's highlight (C3). The door that knows of it sets it;
	// it approves nothing.
	SuggestYes bool
}

// Prose says whether the agent adds words of its own to a call.
func (a Ask) Prose() bool {
	c := a.Confirmation
	words := c.Description.String() + c.Preview.String() + c.Context.String() + a.Context.String() + a.Title.String()
	return words != "" || len(a.Tags) > 0
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
		Title: c.line(a.Title), Created: a.CreatedAt, Deadline: a.Deadline, onTimeout: a.OnTimeout,
	}
	if a.Owner != a.Agent {
		v.Owner = c.line(a.Owner)
	}
	v.Context, v.Code = c.context(a.Context)
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
	if a.Outcome != nil {
		v.Outcome = outcome(*a.Outcome)
	}
	return v
}

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
	words := title
	if words.String() == "" {
		words = c.Description
	}
	rows := safetext.Wrap(safetext.Line(words.String()), maxHeadline)
	switch {
	case words.String() == "":
		return safetext.Line("run " + tool + "?")
	case len(rows) > 1:
		return safetext.Line(tool + ": " + rows[0].String() + " …")
	}
	return safetext.Line(tool + ": " + words.String())
}

// cleaner makes text safe and remembers whether any of it hid something.
type cleaner struct{ hidden bool }

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
	t, hidden := Arguments(raw)
	c.hidden = c.hidden || hidden
	return t
}

// context is a JSON string, which is prose, or an object.
func (c *cleaner) context(raw json.RawMessage) (t safetext.Text, code bool) {
	var s string
	switch {
	case len(raw) == 0:
		return safetext.Text{}, false
	case json.Unmarshal(raw, &s) == nil:
		return c.block(s), false
	}
	return c.json(raw), true
}

func (c *cleaner) confirmation(of askback.Confirmation) *Confirmation {
	return &Confirmation{
		Tool: c.code(of.ToolName), Server: c.code(of.Server), Arguments: c.json(of.Input),
		Dangerous: of.Dangerous, Digest: c.line(of.Digest),
		Description: c.block(of.Description), Preview: c.block(of.InputPreview), Context: c.block(of.Context),
	}
}
