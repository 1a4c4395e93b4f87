package feed

import (
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/lifecycle"
)

// EventData returns the data of an event about an ask.
func (e *Service) EventData(h lifecycle.Event, a askback.Ask) (json.RawMessage, error) {
	return e.eventData(h, &txn.AskRecord{State: lifecycle.AskState{Ask: a}})
}
