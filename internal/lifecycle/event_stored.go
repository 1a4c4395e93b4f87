package lifecycle

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/codec"
)

// DecodeEvent returns the event that [Event.Append] appended as data, in this or an earlier release. The type
// of the event was stored separately, as storedType.
func DecodeEvent(storedType string, data []byte) (Event, error) {
	e := Event{Type: eventType(storedType)}
	var err error
	if string(data) != "{}" {
		err = codec.ReadStored(data, e.read)
	}
	if e.State == "" {
		e.State = e.UsualState()
	}
	return e, err
}

// UsualState returns the usual State of a change of a state. Almost every change has this State, and an event
// with this State is stored without it. For events of other types, UsualState returns "".
func (e Event) UsualState() string {
	switch {
	case e.Type != askback.EventStateChange:
		return ""
	case e.Ask != "":
		return "awaiting_user_response"
	}
	return "llm_requesting"
}

// eventType returns the event type for a stored type. Older databases contain
// "answer_received", which is now "answer_acked".
func eventType(stored string) askback.EventType {
	if stored == "answer_received" {
		return askback.EventAnswerAcked
	}
	return askback.EventType(stored)
}
