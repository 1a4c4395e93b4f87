package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A SessionState is the state of one session. Until it ends, an open ask makes its
// status waiting (wire.md §1).
type SessionState struct {
	Session askback.Session
}

// A SessionInput is an input to the machine of a session: [SessionStarted],
// [AskOpened], [AskClosed] or [SessionCommand].
type SessionInput interface{ sessionInput() }

// SessionStarted begins a session.
type SessionStarted struct {
	Session askback.Session
	At      time.Time
}

// AskOpened records that the session has a new ask.
type AskOpened struct {
	Ask askback.Ask
	At  time.Time
}

// AskClosed records that an ask of the session was settled.
type AskClosed struct {
	Ask askback.Ask
	At  time.Time
}

// SessionCommand is a command to the session, with its sender.
type SessionCommand struct {
	By      askback.Actor
	Via     askback.Channel
	Command askback.Command
	At      time.Time
}

func (SessionStarted) sessionInput() {}
func (AskOpened) sessionInput()      {}
func (AskClosed) sessionInput()      {}
func (SessionCommand) sessionInput() {}

// MaxSessionAsks is the number of asks of one session that may be open. It is bounded
// because they end with the session, in one commit.
const MaxSessionAsks = 200

// A Withdrawal requires that the open asks of a session are cancelled in the same
// commit.
type Withdrawal struct {
	By     askback.Actor
	Via    askback.Channel
	Reason string
}

// StepSession returns the state after an event, its records for the history, and a
// Withdrawal if the open asks end with it. With an error, it returns s.
//
// The errors are [askback.ErrEnded], [askback.ErrAsksOpen], [askback.Invalid] and, for
// an ask too many, an [askback.RetryError].
func StepSession(s SessionState, ev SessionInput) (SessionState, []Event, *Withdrawal, error) {
	next, history, cancel, err := dispatchSession(s, ev)
	if err != nil {
		return s, nil, nil, err
	}
	return next, history, cancel, nil
}

func dispatchSession(s SessionState, ev SessionInput) (SessionState, []Event, *Withdrawal, error) {
	if started, ok := ev.(SessionStarted); ok != (s.Session.ID == "") {
		return s, nil, nil, fmt.Errorf("%T for session %q: SessionStarted must be the first event, and only the first", ev, s.Session.ID)
	} else if ok {
		return sessionStarted(started)
	}
	switch ev := ev.(type) {
	case AskOpened:
		return askOpened(s, ev)
	case AskClosed:
		return askClosed(s, ev)
	case SessionCommand:
		return command(s, ev)
	}
	return s, nil, nil, fmt.Errorf("unknown event %T", ev)
}

func sessionStarted(ev SessionStarted) (SessionState, []Event, *Withdrawal, error) {
	s := SessionState{Session: ev.Session}
	s.Session.Status, s.Session.CreatedAt, s.Session.UpdatedAt = askback.SessionRunning, ev.At, ev.At
	return s, []Event{s.snapshot(askback.EventSessionStarted)}, nil, nil
}

// askOpened counts a new ask. It starts the next turn if the last one had ended. A
// session that is over for good accepts no ask.
func askOpened(s SessionState, ev AskOpened) (SessionState, []Event, *Withdrawal, error) {
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
	return s, []Event{{Type: askback.EventStateChange, State: "awaiting_user_response", Ask: ev.Ask.ID}}, nil, nil
}

// askClosed counts an ask as settled. If it expired with [askback.OnTimeoutFail], the
// session fails, and its other asks are cancelled.
func askClosed(s SessionState, ev AskClosed) (SessionState, []Event, *Withdrawal, error) {
	s.Session.AsksPending = max(0, s.Session.AsksPending-1)
	o := ev.Ask.Outcome
	if o.Status == askback.Expired && ev.Ask.OnTimeout == askback.OnTimeoutFail && !s.Session.Ended() {
		s.Session.Error = "no one answered " + ev.Ask.ID + " in time"
		s = s.end(askback.SessionFailed, "", ev.At)
		return s, s.ending(askback.EventSessionFailed, "failed"), &Withdrawal{By: o.Actor, Reason: s.Session.Error}, nil
	}
	s = s.settle(ev.At)
	if s.Session.AsksPending > 0 || s.Session.Ended() {
		return s, nil, nil, nil // the status is the same, and the history of the ask has the event
	}
	return s, []Event{{Type: askback.EventStateChange, State: "llm_requesting"}}, nil, nil
}

func command(s SessionState, ev SessionCommand) (SessionState, []Event, *Withdrawal, error) {
	if err := ev.Command.Check(); err != nil {
		return s, nil, nil, err
	}
	switch cmd := ev.Command.(type) {
	case askback.SendMessage:
		return s.message(ev, cmd.Text)
	case askback.Report:
		return s.report(ev, cmd)
	case askback.EndTurn:
		return s.endTurn(ev, cmd)
	case askback.EndSession:
		return s.cancel(ev, cmd)
	case askback.ResumeSession:
		return s.resume(ev, cmd)
	case askback.Complete:
		return s.complete(ev, cmd)
	case askback.SetTodos:
		return s.todo(ev, cmd)
	}
	return s, nil, nil, fmt.Errorf("unknown command %T", ev.Command)
}

// message records a message of a person. It starts the next turn if the last one had
// ended. Open asks stay open.
func (s SessionState) message(ev SessionCommand, text string) (SessionState, []Event, *Withdrawal, error) {
	if s.final() {
		return s, nil, nil, askback.ErrEnded
	}
	ended := s.Session.Ended()
	s = s.wake(ev.At).settle(ev.At)
	history := []Event{{Type: askback.EventMessage, By: ev.By.Name, Via: ev.Via, Role: askback.RoleUser, Text: text}}
	if ended {
		history = append(history, Event{Type: askback.EventStateChange, State: "llm_requesting"})
	}
	return s, history, nil, nil
}

func (s SessionState) report(ev SessionCommand, cmd askback.Report) (SessionState, []Event, *Withdrawal, error) {
	if s.final() {
		return s, nil, nil, askback.ErrEnded
	}
	s.Session.UpdatedAt = ev.At
	return s, []Event{{Type: askback.EventMessage, Role: askback.RoleAssistant, Text: cmd.Text, Final: cmd.Final}}, nil, nil
}

func (s SessionState) endTurn(ev SessionCommand, cmd askback.EndTurn) (SessionState, []Event, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case s.Session.Ended():
		return s, nil, nil, nil
	}
	s = s.end(askback.SessionCompleted, "idle", ev.At)
	return s, s.ending(askback.EventSessionCompleted, "idle"), withdraw(ev, cmd.Reason), nil
}

func (s SessionState) cancel(ev SessionCommand, cmd askback.EndSession) (SessionState, []Event, *Withdrawal, error) {
	switch {
	case s.Session.Status == askback.SessionCancelled:
		return s, nil, nil, nil
	case s.final():
		return s, nil, nil, askback.ErrEnded
	}
	s = s.end(askback.SessionCancelled, "", ev.At)
	s.Session.Error = cmd.Reason
	return s, s.ending(askback.EventSessionCancelled, "cancelled"), withdraw(ev, cmd.Reason), nil
}

func (s SessionState) resume(ev SessionCommand, cmd askback.ResumeSession) (SessionState, []Event, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case s.Session.AsksPending > 0:
		return s, nil, nil, askback.ErrAsksOpen
	}
	s = s.wake(ev.At).settle(ev.At)
	s.Session.ResumedAt = ev.At
	history := []Event{{Type: askback.EventStateChange, State: "llm_requesting"}}
	switch {
	case cmd.Message == "":
	case ev.By.Kind == askback.ActorAgent: // an agent cannot write as a person
		history = append(history, Event{Type: askback.EventMessage, Role: askback.RoleAssistant, Text: cmd.Message})
	default:
		history = append(history, Event{Type: askback.EventMessage, By: ev.By.Name, Via: ev.Via, Role: askback.RoleUser, Text: cmd.Message})
	}
	return s, history, nil, nil
}

// complete ends a session for good, with the result that its agent reports. The same
// report again changes nothing. Another one is an error, since the result is final.
func (s SessionState) complete(ev SessionCommand, cmd askback.Complete) (SessionState, []Event, *Withdrawal, error) {
	status, event, word := askback.SessionCompleted, askback.EventSessionCompleted, "completed"
	if cmd.Status == askback.SessionFailed {
		status, event, word = askback.SessionFailed, askback.EventSessionFailed, "failed"
	}
	same := compact(s.Session.Result) == compact(cmd.Result) && s.Session.Error == cmd.Error
	switch {
	case s.Session.Status == status && same && s.Session.Phase == "":
		return s, nil, nil, nil
	case s.final():
		return s, nil, nil, askback.ErrEnded
	}
	s = s.end(status, "", ev.At)
	s.Session.Result, s.Session.Error = cmd.Result, cmd.Error
	return s, s.ending(event, word), withdraw(ev, "the run "+word), nil
}

// compact returns raw without white space between its tokens. What is not JSON is
// returned unchanged.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func (s SessionState) todo(ev SessionCommand, cmd askback.SetTodos) (SessionState, []Event, *Withdrawal, error) {
	switch {
	case s.final():
		return s, nil, nil, askback.ErrEnded
	case slices.Equal(s.Session.Todos, cmd.Todos):
		return s, nil, nil, nil
	}
	s.Session.Todos, s.Session.UpdatedAt = slices.Clone(cmd.Todos), ev.At
	return s, []Event{{Type: askback.EventTodosChanged, Todos: s.Session.Todos}}, nil, nil
}

func withdraw(ev SessionCommand, reason string) *Withdrawal {
	return &Withdrawal{By: ev.By, Via: ev.Via, Reason: reason}
}

// final reports whether the session is over for good; see [askback.Session.Final].
func (s SessionState) final() bool { return s.Session.Final() }

// wake starts the next turn if the last one had ended.
func (s SessionState) wake(at time.Time) SessionState {
	if s.Session.Ended() {
		s.Session.Status, s.Session.Phase, s.Session.CompletedAt = askback.SessionRunning, "", time.Time{}
		s.Session.Result, s.Session.Error = nil, ""
	}
	s.Session.UpdatedAt = at
	return s
}

// settle sets the status of a session that has not ended, by its open asks.
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

// end ends the session. The caller must cancel its open asks in the same commit.
func (s SessionState) end(status askback.SessionStatus, phase string, at time.Time) SessionState {
	s.Session.AsksPending = 0
	s.Session.Status, s.Session.Phase, s.Session.CompletedAt, s.Session.UpdatedAt = status, phase, at, at
	return s
}

// snapshot returns a record for the history with the session as it is now.
func (s SessionState) snapshot(event askback.EventType) Event {
	session := s.Session
	return Event{Type: event, Session: &session}
}

func (s SessionState) ending(event askback.EventType, word string) []Event {
	return []Event{s.snapshot(event), {Type: askback.EventStateChange, State: word}}
}
