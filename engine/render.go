package engine

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
)

// eventData returns the data of an event (docs/wire.md §4). The questions and the
// outcome come from the ask: they never change, so history does not store them.
func eventData(h lifecycle.Event, a askback.Ask) (json.RawMessage, error) {
	type about struct {
		QuestionID string `json:"question_id"`
		SessionID  string `json:"session_id"`
	}
	this := about{a.ID, a.SessionID}
	switch h.Type {
	case askback.EventQuestionPending:
		return encode(struct {
			about
			Questions []askback.Question `json:"questions"`
			Ask       askback.Ask        `json:"ask"`
		}{this, a.Form(), initialAsk(a)})
	case askback.EventQuestionClaimed:
		return encode(struct {
			about
			By string `json:"by"`
		}{this, h.By})
	case askback.EventQuestionAnswered, askback.EventQuestionDeclined, askback.EventQuestionCancelled, askback.EventQuestionExpired:
		return encode(struct {
			about
			Outcome *askback.Outcome `json:"outcome"`
		}{this, a.Outcome})
	case askback.EventQuestionConsumed:
		return encode(struct {
			about
			Digest string `json:"digest"`
		}{this, h.Digest})
	case askback.EventAnswerAcked:
		return encode(this)
	case askback.EventAnswerRefused:
		return encode(struct {
			about
			By  string `json:"by"`
			Why string `json:"why"`
		}{this, h.By, h.Why})
	}
	return sessionEventData(h, a)
}

// sessionEventData returns the data of an event about a session or a grant.
func sessionEventData(h lifecycle.Event, a askback.Ask) (json.RawMessage, error) {
	switch h.Type {
	case askback.EventStateChange:
		return encode(struct {
			Type      string             `json:"type"`
			Questions []askback.Question `json:"questions"`
		}{h.State, append([]askback.Question{}, a.Form()...)})
	case askback.EventMessage:
		return encode(struct {
			Role  askback.Role `json:"role"`
			By    string       `json:"by,omitempty"`
			Text  string       `json:"text"`
			Final bool         `json:"final"`
		}{h.Role, h.By, h.Text, h.Final})
	case askback.EventTodosChanged:
		return encode(struct {
			Todos []askback.Todo `json:"todos"`
		}{append([]askback.Todo{}, h.Todos...)})
	}
	return encode(struct {
		Session *askback.Session `json:"session,omitempty"`
		Grant   *askback.Grant   `json:"grant,omitempty"`
		By      string           `json:"by,omitempty"`
	}{h.Session, h.Grant, h.By})
}

// initialAsk returns an ask as it was when it was opened.
func initialAsk(a askback.Ask) askback.Ask {
	a.Status, a.Outcome, a.Claims, a.AckedAt = askback.Pending, nil, nil, time.Time{}
	return a
}

// encode is json.Marshal without HTML escaping: it leaves <, > and & unchanged.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
