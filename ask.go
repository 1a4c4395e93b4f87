package askback

import (
	"encoding/json"
	"slices"
	"time"
)

// An Ask is one pause of a session: one to four questions, or one confirmation.
type Ask struct {
	ID           string
	SessionID    string
	Agent        string   // the label of who asks, for people; never an identity
	Owner        string   // the name of the token that asks: who it really is
	Path         []string // the parents of a sub-agent
	Kind         AskKind
	Title        string
	Questions    []Question    // of kind [Questions]
	Confirmation *Confirmation // of kind [Confirm]
	Context      json.RawMessage
	To           []string // who may answer; nobody named is everybody
	Quorum       int
	Tags         []string
	Claims       []Claim
	Status       Status
	CreatedAt    time.Time
	Deadline     time.Time // zero: none
	OnTimeout    OnTimeout
	PageURL      string
	Repairs      []Problem // where the call was mended, and what was left out (F15)
	Outcome      *Outcome  // set once the ask is settled, and never changed
	ReceivedAt   time.Time // when the agent had the outcome, as far as it said; zero: not yet

	// Repeated says that Ask found this ask by its key instead of making it.
	// It is not on the wire.
	Repeated bool
}

// addressed says whether the ask is put to this person, or to everybody.
func (a Ask) addressed(name string) bool { return len(a.To) == 0 || slices.Contains(a.To, name) }

// Settled says whether the ask has its outcome.
func (a Ask) Settled() bool { return a.Outcome != nil }

// Undelivered says whether the ask has an outcome that its agent does not have, as
// far as it said. What the agent itself withdrew is no news to it.
func (a Ask) Undelivered() bool {
	return a.Settled() && a.ReceivedAt.IsZero() && !a.Withdrawn()
}

// Withdrawn says whether the agent itself ended the ask.
func (a Ask) Withdrawn() bool { return a.Status == Cancelled && a.Outcome.By.Kind == ByAgent }

// An AskKind says what is asked for.
type AskKind string

// The kinds of ask.
const (
	Questions AskKind = "questions"
	Confirm   AskKind = "confirmation"
)

// A Status is where an ask stands.
type Status string

// An ask is pending until exactly one of the others happens.
const (
	Pending   Status = "pending"
	Answered  Status = "answered"
	Declined  Status = "declined"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"

	// AnyStatus selects all of them in a [Query]; no ask has it.
	AnyStatus Status = "all"
)

// An OnTimeout says what the end of the deadline means (F5).
type OnTimeout string

// What the end of a deadline can mean. None of them approves anything.
const (
	OnTimeoutWait    OnTimeout = "wait"    // nothing: the ask stays pending
	OnTimeoutFail    OnTimeout = "fail"    // expired; the session fails
	OnTimeoutDefault OnTimeout = "default" // expired, with the asker's defaults
	OnTimeoutDecline OnTimeout = "decline" // expired; the session goes on
)

// A Claim says that a person is looking at an ask.
type Claim struct {
	Name string
	At   time.Time
}

// How long claims hold a deadline: [ClaimHold] after the last one, and never
// longer than [MaxClaimHold] past it (wire.md §1).
const (
	ClaimHold    = 5 * time.Minute
	MaxClaimHold = 30 * time.Minute
)

// A Question is one thing the agent cannot decide alone.
type Question struct {
	ID          string // q1 … q4, given by Askback
	Text        string
	Header      string // a label of at most 12 characters; longer is cut
	MultiSelect bool
	Options     []Option // none: the answer is free text
	NoOther     bool     // only the options count; "allow_custom": false on the wire
	Optional    bool     // may stay unanswered; "required": false on the wire
	// Default is what Enter means in the terminal, and what the end of the
	// deadline means where the asker said so: labels, or text of its own.
	Default []string
}

// Option returns the option with this label.
func (q Question) Option(label string) (Option, bool) {
	for _, o := range q.Options {
		if o.Label == label {
			return o, true
		}
	}
	return Option{}, false
}

// An Option is one of the answers the agent can think of.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"` // what choosing it would look like
}

// Options returns options that have these labels and nothing else.
func Options(labels ...string) []Option {
	options := make([]Option, len(labels))
	for i, label := range labels {
		options[i] = Option{Label: label}
	}
	return options
}

// A Confirmation asks whether a tool may run with exactly these arguments (F7).
type Confirmation struct {
	ToolName     string
	Server       string // the MCP server of the tool, if any
	Description  string // the agent's own words
	Input        json.RawMessage
	InputPreview string
	Tier         string // "confirm"
	Dangerous    bool
	// NoEdit says that the arguments can be approved as they are or not at all:
	// the asker has no way to run others.
	NoEdit  bool
	Context string
	// Digest is sha256 over the canonical form (RFC 8785) of agent, server,
	// tool_name and input; Askback computes it.
	Digest string
}

// Clone returns an ask that shares nothing that can be changed with a.
func (a Ask) Clone() Ask {
	a.Path = slices.Clone(a.Path)
	a.Questions = slices.Clone(a.Questions)
	for i := range a.Questions {
		q := &a.Questions[i]
		q.Options, q.Default = slices.Clone(q.Options), slices.Clone(q.Default)
	}
	if a.Confirmation != nil {
		c := *a.Confirmation
		c.Input = slices.Clone(c.Input)
		a.Confirmation = &c
	}
	a.Context = slices.Clone(a.Context)
	a.To, a.Tags, a.Claims = slices.Clone(a.To), slices.Clone(a.Tags), slices.Clone(a.Claims)
	a.Repairs = slices.Clone(a.Repairs)
	if a.Outcome != nil {
		o := *a.Outcome
		o.Answers, o.Input = slices.Clone(o.Answers), slices.Clone(o.Input)
		for i := range o.Answers {
			o.Answers[i].Selected = slices.Clone(o.Answers[i].Selected)
		}
		a.Outcome = &o
	}
	return a
}
