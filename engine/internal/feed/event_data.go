package feed

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/codec"
)

// eventData returns the data of an event (docs/wire.md §4). The argument of is the ask of the event, or nil.
// The questions and the outcome are taken from it, because the history does not store them.
func (e *Service) eventData(h lifecycle.Event, of *txn.AskRecord) (json.RawMessage, error) {
	var a askback.Ask
	if of != nil {
		a = of.State.Ask
	}
	a = e.WithPageURL(a)
	w := dataWriter{b: append(make([]byte, 0, dataSize), '{')}
	switch h.Type {
	case askback.EventQuestionPending:
		w.about(a)
		list(&w, "questions", a.Form(), askback.Question.AppendJSON)
		w.noun("ask", initialAsk(a).AppendJSON)
	case askback.EventQuestionClaimed:
		w.about(a)
		w.text("by", h.By)
	case askback.EventQuestionVoted, askback.EventQuestionReminded, askback.EventQuestionEscalated,
		askback.EventQuestionReassigned:
		w.routed(h, a)
	case askback.EventQuestionAnswered, askback.EventQuestionDeclined, askback.EventQuestionCancelled,
		askback.EventQuestionExpired:
		w.about(a)
		pointer(&w, "outcome", a.Outcome, askback.Outcome.AppendJSON)
	case askback.EventQuestionConsumed:
		w.about(a)
		w.text("digest", h.Digest)
	case askback.EventAnswerAcked, askback.EventQuestionRepeated:
		w.about(a)
	case askback.EventAnswerRefused:
		w.about(a)
		w.text("by", h.By)
		w.text("why", h.Why)
	case askback.EventAnswerHeld, askback.EventAnswerUndone:
		w.routed(h, a)
	default:
		w.sessionEvent(h, a)
	}
	return append(w.b, '}'), w.err
}

// routed appends the data of an event about an ask. It appends the ids, and the fields By, Decision, To and
// Why if they are set.
func (w *dataWriter) routed(h lifecycle.Event, a askback.Ask) {
	w.about(a)
	if h.By != "" {
		w.text("by", h.By)
	}
	if h.Decision != "" {
		w.text("decision", string(h.Decision))
	}
	if len(h.To) > 0 {
		w.b = codec.AppendStrings(codec.AppendName(w.b, "to"), h.To)
	}
	if h.Why != "" {
		w.text("why", h.Why)
	}
}

// sessionEvent appends the data of an event about a session, a delivery or a grant.
func (w *dataWriter) sessionEvent(h lifecycle.Event, a askback.Ask) {
	switch h.Type {
	case askback.EventStateChange:
		w.text("type", h.State)
		list(w, "questions", a.Form(), askback.Question.AppendJSON)
	case askback.EventMessage:
		w.text("role", string(h.Role))
		if h.By != "" {
			w.text("by", h.By)
		}
		w.text("text", h.Text)
		w.b = strconv.AppendBool(codec.AppendName(w.b, "final"), h.Final)
	case askback.EventMessageQueued:
		if h.By != "" {
			w.text("by", h.By)
		}
		w.text("text", h.Text)
	case askback.EventToolInput, askback.EventToolStart, askback.EventToolComplete:
		w.toolEvent(h)
	case askback.EventTodosChanged:
		list(w, "todos", h.Todos, askback.Todo.AppendJSON)
	case askback.EventDeliverySent, askback.EventDeliveryFailed, askback.EventDeliveryQueued,
		askback.EventDeliverySkipped:
		if h.Delivery == nil {
			w.about(a)
			break
		}
		if h.Delivery.AskID != "" {
			w.text("question_id", h.Delivery.AskID)
		} else {
			w.b = append(codec.AppendName(w.b, "question_id"), "null"...)
		}
		w.text("session_id", h.Delivery.SessionID)
		w.noun("delivery", h.Delivery.AppendJSON)
	default:
		if h.Session != nil {
			w.noun("session", h.Session.AppendJSON)
		}
		if h.Grant != nil {
			w.noun("grant", h.Grant.AppendJSON)
		}
		if h.By != "" {
			w.text("by", h.By)
		}
	}
}

// toolEvent appends the data of an event about a tool call.
func (w *dataWriter) toolEvent(h lifecycle.Event) {
	w.text("call_id", "call_"+strconv.Itoa(h.Call)) // the ids that models choose are not unique
	w.text("name", h.Tool)
	switch h.Type {
	case askback.EventToolInput:
		w.noun("input", func(b []byte) ([]byte, error) { return append(b, cmp.Or(string(h.Input), "{}")...), nil })
	case askback.EventToolComplete:
		w.b = strconv.AppendBool(codec.AppendName(w.b, "is_error"), h.IsError)
		w.text("output", h.Text)
	}
}

// dataSize is the capacity for the data of an event. It is enough for most events.
const dataSize = 1024

// A dataWriter writes the members of an object. After an error the object is not complete.
type dataWriter struct {
	b   []byte
	err error
}

// about appends the ids of an ask and of its session.
func (w *dataWriter) about(a askback.Ask) {
	w.text("question_id", a.ID)
	w.text("session_id", a.SessionID)
}

func (w *dataWriter) text(name, s string) {
	w.b = codec.AppendString(codec.AppendName(w.b, name), s)
}

// noun appends the name of a member, and then its value with appendJSON.
func (w *dataWriter) noun(name string, appendJSON func([]byte) ([]byte, error)) {
	b, err := appendJSON(codec.AppendName(w.b, name))
	w.b, w.err = b, cmp.Or(w.err, err)
}

// list appends a member whose value is an array. The function one appends an element.
func list[T any](w *dataWriter, name string, values []T, one func(T, []byte) ([]byte, error)) {
	w.noun(name, func(b []byte) ([]byte, error) { return codec.AppendList(b, values, one) })
}

// pointer appends a member whose value one appends, or null if value is nil.
func pointer[T any](w *dataWriter, name string, value *T, one func(T, []byte) ([]byte, error)) {
	w.noun(name, func(b []byte) ([]byte, error) { return codec.AppendPointer(b, value, one) })
}

// initialAsk returns an ask as it was opened, but with its present recipients.
func initialAsk(a askback.Ask) askback.Ask {
	a.Votes = nil
	if len(a.FollowUps) > 0 {
		a.FollowUps = slices.Clone(a.FollowUps)
		for i := range a.FollowUps {
			a.FollowUps[i].DoneAt = time.Time{}
		}
	}
	a.Status, a.Outcome, a.Claims, a.AckedAt, a.ConsumedAt = askback.Pending, nil, nil, time.Time{}, time.Time{}
	return a
}
