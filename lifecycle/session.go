package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A SessionState is all that is remembered of one run that happens elsewhere.
// Its status follows: an open ask makes it wait (wire.md §1).
type SessionState struct {
	Session askback.Session
}

// A SessionEvent is something that happened to a session: [SessionStarted],
// [AskOpened], [AskClosed] or [Told].
type SessionEvent interface{ sessionEvent() }

// SessionStarted begins a session.
type SessionStarted struct {
	Session askback.Session
	At      time.Time
}

// AskOpened says that the run asked something.
type AskOpened struct {
	Ask askback.Ask
	At  time.Time
}

// AskClosed says that an ask of the run was settled.
type AskClosed struct {
	Ask askback.Ask
	At  time.Time
}

// Told says that somebody said something to the session.
type Told struct {
	By   askback.By
	Via  askback.Via
	Tell askback.Tell
	At   time.Time
}

func (SessionStarted) sessionEvent() {}
func (AskOpened) sessionEvent()      {}
func (AskClosed) sessionEvent()      {}
func (Told) sessionEvent()           {}

// MaxSessionAsks is how many asks of one session may be open: they end together
// with it, in one commit.
const MaxSessionAsks = 200

// A Withdrawal is what must happen to the open asks of a session in the same
// change: they are cancelled.
type Withdrawal struct {
	By     askback.By
	Via    askback.Via
	Reason string
}

// StepSession returns the session after an event, what the history says of it,
// and whether its open asks are cancelled with it. On error the state is the one
// before.
//
// Errors: [askback.ErrEnded], [askback.ErrAsksOpen], [askback.Invalid].
func StepSession(s SessionState, ev SessionEvent) (SessionState, []Entry, *Withdrawal, error) {
	next, history, cancel, err := dispatchSession(s, ev)
	if err != nil {
		return s, nil, nil, err
	}
	return next, history, cancel, nil
}

func dispatchSession(s SessionState, ev SessionEvent) (SessionState, []Entry, *Withdrawal, error) {
	if started, ok := ev.(SessionStarted); ok != (s.Session.ID == "") {
		return s, nil, nil, fmt.Errorf("%T for session %q: a session starts once, first of all", ev, s.Session.ID)
	} else if ok {
		return sessionStarted(started)
	}
	switch ev := ev.(type) {
	case AskOpened:
		return askOpened(s, ev)
	case AskClosed:
		return askClosed(s, ev)
	case Told:
		return told(s, ev)
	}
	return s, nil, nil, fmt.Errorf("unknown event %T", ev)
}

func sessionStarted(ev SessionStarted) (SessionState, []Entry, *Withdrawal, error) {
	s := SessionState{Session: ev.Session}
	s.Session.Status, s.Session.CreatedAt, s.Session.UpdatedAt = askback.SessionRunning, ev.At, ev.At
	return s, []Entry{s.told("session_started")}, nil, nil
}

// askOpened counts an ask. Asking is going on: a run whose turn had ended is
// running again. A run that its agent completed asks nothing more.
func askOpened(s SessionState, ev AskOpened) (SessionState, []Entry, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case s.Session.AsksPending >= MaxSessionAsks:
		return s, nil, nil, &askback.RetryError{
			Err: askback.ErrTooMany, After: 10 * time.Second,
			Why: fmt.Sprintf("this session has %d open asks, as many as one may have; wait for answers, or withdraw some", MaxSessionAsks),
		}
	}
	s = s.wake(ev.At)
	s.Session.AsksPending++
	s.Session.AsksTotal++
	s = s.settle(ev.At)
	return s, []Entry{{Type: "state_change", State: "awaiting_user_response", Ask: ev.Ask.ID}}, nil, nil
}

// askClosed counts an ask as settled. One whose deadline was to fail the run
// fails it, with what else it asked.
func askClosed(s SessionState, ev AskClosed) (SessionState, []Entry, *Withdrawal, error) {
	s.Session.AsksPending = max(0, s.Session.AsksPending-1)
	o := ev.Ask.Outcome
	if o.Status == askback.Expired && ev.Ask.OnTimeout == askback.OnTimeoutFail && !s.Session.Ended() {
		s.Session.Error = "nobody answered " + ev.Ask.ID + " in time"
		s = s.end(askback.SessionFailed, "", ev.At)
		return s, s.ending("session_failed", "failed"), &Withdrawal{By: o.By, Reason: s.Session.Error}, nil
	}
	s = s.settle(ev.At)
	if s.Session.AsksPending > 0 || s.Session.Ended() {
		return s, nil, nil, nil // it stands as it stood; the ask's own line says what happened
	}
	return s, []Entry{{Type: "state_change", State: "llm_requesting"}}, nil, nil
}

func told(s SessionState, ev Told) (SessionState, []Entry, *Withdrawal, error) {
	if err := ev.Tell.Check(); err != nil {
		return s, nil, nil, err
	}
	switch said := ev.Tell.(type) {
	case askback.SendMessage:
		return s.message(ev, said.Text)
	case askback.Report:
		return s.report(ev, said)
	case askback.EndTurn:
		return s.endTurn(ev, said)
	case askback.EndSession:
		return s.cancel(ev, said)
	case askback.ResumeSession:
		return s.resume(ev, said)
	case askback.Complete:
		return s.complete(ev, said)
	case askback.SetTodos:
		return s.todo(ev, said)
	}
	return s, nil, nil, fmt.Errorf("unknown tell %T", ev.Tell)
}

// message keeps what a person says. Where the turn had ended it starts the next
// one; an open ask it leaves alone.
func (s SessionState) message(ev Told, text string) (SessionState, []Entry, *Withdrawal, error) {
	if s.final() {
		return s, nil, nil, askback.ErrEnded
	}
	ended := s.Session.Ended()
	s = s.wake(ev.At).settle(ev.At)
	history := []Entry{{Type: "message", By: ev.By.Name, Via: ev.Via, Role: askback.RoleUser, Text: text}}
	if ended {
		history = append(history, Entry{Type: "state_change", State: "llm_requesting"})
	}
	return s, history, nil, nil
}

func (s SessionState) report(ev Told, said askback.Report) (SessionState, []Entry, *Withdrawal, error) {
	if s.final() {
		return s, nil, nil, askback.ErrEnded
	}
	s.Session.UpdatedAt = ev.At
	return s, []Entry{{Type: "message", Role: askback.RoleAssistant, Text: said.Text, Final: said.Final}}, nil, nil
}

func (s SessionState) endTurn(ev Told, said askback.EndTurn) (SessionState, []Entry, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case s.Session.Ended():
		return s, nil, nil, nil
	}
	s = s.end(askback.SessionCompleted, "idle", ev.At)
	return s, s.ending("session_completed", "idle"), withdraw(ev, said.Reason), nil
}

func (s SessionState) cancel(ev Told, said askback.EndSession) (SessionState, []Entry, *Withdrawal, error) {
	switch {
	case s.Session.Status == askback.SessionCancelled:
		return s, nil, nil, nil
	case s.final():
		return s, nil, nil, askback.ErrEnded
	}
	s = s.end(askback.SessionCancelled, "", ev.At)
	s.Session.Error = said.Reason
	return s, s.ending("session_cancelled", "cancelled"), withdraw(ev, said.Reason), nil
}

func (s SessionState) resume(ev Told, said askback.ResumeSession) (SessionState, []Entry, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case s.Session.AsksPending > 0:
		return s, nil, nil, askback.ErrAsksOpen
	}
	s = s.wake(ev.At).settle(ev.At)
	s.Session.ResumedAt = ev.At
	history := []Entry{{Type: "state_change", State: "llm_requesting"}}
	switch {
	case said.Message == "":
	case ev.By.Kind == askback.ByAgent: // it never speaks as a person
		history = append(history, Entry{Type: "message", Role: askback.RoleAssistant, Text: said.Message})
	default:
		history = append(history, Entry{Type: "message", By: ev.By.Name, Via: ev.Via, Role: askback.RoleUser, Text: said.Message})
	}
	return s, history, nil, nil
}

// complete ends a run for good, with the result that its agent reports. The same
// report again is no error, another one is: whoever read the result may rely on it.
func (s SessionState) complete(ev Told, said askback.Complete) (SessionState, []Entry, *Withdrawal, error) {
	status, event, word := askback.SessionCompleted, "session_completed", "completed"
	if said.Status == askback.SessionFailed {
		status, event, word = askback.SessionFailed, "session_failed", "failed"
	}
	same := compact(s.Session.Result) == compact(said.Result) && s.Session.Error == said.Error
	switch {
	case s.Session.Status == status && same && s.Session.Phase == "":
		return s, nil, nil, nil
	case s.final():
		return s, nil, nil, askback.ErrEnded
	}
	s = s.end(status, "", ev.At)
	s.Session.Result, s.Session.Error = said.Result, said.Error
	return s, s.ending(event, word), withdraw(ev, "the run "+word), nil
}

// compact is JSON without the white space between its tokens.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func (s SessionState) todo(ev Told, said askback.SetTodos) (SessionState, []Entry, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case slices.Equal(s.Session.Todos, said.Todos):
		return s, nil, nil, nil
	}
	s.Session.Todos, s.Session.UpdatedAt = slices.Clone(said.Todos), ev.At
	return s, []Entry{{Type: "todos_changed", Todos: s.Session.Todos}}, nil, nil
}

func withdraw(ev Told, reason string) *Withdrawal {
	return &Withdrawal{By: ev.By, Via: ev.Via, Reason: reason}
}

// final reports whether nothing more happens in a session, whatever is said: it
// failed, it was cancelled, or its agent completed it. A turn that ended (phase
// idle) is not final.
func (s SessionState) final() bool { return s.Session.Final() }

// wake makes a run whose turn had ended go on.
func (s SessionState) wake(at time.Time) SessionState {
	if s.Session.Ended() {
		s.Session.Status, s.Session.Phase, s.Session.CompletedAt = askback.SessionRunning, "", time.Time{}
		s.Session.Result, s.Session.Error = nil, ""
	}
	s.Session.UpdatedAt = at
	return s
}

// settle derives the status of a run that goes on.
func (s SessionState) settle(at time.Time) SessionState {
	s.Session.UpdatedAt = at
	if s.Session.Ended() {
		return s
	}
	s.Session.Status = askback.SessionRunning
	if s.Session.AsksPending > 0 {
		s.Session.Status = askback.SessionWaiting
	}
	return s
}

// end ends a run. Its open asks end in the same change.
func (s SessionState) end(status askback.SessionStatus, phase string, at time.Time) SessionState {
	s.Session.AsksPending = 0
	s.Session.Status, s.Session.Phase, s.Session.CompletedAt, s.Session.UpdatedAt = status, phase, at, at
	return s
}

func (s SessionState) told(event string) Entry {
	was := s.Session
	return Entry{Type: event, Session: &was}
}

func (s SessionState) ending(event, word string) []Entry {
	return []Entry{s.told(event), {Type: "state_change", State: word}}
}
