package engine

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
)

// rendered is a line of history in the words of wire.md §4. What the ask itself
// says is not in its lines: its questions and its outcome never change.
func rendered(h lifecycle.Entry, a askback.Ask) (json.RawMessage, error) {
	type about struct {
		QuestionID string `json:"question_id"`
		SessionID  string `json:"session_id"`
	}
	this := about{a.ID, a.SessionID}
	switch h.Type {
	case "question_pending":
		return encode(struct {
			about
			Questions []askback.Question `json:"questions"`
			Ask       askback.Ask        `json:"ask"`
		}{this, a.Form(), whenAsked(a)})
	case "question_claimed":
		return encode(struct {
			about
			By string `json:"by"`
		}{this, h.By})
	case "question_answered", "question_declined", "question_cancelled", "question_expired":
		return encode(struct {
			about
			Outcome *askback.Outcome `json:"outcome"`
		}{this, a.Outcome})
	case "question_consumed":
		return encode(struct {
			about
			Digest string `json:"digest"`
		}{this, h.Digest})
	case "answer_received":
		return encode(this)
	case "answer_refused":
		return encode(struct {
			about
			By  string `json:"by"`
			Why string `json:"why"`
		}{this, h.By, h.Why})
	}
	return renderedSession(h, a)
}

// renderedSession is a line about a session, or about a grant.
func renderedSession(h lifecycle.Entry, a askback.Ask) (json.RawMessage, error) {
	switch h.Type {
	case "state_change":
		questions := []askback.Question{}
		if h.Ask != "" {
			questions = a.Form()
		}
		return encode(struct {
			Type      string             `json:"type"`
			Questions []askback.Question `json:"questions"`
		}{h.State, questions})
	case "message":
		return encode(struct {
			Role  askback.Role `json:"role"`
			By    string       `json:"by,omitempty"`
			Text  string       `json:"text"`
			Final bool         `json:"final"`
		}{h.Role, h.By, h.Text, h.Final})
	case "todos_changed":
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

// whenAsked is an ask as it was when it was asked.
func whenAsked(a askback.Ask) askback.Ask {
	a.Status, a.Outcome, a.Claims, a.ReceivedAt = askback.Pending, nil, nil, time.Time{}
	return a
}

// encode is json.Marshal that leaves <, > and & as they were written.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
