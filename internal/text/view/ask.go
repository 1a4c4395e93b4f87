// Package view turns asks, outcomes and grants into values that are safe to display. The web pages and the
// terminal draw these values only. Text from outside is a [safetext.Text], so code that displays an unsafe
// string does not compile. A plain string is always text of this program. The original strings of the agent
// stay unexported, because an answer must repeat the labels exactly as the agent sent them.
package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// An Ask is an [askback.Ask] for display.
type Ask struct {
	ID      safetext.Text
	Session safetext.Text // id of the session
	// SessionTitle is the subject of the session. It tells two runs of one agent apart.
	SessionTitle safetext.Text
	Agent        safetext.Text   // the agent's label for itself; it proves nothing
	Hosted       bool            // whether Askback runs the agent, and knows who started it
	Owner        safetext.Text   // the name of the agent's token, if it differs from Agent
	Path         []safetext.Text // the parents of a sub-agent
	To           []safetext.Text // people and groups who may answer; empty for everyone
	People       []safetext.Text // people who may answer, if they differ from To
	// Approvers are the people who alone decide the call. It is empty if no route requires that.
	Approvers []safetext.Text
	// Barred is the reason why the reader of the view may not answer, or "" if the reader may. [For] sets it.
	Barred    safetext.Text
	Votes     []Vote // the approvals so far, if several people must approve
	FollowUps []FollowUp
	// ReassignedBy is the person who reassigned the ask last, at ReassignedAt. It is empty if the ask was not
	// reassigned.
	ReassignedBy safetext.Text
	ReassignedAt time.Time // zero if not known
	// AskedAgainAt is the time at which the agent's program, started again, asked the same, or zero.
	AskedAgainAt time.Time
	Earlier      *Earlier // an earlier approval of the call, which [Of] does not set; see [FindEarlier]
	// StartedBy is the person who started the session. Unless the agent is hosted, the agent states the name.
	StartedBy safetext.Text

	NoSelfApproval bool // whether the person who started the session must not settle the ask

	Tags     []safetext.Text
	Title    safetext.Text
	Context  Markdown        // the background of the question, if the agent sent it as text
	Data     safetext.Text   // the background, if the agent sent it as an object
	Warnings []safetext.Text // notes about repairs of the agent's call, and about text that is not shown
	LeftOut  []safetext.Text // notes about people and groups in "to" who are not asked
	Claims   []Claim
	Held     []Held // answers that people can still undo
	Created  time.Time
	Deadline time.Time // zero if the ask has no deadline
	Hidden   bool      // whether the agent's text contains invisible characters
	// MayReassign is true if the reader of a page may give the ask to others. The page sets it.
	MayReassign bool
	Quick       bool // whether the ask can be answered from a list; see [Brief]
	// OnPage is the reason why an open ask is not Quick: what only its page shows. [Brief] sets it.
	OnPage     string
	OwnSession bool // whether the session ends with this ask, so that a grant for the session would cover nothing

	Questions    []Question
	Confirmation *Confirmation // set instead of questions
	Outcome      *Outcome      // nil while the ask is open
	AckedAt      time.Time     // time when the agent acknowledged the outcome; zero if it did not
	ConsumedAt   time.Time     // time when the agent used the approval; zero if it did not
	Run          *Session      // session of a settled ask, to write to its agent; [Of] leaves it nil
	Late         []LateAnswer  // answers that came too late; [Of] leaves it empty
	Deliveries   []Delivery    // deliveries about the ask, oldest first; [Of] leaves it empty

	sessionEnd string // end of the id of the session, if the origin names it; see [TellApart]
	onTimeout  askback.OnTimeout
	quorum     int
	agent      RawText   // label as the agent sent it
	tags       []RawText // tags as the agent sent them
}

// A Claim records that a person is looking at an ask.
type Claim struct {
	Name safetext.Text
	At   time.Time
}

// A Confirmation is a tool call that needs a person's approval (F7). Tool, Server and Arguments are the call.
// Description, Preview and Context are text of the agent about the call, and are shown separately.
type Confirmation struct {
	Tool          safetext.Text
	Server        safetext.Text
	Arguments     safetext.Text // formatted as JSON; see [FormatJSON]
	Lines         safetext.Text // the arguments for messages and terminals; see [ArgumentLines]
	Tree          *Value        // the arguments as a tree; nil if they are shown as text only
	ArgumentsLine safetext.Text // the beginning of the arguments in one line, for lists
	Changes       []TextChange  // the text that the call replaces, for tools that edit files
	Plan          *Plan         // the plan that is approved; nil for other calls
	Rest          *Value        // the arguments that Changes or Plan do not show; nil if there are neither
	Warnings      []Warning     // warnings about the arguments
	Dangerous     bool
	FreeText      bool // see [FreeText]
	NoEdit        bool // whether the arguments cannot be edited
	Digest        safetext.Text

	Description Markdown
	Preview     safetext.Text // shown exactly, unless PreviewMarkdown is set
	Context     Markdown

	PreviewMarkdown Markdown // the preview, if it is formatted; its blocks of code are shown exactly

	// SuggestYes is true if the agent suggests approval (C3). The terminal sets it from a flag of askback
	// confirm, and only displays the suggestion.
	SuggestYes bool

	// Own is true if the call is Askback's own confirm_action; see [actionOf]. Frontends then show Action and
	// Details in place of the tool and the arguments. Both are exact. Description and Context are empty, because
	// they repeat them.
	Own             bool
	Action, Details safetext.Text

	raw       json.RawMessage // the arguments as they were sent
	tool      string          // the tool of a plan, as it was sent
	lookalike bool            // whether the tool or its server has a name that looks like another name
}

// HasText reports whether the ask has more to show than the call: text or tags of the agent, or warnings.
func (a Ask) HasText() bool {
	c := a.Confirmation
	words := c.Preview.String() + a.Data.String() + a.Title.String()
	return words != "" ||
		len(c.Description)+len(c.Context)+len(a.Context)+len(a.Tags)+len(a.Warnings)+len(a.LeftOut) > 0
}

// PagePath returns the path of the ask's page.
func (a Ask) PagePath() string { return askback.PagePath(a.ID.String()) }

// From returns the agent's label, followed by the name of the agent's token if the name differs. It omits the
// token of the agents on this machine, because people know where these agents run.
func (a Ask) From() safetext.Text {
	if owner := a.Owner.String(); owner == "" || owner == askback.LocalAgent {
		return a.Agent
	}
	return safetext.Line(a.Agent.String() + " (token " + a.Owner.String() + ")")
}

// Of returns the view of an ask.
func Of(a askback.Ask) Ask {
	var c cleaner
	v := Ask{
		ID: c.line(a.ID), Session: c.line(a.SessionID), SessionTitle: c.line(a.SessionTitle),
		agent: RawText(a.Agent), Agent: c.name(a.Agent),
		Path: c.names(a.Path), To: c.names(a.To), Tags: c.lines(a.Tags), Title: c.line(c.visible(a.Title)),
		Created: a.CreatedAt, Deadline: a.Deadline, onTimeout: a.OnTimeout,
	}
	for _, t := range a.Tags {
		v.tags = append(v.tags, RawText(t))
	}
	v.OwnSession = number(a.ID) == number(a.SessionID)
	if v.Hosted = a.Owner == askback.HostedPrefix+a.Agent; a.Owner != a.Agent && !v.Hosted {
		v.Owner = c.name(a.Owner)
	}
	c.routing(&v, a)
	v.Context, v.Data = c.context(a.Context)
	v.Warnings, v.LeftOut = c.warnings(a.Warnings)
	for _, claim := range a.Claims {
		v.Claims = append(v.Claims, Claim{c.name(claim.Name), claim.At})
	}
	for _, h := range a.Held {
		v.Held = append(v.Held, c.held(a, h))
	}
	for _, q := range a.Questions {
		v.Questions = append(v.Questions, c.question(q))
	}
	if a.Confirmation != nil {
		v.Confirmation = c.confirmation(*a.Confirmation)
	}
	v.Hidden = c.hidden
	if c.stripped {
		v.Warnings = append(v.Warnings,
			safetext.Line("The text contained a <resume-context> block. It is meant for the agent and is not shown."))
	}
	if a.Outcome != nil {
		v.Outcome, v.AckedAt, v.ConsumedAt = outcome(*a.Outcome), a.AckedAt, a.ConsumedAt
		if v.Confirmation != nil && len(a.Outcome.Input) > 0 {
			v.Outcome.Changes = v.Confirmation.changesTo(a.Outcome.Input, v.Outcome.Arguments)
		}
	}
	return v
}

// number returns an id without its prefix, such as ask_. If an ask names no session, the id of its session
// has the same number.
func number(id string) string { return id[strings.IndexByte(id, '_')+1:] }

// cleaner makes text safe. It records whether any text had hidden characters, and whether it removed a resume
// context.
type cleaner struct{ hidden, stripped bool }

// note records whether s has hidden characters, and returns s.
func (c *cleaner) note(s string) string {
	c.hidden = c.hidden || safetext.Hidden(s)
	return s
}

func (c *cleaner) line(s string) safetext.Text { return safetext.Line(c.note(s)) }

func (c *cleaner) lines(list []string) []safetext.Text {
	var out []safetext.Text
	for _, s := range list {
		out = append(out, c.line(s))
	}
	return out
}

func (c *cleaner) block(s string) safetext.Text { return safetext.Block(c.note(s)) }

// name returns the name of an agent or a person, with a note if the name looks like another name.
func (c *cleaner) name(s string) safetext.Text { return safetext.Name(c.note(s)) }

func (c *cleaner) names(list []string) []safetext.Text {
	var out []safetext.Text
	for _, s := range list {
		out = append(out, c.name(s))
	}
	return out
}

// toolName returns the name of a tool or a server exactly, with a note if the name looks like another name.
func (c *cleaner) toolName(s string) safetext.Text { return safetext.CodeName(c.note(s)) }

func (c *cleaner) json(raw json.RawMessage) safetext.Text {
	t, hidden := FormatJSON(raw)
	c.hidden = c.hidden || hidden
	return t
}

// context returns text if raw is a JSON string, and otherwise formatted JSON. It returns nothing if raw is
// empty.
func (c *cleaner) context(raw json.RawMessage) (Markdown, safetext.Text) {
	var s string
	switch {
	case len(raw) == 0:
		return nil, safetext.Text{}
	case json.Unmarshal(raw, &s) == nil:
		return c.markdown(s), safetext.Text{}
	}
	return nil, c.json(raw)
}

func (c *cleaner) confirmation(of askback.Confirmation) *Confirmation {
	f := format(of.Input)
	c.hidden = c.hidden || f.hidden
	tree := treeOf(of.Input)
	var changes []TextChange
	if f.duplicates.count == 0 { // otherwise a program may read a value that differs from the displayed value
		changes = tree.textChanges()
	}
	action, details, own := actionOf(of, tree)
	if own {
		of.Description, of.Context = "", ""
	}
	call := &Confirmation{
		Tree: tree, Changes: changes, Rest: tree.withoutChanges(changes),
		Tool: c.toolName(of.ToolName), Server: c.toolName(of.Server), Arguments: f.text,
		ArgumentsLine: argumentsLine(of.Input), Warnings: f.warnings(), lookalike: hasLookalike(of),
		Dangerous: of.Dangerous,
		FreeText:  FreeText(of.ToolName), NoEdit: of.NoEdit, Digest: c.line(of.Digest),
		Description: c.markdown(of.Description), Preview: c.block(unfenced(of.InputPreview)),
		PreviewMarkdown: formattedPreview(of.InputPreview), Context: c.markdown(of.Context), raw: of.Input,
	}
	if call.Lines = f.text; tree != nil {
		call.Lines = tree.text()
	}
	if own {
		call.setAction(action, details)
	}
	c.setPlan(call, of)
	return call
}

// maxEditable is the limit in bytes for arguments that a person can edit.
const maxEditable = 100_000

// Editable returns the arguments as JSON for a person to edit, or "" if they are too
// long to edit. Invisible characters are escaped.
func (c *Confirmation) Editable() RawText {
	if len(c.raw) > maxEditable {
		return ""
	}
	return RawText(editable(c.raw))
}

// HowToTell returns the lines with the commands that write to the agent of a settled ask and cancel its turn.
// Without Run, or if a command would have no effect, the line is left out.
func (a Ask) HowToTell() (lines []string) {
	if a.Outcome == nil || a.Run == nil || a.Run.Ended {
		return nil
	}
	if a.Run.Reads {
		lines = append(lines, "To write to the agent: askback tell "+a.ID.String()+" TEXT")
	}
	if a.Run.MayEndTurn() {
		lines = append(lines, "To cancel its turn: askback tell --cancel-turn "+a.ID.String())
	}
	return lines
}
