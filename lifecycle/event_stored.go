package lifecycle

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/codec"
)

// DecodeEvent returns the event that [Event.Append] appended as data, in this release or
// an older one. The type of the event was stored separately as storedType.
func DecodeEvent(storedType string, data []byte) (Event, error) {
	e := Event{Type: eventType(storedType)}
	if string(data) == "{}" {
		return e, nil
	}
	err := codec.ReadStored(data, e.read)
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
