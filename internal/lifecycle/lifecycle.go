// Package lifecycle has the state machines of asks, sessions, grants and endpoints, as pure functions.
//
// Each machine is a state with a method Step, which takes an [Input] and returns a [Result]. The result
// depends only on the state and the input: times, ids and digests are part of the input. The transcripts in
// testdata specify the machines.
//
// An ask is pending until exactly one outcome ends it. The outcome is final, but later events are still
// recorded: late answers, the use of an approval and the acknowledgement.
package lifecycle

import (
	"encoding/json"
	"time"

	"github.com/askback/askback"
)

// A Result is the result of a step. It is committed as a whole.
type Result[S any] struct {
	State     S
	Unchanged bool     // the input changed nothing, so there is nothing to commit
	History   []Event  // the events of the step
	Effects   []Effect // work that the step requires
}

// changed returns the result of an input that changes the state to s.
func changed[S any](s S, history ...Event) Result[S] {
	return Result[S]{State: s, History: history}
}

// unchanged returns the result of an input that changes nothing.
func unchanged[S any](s S) Result[S] {
	return Result[S]{State: s, Unchanged: true}
}

// An Input is an input to a machine. Each machine has its own types of inputs and returns an error for inputs
// of another machine.
type Input interface{ input() }

// An Effect is work that a step of one record requires on another record. The step and the work are committed
// together. The exceptions are [Send] and [Resume], which are performed after the commit.
type Effect interface{ effect() }

// MakeGrant steps a new grant with [GrantMade].
type MakeGrant struct {
	Grant     askback.Grant
	SessionID string // the session whose history has the events of the grant
	At        time.Time
}

// UseGrant steps a grant with [GrantUsed], because the grant approves an ask.
type UseGrant struct {
	ID  string
	Ask askback.Ask
	At  time.Time
}

// RequireGrant steps a grant with [GrantRequired]. If the step is rejected or the grant was deleted, the
// error is [askback.ErrNotApproved].
type RequireGrant struct {
	ID string
	At time.Time
}

// NotifySession steps a session with [AskOpened] or [AskClosed]. If the session was deleted, nothing happens
// or, if MustExist is set, the commit is a conflict.
type NotifySession struct {
	ID        string
	Input     Input
	MustExist bool
}

// CancelOpenAsks steps each open ask of a session with [Cancelled].
type CancelOpenAsks struct {
	SessionID string
	Input     Cancelled
}

// Resume steps the hosted run of a session with the outcome of an ask of this session, after the commit.
type Resume struct{ AskID, SessionID string }

func (Resume) effect()         {}
func (MakeGrant) effect()      {}
func (UseGrant) effect()       {}
func (RequireGrant) effect()   {}
func (NotifySession) effect()  {}
func (CancelOpenAsks) effect() {}

// An Event is a record of the history. It does not repeat the fields of the ask that never change, such as
// the questions and the outcome.
type Event struct {
	Type     askback.EventType        `store:"-"` // stored in a separate column
	By       string                   `store:"by"`
	Via      askback.Channel          `store:"via"`
	Why      string                   `store:"why"`
	Answers  []askback.QuestionAnswer `store:"answers"`
	Comment  string                   `store:"comment"`
	Decision askback.Decision         `store:"decision"`
	Input    json.RawMessage          `store:"input"`
	Reason   string                   `store:"reason"`
	Digest   string                   `store:"digest"`
	Grant    *askback.Grant           `store:"grant"` // the grant after the event

	// The fields of sessions.
	Session *askback.Session `store:"session"` // the session after the event
	State   string           `store:"state"`
	Ask     string           `store:"ask"`
	Role    askback.Role     `store:"role"`
	Text    string           `store:"text"`
	Final   bool             `store:"final"`
	Todos   []askback.Todo   `store:"todos"`

	Delivery *askback.Delivery `store:"delivery"` // the delivery after the event

	// The fields of hosted runs.
	Call     int             `store:"call"`    // the number of a call
	CallID   string          `store:"call_id"` // the model's id of the call
	Tool     string          `store:"tool"`
	Kind     string          `store:"kind"` // how the call is handled; "" in events of older databases
	IsError  bool            `store:"error"`
	Provider json.RawMessage `store:"provider"` // data that the provider of the model needs back

	To []string `store:"to"` // the people and groups to whom the ask was given
}

// A Row has the columns of a stored record that are part of its state. The JSON of the state
// does not repeat them.
type Row struct {
	ID      string
	Stream  string // the id of the session
	Owner   string
	Agent   string
	Status  string
	Created time.Time
}

// shortFormat is the first format that omits fields that a [Row] has, fields that follow from other fields,
// and usual values. Earlier formats of asks end with 5, and of sessions with 3.
const shortFormat = 6

// Columns are the parts of a state by which a store selects records.
type Columns struct {
	Open    bool
	Unacked bool // settled, and not acknowledged
	Status  string
	To      []string
	Due     time.Time // when the record must be stepped; zero for never
}
