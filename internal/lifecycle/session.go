package lifecycle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback"
)

// A SessionState is the state of a session. Until the session ends, it is waiting while an ask is open, and
// running otherwise (docs/wire.md §1).
type SessionState struct {
	Session askback.Session `store:",inline"`

	Callback   string `store:"callback,moving"`    // the address that the starter named for the events, or ""
	CallbackOf string `store:"callback_of,moving"` // the person who named Callback, or ""
	// Configured is the address in the settings when the session began, or "". It is used if Callback is "".
	Configured string `store:"configured"`
	// Deliveries are the latest deliveries to the callback, in order.
	Deliveries []askback.Delivery `store:"deliveries,moving"`
	Delivered  int                `store:"delivered,moving"` // the number of all deliveries so far
}

// SessionStarted begins a session.
type SessionStarted struct {
	Session askback.Session
	// Callback is the address that receives the events of the session. If it is "", Configured receives the
	// events. Configured is the address of the settings, or "".
	Callback, Configured string
	CallbackOf           string // the person who named Callback, or ""
	At                   time.Time
}

// CallbackChanged changes the callback of the session.
type CallbackChanged struct {
	Callback   string
	CallbackOf string // the person who named Callback, or ""
	At         time.Time
}

// AskOpened records that the session has a new ask.
type AskOpened struct {
	ID string // id of the ask
	At time.Time
}

// AskClosed records that an ask of the session was settled.
type AskClosed struct {
	ID    string // id of the ask
	Fails bool   // the ask expired with [askback.OnTimeoutFail], so the session fails
	At    time.Time
}

// SessionCommand is a command to the session, with its sender.
type SessionCommand struct {
	By      askback.Actor
	Via     askback.Channel
	Command askback.Command
	At      time.Time
}

// MessagesRead records that the agent of the session reads the messages of people.
type MessagesRead struct{}

// RunChanged records a change of the run of a hosted session.
type RunChanged struct {
	Status  askback.SessionStatus // running, or the status with which the turn or the run ended
	Idle    bool                  // only the turn ended, not the run
	Result  json.RawMessage
	Error   string
	Tokens  int64
	CostUSD float64
	Cancel  Cancelled // cancels the open asks if the turn or the run ended
	At      time.Time
}

func (RunChanged) input()      {}
func (SessionStarted) input()  {}
func (CallbackChanged) input() {}
func (MessagesRead) input()    {}
func (AskOpened) input()       {}
func (AskClosed) input()       {}
func (SessionCommand) input()  {}

// MaxSessionAsks is the maximum number of open asks in a session. The number is limited because the open asks
// end with the session, in one commit.
const MaxSessionAsks = 200

// Step returns the result of an input. The first input of a session must be [SessionStarted]. Each later
// input is [CallbackChanged], [MessagesRead], [AskOpened], [AskClosed], [RunChanged], [SessionCommand], [Sent],
// [SendFailed] or [SendAgain], in any order.
//
// If Step returns an error, nothing changes. The errors are [askback.ErrEnded], [askback.ErrAsksOpen],
// [askback.ErrNotFound] for a delivery, [askback.Invalid] and, for too many open asks, an
// [askback.RetryError]. For an input that these rules do not allow, Step returns another error.
func (s SessionState) Step(in Input) (Result[SessionState], error) {
	if started, ok := in.(SessionStarted); ok != (s.Session.ID == "") {
		return unchanged(s), fmt.Errorf("%T for session %q: SessionStarted must be the first input, and only the first",
			in, s.Session.ID)
	} else if ok {
		return sessionStarted(started)
	}
	switch in := in.(type) {
	case CallbackChanged:
		return callbackChanged(s, in)
	case MessagesRead:
		return messagesRead(s), nil
	case Sent, SendFailed, SendAgain:
		return delivered(s, func(s *SessionState) *[]askback.Delivery { return &s.Deliveries }, in)
	case RunChanged:
		return runChanged(s, in)
	case AskOpened:
		return askOpened(s, in)
	case AskClosed:
		return askClosed(s, in)
	case SessionCommand:
		return command(s, in)
	}
	return unchanged(s), fmt.Errorf("%T is not an input of a session", in)
}

// Columns returns the parts of the state by which a store selects the record of the
// session.
func (s SessionState) Columns() Columns {
	return Columns{Open: !s.Session.Ended(), Status: string(s.Session.Status)}
}

func sessionStarted(in SessionStarted) (Result[SessionState], error) {
	s := SessionState{Session: in.Session, Callback: in.Callback, CallbackOf: in.CallbackOf, Configured: in.Configured}
	s.Session.Status, s.Session.CreatedAt, s.Session.UpdatedAt = askback.SessionRunning, in.At, in.At
	return changed(s, Event{Type: askback.EventSessionStarted}), nil
}

// callbackChanged sets the address that receives the events of the session, including events that were not
// yet sent. The same address again changes nothing. The error is [askback.ErrEnded] if the session has ended
// for good. The history gets no event, because the address may be secret.
func callbackChanged(s SessionState, in CallbackChanged) (Result[SessionState], error) {
	switch {
	case s.Callback == in.Callback:
		return unchanged(s), nil
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	}
	s.Callback, s.CallbackOf = in.Callback, in.CallbackOf
	s.Deliveries = slices.Clone(s.Deliveries)
	for i, d := range s.Deliveries {
		if d.Status != askback.DeliverySent {
			s.Deliveries[i].Target = originOf(in.Callback)
		}
	}
	return changed(s), nil
}

// messagesRead records that the agent reads messages. The history gets no event, because nothing happened that a
// person or a program could follow.
func messagesRead(s SessionState) Result[SessionState] {
	if s.Session.ReadsMessages || s.Session.Final() {
		return unchanged(s)
	}
	s.Session.ReadsMessages = true
	return changed(s)
}

// Receiver returns the address that receives the events of the session, or "".
func (s SessionState) Receiver() string { return cmp.Or(s.Callback, s.Configured) }

// askOpened counts a new ask. If the last turn had ended, the next turn starts. The error is
// [askback.ErrEnded] if the session has ended for good, and an [askback.RetryError] if it has MaxSessionAsks
// open asks.
func askOpened(s SessionState, in AskOpened) (Result[SessionState], error) {
	switch {
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	case s.Session.AsksPending >= MaxSessionAsks:
		return unchanged(s), &askback.RetryError{
			Err: askback.ErrTooMany, After: 10 * time.Second,
			Why: fmt.Sprintf("this session has %d open asks, the maximum; wait for answers, or withdraw some",
				MaxSessionAsks),
		}
	}
	s = s.wake()
	s.Session.AsksPending++
	s.Session.AsksTotal++
	s = s.settle(in.At)
	return changed(s, Event{Type: askback.EventStateChange, State: "awaiting_user_response", Ask: in.ID}), nil
}

// askClosed counts an ask as settled. If the session fails with the ask, its other asks are
// cancelled. A session that has ended has no open asks, so it does not change.
func askClosed(s SessionState, in AskClosed) (Result[SessionState], error) {
	if s.Session.Ended() {
		return unchanged(s), nil
	}
	if s.Session.Hosted { // the next status depends on the run, which sends RunChanged
		s.Session.AsksPending = max(0, s.Session.AsksPending-1)
		return changed(s.settle(in.At)), nil
	}
	if in.Fails {
		s.Session.Error = "no one answered " + in.ID + " in time"
		s = s.end(askback.SessionFailed, "", in.At)
		return s.ended(askback.EventSessionFailed, "failed", Cancelled{
			By: askback.Actor{Kind: askback.ActorTimer}, Reason: s.Session.Error, At: in.At,
		}), nil
	}
	s.Session.AsksPending = max(0, s.Session.AsksPending-1)
	s = s.settle(in.At)
	if s.Session.AsksPending > 0 {
		return changed(s), nil // the status does not change, and the history of the ask has the event
	}
	return changed(s, Event{Type: askback.EventStateChange, State: "llm_requesting"}), nil
}

func runChanged(s SessionState, in RunChanged) (Result[SessionState], error) {
	if s.Session.Final() {
		return unchanged(s), nil
	}
	same := s.Session.Tokens == in.Tokens && s.Session.CostUSD == in.CostUSD
	s.Session.Tokens, s.Session.CostUSD = in.Tokens, in.CostUSD
	if in.Status == askback.SessionRunning {
		if same && !s.Session.Ended() {
			return unchanged(s), nil
		}
		return changed(s.wake().settle(in.At)), nil
	}
	event, phase := askback.EventSessionCompleted, ""
	switch {
	case in.Idle:
		phase = "idle"
	case in.Status == askback.SessionFailed:
		event = askback.EventSessionFailed
	case in.Status == askback.SessionCancelled:
		event = askback.EventSessionCancelled
	}
	s = s.end(in.Status, phase, in.At)
	s.Session.Result, s.Session.Error = in.Result, in.Error
	r := changed(s, s.snapshot(event))
	r.Effects = []Effect{CancelOpenAsks{SessionID: s.Session.ID, Input: in.Cancel}}
	return deliverSession(r, in.At), nil
}

func command(s SessionState, in SessionCommand) (Result[SessionState], error) {
	if err := in.Command.Check(); err != nil {
		return unchanged(s), err
	}
	switch cmd := in.Command.(type) {
	case askback.SendMessage:
		return s.message(in, cmd.Text)
	case askback.Report:
		return s.report(in, cmd)
	case askback.EndTurn:
		return s.endTurn(in, cmd)
	case askback.EndSession:
		return s.cancel(in, cmd)
	case askback.ResumeSession:
		return s.resume(in, cmd)
	case askback.Complete:
		return s.complete(in, cmd)
	case askback.SetTodos:
		return s.todo(in, cmd)
	}
	return unchanged(s), fmt.Errorf("unknown command %T", in.Command)
}

// message records a message of a person. If the last turn had ended, the next turn starts. Open asks stay
// open. The error is [askback.ErrEnded] if the session has ended for good.
func (s SessionState) message(in SessionCommand, text string) (Result[SessionState], error) {
	if s.Session.Final() {
		return unchanged(s), askback.ErrEnded
	}
	ended := s.Session.Ended()
	s = s.wake().settle(in.At)
	history := []Event{{Type: askback.EventMessage, By: in.By.Name, Via: in.Via, Role: askback.RoleUser, Text: text}}
	if ended {
		history = append(history, Event{Type: askback.EventStateChange, State: "llm_requesting"})
	}
	return changed(s, history...), nil
}

func (s SessionState) report(in SessionCommand, cmd askback.Report) (Result[SessionState], error) {
	if s.Session.Final() {
		return unchanged(s), askback.ErrEnded
	}
	s.Session.UpdatedAt = in.At
	return changed(s,
		Event{Type: askback.EventMessage, Role: askback.RoleAssistant, Text: cmd.Text, Final: cmd.Final}), nil
}

func (s SessionState) endTurn(in SessionCommand, cmd askback.EndTurn) (Result[SessionState], error) {
	switch {
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	case s.Session.Ended():
		return unchanged(s), nil
	}
	s = s.end(askback.SessionCompleted, "idle", in.At)
	return s.ended(askback.EventSessionCompleted, "idle", in.cancel(cmd.Reason)), nil
}

func (s SessionState) cancel(in SessionCommand, cmd askback.EndSession) (Result[SessionState], error) {
	switch {
	case s.Session.Status == askback.SessionCancelled:
		return unchanged(s), nil
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	}
	s = s.end(askback.SessionCancelled, "", in.At)
	s.Session.Error = cmd.Reason
	return s.ended(askback.EventSessionCancelled, "cancelled", in.cancel(cmd.Reason)), nil
}

func (s SessionState) resume(in SessionCommand, cmd askback.ResumeSession) (Result[SessionState], error) {
	switch {
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	case s.Session.AsksPending > 0:
		return unchanged(s), askback.ErrAsksOpen
	}
	s = s.wake().settle(in.At)
	s.Session.ResumedAt = in.At
	history := []Event{{Type: askback.EventStateChange, State: "llm_requesting"}}
	switch {
	case cmd.Message == "":
	case in.By.Kind == askback.ActorAgent: // an agent cannot write as a person
		history = append(history, Event{Type: askback.EventMessage, Role: askback.RoleAssistant, Text: cmd.Message})
	default:
		history = append(history,
			Event{Type: askback.EventMessage, By: in.By.Name, Via: in.Via, Role: askback.RoleUser, Text: cmd.Message})
	}
	return changed(s, history...), nil
}

// complete ends a session for good, with the result that its agent reports. The same report again changes
// nothing. After another end, the error is [askback.ErrEnded], because the result is final.
func (s SessionState) complete(in SessionCommand, cmd askback.Complete) (Result[SessionState], error) {
	status, event, word := askback.SessionCompleted, askback.EventSessionCompleted, "completed"
	if cmd.Status == askback.SessionFailed {
		status, event, word = askback.SessionFailed, askback.EventSessionFailed, "failed"
	}
	same := compact(s.Session.Result) == compact(cmd.Result) && s.Session.Error == cmd.Error
	switch {
	case s.Session.Status == status && same && s.Session.Phase == "":
		return unchanged(s), nil
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	}
	s = s.end(status, "", in.At)
	s.Session.Result, s.Session.Error = cmd.Result, cmd.Error
	return s.ended(event, word, in.cancel("the run "+word)), nil
}

// compact returns raw without white space between its tokens. If raw is not JSON, it is returned unchanged.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

func (s SessionState) todo(in SessionCommand, cmd askback.SetTodos) (Result[SessionState], error) {
	switch {
	case s.Session.Final():
		return unchanged(s), askback.ErrEnded
	case slices.Equal(s.Session.Todos, cmd.Todos):
		return unchanged(s), nil
	}
	s.Session.Todos, s.Session.UpdatedAt = slices.Clone(cmd.Todos), in.At
	return changed(s, Event{Type: askback.EventTodosChanged, Todos: s.Session.Todos}), nil
}

// cancel returns the input that cancels the open asks of a session, if the session ends by a command.
func (c SessionCommand) cancel(reason string) Cancelled {
	return Cancelled{By: c.By, Via: c.Via, Reason: reason, At: c.At}
}

// wake starts the next turn if the last turn had ended. It sets the status to running, and removes the result
// and the error.
func (s SessionState) wake() SessionState {
	if s.Session.Ended() {
		s.Session.Status, s.Session.Phase, s.Session.CompletedAt = askback.SessionRunning, "", time.Time{}
		s.Session.Result, s.Session.Error = nil, ""
	}
	return s
}

// settle sets the status of a session that has not ended, and the time of its last change.
// The status is waiting if an ask is open, and running otherwise.
func (s SessionState) settle(at time.Time) SessionState {
	s.Session.UpdatedAt = at
	s.Session.Status = askback.SessionRunning
	if s.Session.AsksPending > 0 {
		s.Session.Status = askback.SessionWaiting
	}
	return s
}

// end ends the session or, if phase is "idle", only its turn.
func (s SessionState) end(status askback.SessionStatus, phase string, at time.Time) SessionState {
	s.Session.AsksPending = 0
	s.Session.Status, s.Session.Phase, s.Session.CompletedAt, s.Session.UpdatedAt = status, phase, at, at
	return s
}

// ended returns the result of a step that ended the session or its turn, with the effect that cancels the
// open asks.
func (s SessionState) ended(event askback.EventType, word string, asks Cancelled) Result[SessionState] {
	r := changed(s, s.snapshot(event), Event{Type: askback.EventStateChange, State: word})
	r.Effects = []Effect{CancelOpenAsks{SessionID: s.Session.ID, Input: asks}}
	return deliverSession(r, s.Session.CompletedAt)
}

// Initial returns the session as it began. The event session_started does not repeat the fields that never
// change.
func Initial(s askback.Session) askback.Session {
	return askback.Session{
		ID: s.ID, Agent: s.Agent, Owner: s.Owner, Hosted: s.Hosted, Title: s.Title, Payload: s.Payload,
		Metadata: s.Metadata, ParentID: s.ParentID, StartedBy: s.StartedBy, Status: askback.SessionRunning,
		CreatedAt: s.CreatedAt, UpdatedAt: s.CreatedAt,
	}
}

// snapshot returns an event of this type with the present session.
func (s SessionState) snapshot(event askback.EventType) Event {
	return Event{Type: event, Session: new(s.Session)}
}
