package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A Phase is the present activity of a run.
type Phase string

// The phases. Failed and cancelled are final.
const (
	Requesting Phase = "requesting" // the model is requested
	Executing  Phase = "executing"  // a tool runs
	Awaiting   Phase = "awaiting"   // people are asked
	Delegating Phase = "delegating" // children run
	Idle       Phase = "idle"       // the turn has ended
	Failed     Phase = "failed"
	Cancelled  Phase = "cancelled"
)

// Limits are the limits of a run, which stop a run that makes no progress. A field that is 0 has its default.
type Limits struct {
	Requests int `json:"requests,omitempty"` // requests to the model in one turn; default 50
	Attempts int `json:"attempts,omitempty"` // attempts of one request; default 8
	Asks     int `json:"asks,omitempty"`     // asks that the model may open by KindAsk in the run; default 20
}

// The default limits.
const (
	DefaultRequests = 50
	DefaultAttempts = 8
	DefaultAsks     = 20
)

// The pauses between attempts of a request: the first pause, which doubles with each attempt, and the longest
// pause. A provider that is overloaded recovers within minutes.
const (
	FirstPause   = time.Second
	LongestPause = time.Minute
)

// MaxQueued is the maximum number of messages of people that wait for the end of the calls.
const MaxQueued = 100

// MaxChildren is the maximum number of children of a run, in all its turns.
const MaxChildren = 100

// A State is the state of one run. It has no texts, except for queued messages and the results of the present
// children. So it stays small however long the run is.
type State struct {
	Phase   Phase     `json:"phase"`
	Limits  Limits    `json:"limits,omitzero"`
	Request int       `json:"request,omitempty"` // the number of requests so far
	InTurn  int       `json:"in_turn,omitempty"` // the requests of the present turn
	Attempt int       `json:"attempt,omitempty"` // the attempts of the present request
	RetryAt time.Time `json:"retry_at,omitzero"` // when the next attempt begins; zero: no attempt is planned
	Calls   int       `json:"calls,omitempty"`   // the number of calls so far
	Asks    int       `json:"asks,omitempty"`    // the number of asks that the model opened so far
	Spawned int       `json:"spawned,omitempty"` // the number of children so far
	// the calls without a result, in order; the first call is being made now
	Open     []Open    `json:"open,omitempty"`
	Children []Child   `json:"children,omitempty"` // the children of the first open call
	Queued   []Message `json:"queued,omitempty"`   // the messages of people since the last request
	Usage    Usage     `json:"usage,omitzero"`
}

// An Open is a call without a result.
type Open struct {
	N    int    `json:"n"`
	ID   string `json:"id"`
	Tool string `json:"tool"`
	Plan
	Approved bool `json:"approved,omitempty"` // whether a person or a grant has approved the call
	Started  bool `json:"started,omitempty"`  // the tool may have run
}

// A Child is the state of a call's child, as its parent records it.
type Child struct {
	Finished bool   `json:"finished,omitempty"`
	Text     string `json:"text,omitempty"`
	IsError  bool   `json:"error,omitempty"`
}

// Due returns the time at which the run must be stepped with the input [Due], or zero if there is no such
// time.
func (s State) Due() time.Time { return s.RetryAt }

// Ended reports whether the run is over for good.
func (s State) Ended() bool { return s.Phase == Failed || s.Phase == Cancelled }

// Requests reports whether an attempt at a request to the model is still needed.
func (s State) Requests(r RequestModel) bool {
	return s.Phase == Requesting && s.Request == r.Request && s.Attempt == r.Attempt && s.RetryAt.IsZero()
}

// Runs reports whether the tool of a call may run, or is running.
func (s State) Runs(call int) bool {
	return s.Phase == Executing && s.Open[0].N == call && s.Open[0].Started
}

// Step returns the result of an input. The first input of a run must be [Started]. An input changes nothing
// if it repeats, comes too late, or is about an unknown ask, call or child. The error is [askback.ErrEnded]
// if the run is over for good. For a message beyond [MaxQueued], the error is an [askback.RetryError]. For an
// input that these rules do not allow, Step returns another error.
func (s State) Step(in Input) (Result, error) {
	if started, ok := in.(Started); ok != (s.Phase == "") {
		return Result{State: s, Unchanged: true}, fmt.Errorf("%T in phase %q", in, s.Phase)
	} else if ok {
		return start(started), nil
	}
	t := step{s: s.clone()}
	var err error
	switch in := in.(type) {
	case ModelReplied:
		t.modelReplied(in)
	case ModelFailed:
		t.modelFailed(in)
	case ToolStarted:
		t.toolStarted(in)
	case ToolFinished:
		t.toolFinished(in)
	case AskSettled:
		t.askSettled(in)
	case ChildFinished:
		t.childFinished(in)
	case PersonWrote:
		err = t.personWrote(in)
	case Due:
		t.due(in)
	case TurnCancelled:
		t.cancelTurn()
	case RunCancelled:
		t.cancelRun()
	case RunFailed:
		t.runFailed(in)
	default:
		err = fmt.Errorf("%T is not an input of a run", in)
	}
	if err != nil || !t.changed {
		return Result{State: s, Unchanged: true}, err
	}
	return t.end(), nil
}

// clone returns a copy of the state. The copy shares no slice that a step changes.
func (s State) clone() State {
	s.Open, s.Children, s.Queued = slices.Clone(s.Open), slices.Clone(s.Children), slices.Clone(s.Queued)
	return s
}

// Format is the version number of the stored form of runs. [Decode] rejects newer formats.
const Format = 1

// stored is the stored form of a run.
type stored struct {
	Format int `json:"format"`
	State
}

// Encode returns the stored form of a state: JSON, with times in RFC 3339.
func (s State) Encode() ([]byte, error) { return json.Marshal(stored{Format, s}) }

// Decode returns the state of a stored form. The error matches [askback.ErrDamaged] if b is not the stored
// form of a possible state. For a newer format, it is another error.
func Decode(b []byte) (State, error) {
	var v stored
	if err := json.Unmarshal(b, &v); err != nil {
		return State{}, fmt.Errorf("%w: stored run: %w", askback.ErrDamaged, err)
	}
	if v.Format > Format {
		return State{}, fmt.Errorf("this run was stored by a newer release (format %d; this one knows %d)", v.Format,
			Format)
	}
	if err := v.State.check(); err != nil {
		return State{}, fmt.Errorf("%w: stored run: %w", askback.ErrDamaged, err)
	}
	return v.State, nil
}

// check returns an error for a state that no step returns.
func (s State) check() error {
	switch s.Phase {
	case Executing, Awaiting, Delegating:
		if len(s.Open) == 0 {
			return fmt.Errorf("phase %s without an open call", s.Phase)
		}
	case Requesting, Idle, Failed, Cancelled:
		if len(s.Open) > 0 {
			return fmt.Errorf("phase %s with an open call", s.Phase)
		}
	default:
		return errors.New("unknown phase")
	}
	if s.Phase != Delegating && len(s.Children) > 0 || s.Phase == Delegating && len(s.Children) != s.Open[0].Tasks {
		return fmt.Errorf("phase %s with %d children", s.Phase, len(s.Children))
	}
	return nil
}
