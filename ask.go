package askback

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"
)

// An Ask is a request to people: one to four questions, or one confirmation. It belongs to a session of an
// agent.
type Ask struct {
	// the id of the ask; other bodies call it question_id
	ID        string `api:"id" store:"id,keep,follows"`
	SessionID string `api:"session_id" store:"session,keep,follows"` // the id of its session
	// SessionTitle is the subject of the session when the ask was made: its title or, for a hosted agent without
	// one, the beginning of its prompt or payload. It tells two runs of one agent apart.
	SessionTitle string `api:"session_title,omitempty" store:"about"`
	// the label that people read; the agent chooses it, so it is not an identity
	Agent string `api:"agent" store:"agent,keep,follows"`
	// the name of the agent's token, which is its identity
	Owner        string        `api:"owner" store:"-"`
	Path         []string      `api:"path" store:"path"`              // the parents of a sub-agent
	Kind         AskKind       `api:"kind" store:"kind,keep,follows"` // questions or a confirmation
	Title        string        `api:"title,null" store:"title"`
	Questions    []Question    `api:"questions" store:"questions"`       // if Kind is [Questions]
	Confirmation *Confirmation `api:"confirmation" store:"confirmation"` // if Kind is [Confirm]
	// Context is what a person should know first, as a JSON string or object.
	Context json.RawMessage `api:"context,object" store:"context"`
	// the people and groups that were named, by the asker or by a route; empty: every person
	To []string `api:"to" store:"to,moving"`
	// the people who may answer; if it is empty, To lists them
	Recipients []string `api:"recipients,omitempty" store:"recipients,moving"`
	// Approvers lists the people who may decide a confirmation, if routes name approvers. If it is empty,
	// every recipient may decide.
	Approvers []string `api:"approvers,omitempty" store:"approvers,moving"`
	// the number of people who must approve
	Quorum int `api:"quorum" store:"quorum,keep,usual=1"`
	// the approvals so far, if Quorum is more than one
	Votes []Vote `api:"votes" store:"votes,moving"`
	// if set, the person who started the session must not settle the ask
	NoSelfApproval bool `api:"no_self_approval,omitempty" store:"no_self"`
	// the person who started the session, as the agent names it
	StartedBy string `api:"started_by,omitempty" store:"starter"`
	// reminders and escalations, sorted by time
	FollowUps    []FollowUp `api:"follow_ups,omitempty" store:"follow_ups,moving"`
	ReassignedBy string     `api:"reassigned_by,omitempty" store:"moved_by,moving"` // the person who reassigned it last
	// ReassignedAt is the time of the last reassignment. It is zero if there was none, or if an older release
	// did not record it.
	ReassignedAt time.Time `api:"reassigned_at,omitempty" store:"moved_at,moving"`
	// AskedAgainAt is the time at which the asker's program, started again, asked the same; zero: it did not.
	AskedAgainAt time.Time `api:"asked_again_at,omitempty" store:"asked_again,moving"`
	Tags         []string  `api:"tags" store:"tags"` // tags for routing and filters
	// the people who have begun to answer
	Claims []Claim `api:"claims" store:"claims,moving"`
	// the answers that people can still undo; agents never get them
	Held      []Held    `api:"held,omitempty" store:"-"`
	Status    Status    `api:"status" store:"status,keep,follows,moving,first"` // the status of the ask
	CreatedAt time.Time `api:"created_at" store:"created,keep,follows"`         // the time when it was asked
	Deadline  time.Time `api:"deadline" store:"deadline"`                       // zero: no deadline
	OnTimeout OnTimeout `api:"on_timeout" store:"on_timeout,keep,usual=wait"`
	// the address of the page where people answer; see [Ask.WithPageURL]
	PageURL string `api:"page_url,null" store:"-"`
	// Warnings lists the repairs that were made when the request was read, and the parts that were dropped
	// (F15).
	Warnings []Problem `api:"warnings" store:"warnings,was=repairs"`
	// set once the ask is settled, and never changed
	Outcome *Outcome `api:"outcome" store:"outcome,moving"`
	// when the agent acknowledged the outcome; zero: not yet
	AckedAt time.Time `api:"acked_at" store:"acked,moving,was=received"`
	// when the agent consumed the approval; zero: not yet
	ConsumedAt time.Time `api:"consumed_at" store:"consumed,moving"`

	// Directed names the people and programs that instructed a hosted run before it asked. If NoSelfApproval
	// is set, they must not settle the ask. It is not part of the JSON.
	Directed []string `api:"-" store:"directed"`

	// TraceParent is the TraceParent of the request. It is not part of the JSON.
	TraceParent string `api:"-" store:"trace"`

	// OthersWaiting is the number of other questions of the agent that have no message of their own. It is
	// set only in a [Notification]. It is not part of the JSON.
	OthersWaiting int `api:"-" store:"-"`

	// Repeated is set if Ask found this ask by its key and created no new one.
	// It is not part of the JSON.
	Repeated bool `api:"-" store:"-"`
}

// People returns the names of the people who may answer. If the result is empty, every person may answer. A
// name that begins with "@" names a group, never a person.
func (a *Ask) People() []string {
	if len(a.Recipients) > 0 {
		return a.Recipients
	}
	return a.To
}

// Addressed reports whether the ask is addressed to this person or to every person.
func (a *Ask) Addressed(name string) bool {
	people := a.People()
	return len(people) == 0 || slices.Contains(people, name)
}

// SelfApproval reports whether the person must not settle the ask because the person started its session or
// instructed it.
func (a *Ask) SelfApproval(name string) bool {
	return a.NoSelfApproval && (name == a.StartedBy || name == a.Owner || slices.Contains(a.Directed, name))
}

// IsApprover reports whether routes let the person decide the ask. It does not check whether the ask is
// addressed to the person: see [Ask.MayDecide].
func (a *Ask) IsApprover(name string) bool {
	return len(a.Approvers) == 0 || slices.Contains(a.Approvers, name)
}

// MayDecide reports whether the person may answer or decline the ask. The ask must be addressed to the
// person, routes must let the person decide it, and [Ask.SelfApproval] must be false.
func (a *Ask) MayDecide(name string) bool {
	return a.Addressed(name) && a.IsApprover(name) && !a.SelfApproval(name)
}

// Deciders returns the people in Approvers who may decide the ask now. The result is nil if Approvers is
// empty, or if none of these people may decide.
func (a *Ask) Deciders() (names []string) {
	for _, name := range a.Approvers {
		if a.MayDecide(name) {
			names = append(names, name)
		}
	}
	return names
}

// Voted reports whether the person has already approved an ask that several people must approve.
func (a *Ask) Voted(name string) bool {
	return slices.ContainsFunc(a.Votes, func(v Vote) bool { return v.Name == name })
}

// Settled reports whether the ask has an outcome.
func (a Ask) Settled() bool { return a.Outcome != nil }

// Unacked reports whether the ask has an outcome that its agent has not
// acknowledged. An ask that the agent itself withdrew counts as acknowledged.
func (a Ask) Unacked() bool {
	return a.Settled() && a.AckedAt.IsZero() && !a.Withdrawn()
}

// Withdrawn reports whether the agent itself ended the ask.
func (a Ask) Withdrawn() bool { return a.Status == Cancelled && a.Outcome.Actor.Kind == ActorAgent }

// WithPageURL returns the ask with the address of its page. The argument base is the address of the server,
// without a slash at the end. If base or the id of the ask is empty, the ask is returned unchanged.
//
// The address of the page is never stored, because the address of the server may change.
func (a Ask) WithPageURL(base string) Ask {
	if base != "" && a.ID != "" {
		a.PageURL = base + PagePath(a.ID)
	}
	return a
}

// PagePath returns the URL path of the page for the ask with this id.
func PagePath(id string) string { return "/asks/" + url.PathEscape(id) }

// An AskKind is the kind of an ask: questions, or a confirmation.
type AskKind string

// The kinds of asks.
const (
	Questions AskKind = "questions"
	Confirm   AskKind = "confirmation"
)

// A Status is the state of an ask: pending, or how it was settled.
type Status string

// The statuses. An ask is [Pending] until it is settled. The next four are the statuses of settled asks.
// [AnyStatus] and [SettledStatus] are for queries only.
const (
	Pending   Status = "pending"
	Answered  Status = "answered"
	Declined  Status = "declined"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"

	// AnyStatus selects asks of every status in a [Query].
	AnyStatus Status = "all"
	// SettledStatus selects asks of every status except [Pending] in a [Query].
	SettledStatus Status = "settled"
)

// An OnTimeout is the effect of a deadline that has passed (F5).
type OnTimeout string

// The effects of a deadline. No deadline approves anything.
const (
	OnTimeoutWait    OnTimeout = "wait"    // nothing: the ask stays pending
	OnTimeoutFail    OnTimeout = "fail"    // expired; the session fails
	OnTimeoutDefault OnTimeout = "default" // expired, with the asker's defaults
	OnTimeoutDecline OnTimeout = "decline" // expired; the session goes on
)

// A Claim is the record that a person has begun to answer an ask.
type Claim struct {
	Name string    `api:"name" store:"name,keep"` // the name of the person
	At   time.Time `api:"at" store:"at,keep"`     // the time of the claim
}

// A Question is one question of an ask. People answer it with its options, with free text, or with both.
type Question struct {
	ID   string `api:"id" store:"id,keep" request:"-"` // q1 to q4, assigned by Askback
	Text string `api:"question" store:"text,keep" request:"question"`
	// a short label; it is truncated to 12 characters
	Header string `api:"header,null" store:"header" request:"header,lenient"`
	// whether several options may be chosen
	MultiSelect bool `api:"multiSelect" store:"multi" request:"multiSelect,manual"`
	// empty: the answer is free text
	Options []Option `api:"options" store:"options" request:"options,manual"`
	// the answer must be one of the options; "allow_custom": false in JSON
	NoOther bool `api:"allow_custom,not" store:"no_other" request:"allow_custom,not"`
	// an answer is not required; "required": false in JSON
	Optional bool `api:"required,not" store:"optional" request:"required,not"`
	// Default is the answer that Enter gives in the terminal, and the outcome
	// of a deadline with [OnTimeoutDefault]. It holds labels, or free text.
	Default []string `api:"default,custom,after=allow_custom" store:"default" request:"default,manual"`
	// Format restricts the answer to a question without options: integer, number, date, date-time, email, uri
	// or text. Numbers and texts may have bounds, such as integer 1..100, number 0.. or text ..20. With "",
	// any text is an answer.
	Format string `api:"format,omitempty" store:"format" request:"format"`
}

// Option returns the option with this label, and whether there is one.
func (q Question) Option(label string) (Option, bool) {
	for _, o := range q.Options {
		if o.Label == label {
			return o, true
		}
	}
	return Option{}, false
}

// An Option is an answer that a question offers.
type Option struct {
	// the label, which is the answer of a person who chooses the option
	Label string `api:"label" store:"label,keep" request:"label"`
	// Description is the meaning of the option.
	Description string `api:"description,omitempty" store:"description" request:"description,lenient"`
	// Preview is a sample of the result of this choice.
	Preview string `api:"preview,omitempty" store:"preview" request:"preview,lenient"`
}

// Options returns options with these labels, without descriptions and previews.
func Options(labels ...string) []Option {
	options := make([]Option, len(labels))
	for i, label := range labels {
		options[i] = Option{Label: label}
	}
	return options
}

// A Confirmation is the question whether a tool may run with exactly these arguments (F7).
type Confirmation struct {
	// the tool that will run
	ToolName string `api:"tool_name" store:"tool,keep" request:"tool_name"`
	// the MCP server of the tool, if any
	Server string `api:"server,null" store:"server" request:"server"`
	// the agent's description of the call
	Description string `api:"description,null" store:"description" request:"description,verbatim"`
	// the arguments of the call
	Input json.RawMessage `api:"input" store:"input,keep" request:"input,manual"`
	// the arguments as the agent presents them
	InputPreview string `api:"input_preview,null" store:"preview" request:"input_preview"`
	Tier         string `api:"tier" store:"tier,keep" request:"tier"` // always "confirm"
	// whether the call may destroy something
	Dangerous bool `api:"dangerous" store:"dangerous" request:"dangerous"`
	// NoEdit is set if the asker cannot run arguments that a person edited.
	NoEdit  bool   `api:"no_edit,omitempty" store:"no_edit" request:"no_edit"`
	Context string `api:"context,null" store:"context" request:"context,verbatim"` // the background that a person needs
	// Digest is the SHA-256 hash of agent, server, tool_name and input in the
	// canonical form of RFC 8785. Askback computes it.
	Digest string `api:"digest" store:"digest,keep" request:"-"`
}
