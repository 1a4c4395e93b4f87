package lifecycle

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/codec"
)

// Append appends the event as JSON, without its type. It writes what json.Encoder writes
// for the tags of [Event] without HTML escaping.
func (e Event) Append(b []byte) (_ []byte, err error) {
	b = append(b, '{')
	b = appendText(b, "by", e.By)
	b = appendText(b, "via", e.Via)
	b = appendText(b, "why", e.Why)
	if b, err = appendNouns(b, "answers", e.Answers, askback.QuestionAnswer.AppendJSON); err != nil {
		return b, err
	}
	b = appendText(b, "comment", e.Comment)
	b = appendText(b, "decision", e.Decision)
	if len(e.Input) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, e.Input); err != nil {
			return b, err
		}
		b = append(codec.AppendName(b, "input"), compact.Bytes()...)
	}
	b = appendText(b, "reason", e.Reason)
	b = appendText(b, "digest", e.Digest)
	if e.Grant != nil {
		if b, err = e.Grant.AppendJSON(codec.AppendName(b, "grant")); err != nil {
			return b, err
		}
	}
	return e.appendSession(b)
}

// appendSession appends the fields of sessions and the end of the object.
func (e Event) appendSession(b []byte) (_ []byte, err error) {
	if e.Session != nil {
		if b, err = e.Session.AppendJSON(codec.AppendName(b, "session")); err != nil {
			return b, err
		}
	}
	b = appendText(b, "state", e.State)
	b = appendText(b, "ask", e.Ask)
	b = appendText(b, "role", e.Role)
	b = appendText(b, "text", e.Text)
	if e.Final {
		b = strconv.AppendBool(codec.AppendName(b, "final"), e.Final)
	}
	if b, err = appendNouns(b, "todos", e.Todos, askback.Todo.AppendJSON); err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

// appendText appends a member with a string, unless that is empty.
func appendText[T ~string](b []byte, name string, s T) []byte {
	if s == "" {
		return b
	}
	return codec.AppendString(codec.AppendName(b, name), s)
}

// appendNouns appends a member with an array, unless that is empty.
func appendNouns[T any](b []byte, name string, list []T, one func(T, []byte) ([]byte, error)) ([]byte, error) {
	if len(list) == 0 {
		return b, nil
	}
	return codec.AppendList(codec.AppendName(b, name), list, one)
}

// DecodeEvent returns the event that [Event.Append] appended as data, in this release or
// an older one. The type of the event was stored separately as storedType.
func DecodeEvent(storedType string, data []byte) (Event, error) {
	e := Event{Type: eventType(storedType)}
	if string(data) == "{}" {
		return e, nil
	}
	err := json.Unmarshal(data, &e)
	return e, err
}

// eventType returns the event type for a stored type. Older databases contain
// "answer_received", which is now "answer_acked".
func eventType(stored string) askback.EventType {
	if stored == "answer_received" {
		return askback.EventAnswerAcked
	}
	return askback.EventType(stored)
}
