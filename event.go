package askback

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// An Event is one record of the history, or the snapshot that begins a stream (docs/wire.md §4). Readers of a
// stream may share Data, so it must not be changed.
type Event struct {
	Cursor Cursor `api:"-"`
	// the number within its session, without gaps; 0 if the event is not in the history of the session
	Seq       int64           `api:"seq"`
	SessionID string          `api:"session_id"` // the id of the session; empty in a snapshot of all sessions
	Type      EventType       `api:"type"`       // the type of the event
	At        time.Time       `api:"at"`         // the time of the event
	Data      json.RawMessage `api:"data"`       // the data for the type
}

// An EventType is the type of an event. It determines the shape of Data.
type EventType string

// The types of events. EventSnapshot and EventMessageDelta are not part of the history.
const (
	EventSnapshot EventType = "snapshot"

	EventQuestionPending    EventType = "question_pending"
	EventQuestionClaimed    EventType = "question_claimed"
	EventQuestionVoted      EventType = "question_voted" // approved by one of several people
	EventQuestionReminded   EventType = "question_reminded"
	EventQuestionEscalated  EventType = "question_escalated"
	EventQuestionReassigned EventType = "question_reassigned"
	EventQuestionRepeated   EventType = "question_repeated" // by the program of the asker, which was started again
	EventQuestionAnswered   EventType = "question_answered"
	EventQuestionDeclined   EventType = "question_declined"
	EventQuestionCancelled  EventType = "question_cancelled"
	EventQuestionExpired    EventType = "question_expired"
	EventQuestionConsumed   EventType = "question_consumed"
	EventAnswerAcked        EventType = "answer_acked"
	EventAnswerRefused      EventType = "answer_refused"
	// a person gave an answer and can still undo it; only people get this event
	EventAnswerHeld   EventType = "answer_held"
	EventAnswerUndone EventType = "answer_undone" // the answer was not sent; only people get this event

	EventGrantMade    EventType = "grant_made"
	EventGrantUsed    EventType = "grant_used"
	EventGrantRevoked EventType = "grant_revoked"
	EventGrantExpired EventType = "grant_expired"

	EventSessionStarted   EventType = "session_started"
	EventSessionCompleted EventType = "session_completed"
	EventSessionFailed    EventType = "session_failed"
	EventSessionCancelled EventType = "session_cancelled"
	EventStateChange      EventType = "state_change"
	EventMessage          EventType = "message"
	EventMessageQueued    EventType = "message_queued" // written by a person; the agent reads it after its calls
	// a piece of a message that is being written; not part of the history
	EventMessageDelta  EventType = "message_delta"
	EventToolInput     EventType = "tool_input_ready"
	EventToolStart     EventType = "tool_start"
	EventToolComplete  EventType = "tool_complete"
	EventAgentComplete EventType = "agent_complete" // the turn of a hosted agent has ended
	EventTodosChanged  EventType = "todos_changed"

	EventDeliveryQueued  EventType = "delivery_queued" // queued again after it was given up
	EventDeliverySent    EventType = "delivery_sent"
	EventDeliveryFailed  EventType = "delivery_failed"
	EventDeliverySkipped EventType = "delivery_skipped" // no longer needed
)

// Settles reports whether an event of this type settles an ask.
func (t EventType) Settles() bool {
	switch t {
	case EventQuestionAnswered, EventQuestionDeclined, EventQuestionCancelled, EventQuestionExpired:
		return true
	}
	return false
}

// ForPeople reports whether events of this type are never sent to agents. Such events have no number within
// their session.
func (t EventType) ForPeople() bool { return t == EventAnswerHeld || t == EventAnswerUndone }

// EndsSession reports whether an event of this type ends a session, or its present turn.
func (t EventType) EndsSession() bool {
	switch t {
	case EventSessionCompleted, EventSessionFailed, EventSessionCancelled:
		return true
	}
	return false
}

// A Cursor is a position in a stream of events. It is opaque, and valid only for the stream that returned it.
// The zero value means no position.
type Cursor string

// Beginning is the position before the first event of every stream.
const Beginning Cursor = "0"

// Events is the interface to the history.
type Events interface {
	// Events returns the events of a session, or of every session that this principal may read if sessionID
	// is "". With a cursor, the first event is the event after the cursor. Without a cursor, the first event
	// is an [EventSnapshot] of the present state. An EventSnapshot also replaces events that were deleted.
	//
	// Each event is returned once, in order, until ctx ends or a read fails. Then the last pair has an error.
	Events(ctx context.Context, sessionID string, after Cursor) iter.Seq2[Event, error]
}
