package compat

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
)

// A Callback is the body of an outgoing webhook about an ask (docs/wire.md §8). Question has the form of
// [AgentQuestion], and Questions has all questions of the ask.
type Callback struct {
	Event     askback.EventType  `json:"event"`
	SessionID string             `json:"session_id"`
	AgentName string             `json:"agent_name"`
	Title     *string            `json:"title"` // null if the ask has no title
	Question  CallbackQuestion   `json:"question"`
	Questions []askback.Question `json:"questions"`
	AnswerURL *string            `json:"answer_url"` // null if the server has no public address
	PageURL   *string            `json:"page_url"`
	Outcome   *askback.Outcome   `json:"outcome,omitempty"` // unless the event is question_pending
}

// A CallbackQuestion is an ask in a [Callback], with the fields of [AgentQuestion].
type CallbackQuestion struct {
	ID      string          `json:"id"`
	Text    string          `json:"text"`
	Options []string        `json:"options"`
	Context json.RawMessage `json:"context"`
}

// A SessionCallback is the body of an outgoing webhook about a session (docs/wire.md §8).
type SessionCallback struct {
	Event     askback.EventType `json:"event"`
	SessionID string            `json:"session_id"`
	AgentName string            `json:"agent_name"`
	Session   askback.Session   `json:"session"`  // the session after the event
	PageURL   *string           `json:"page_url"` // null if the server has no public address
}

// SessionCallbackOf returns the body for an event of a session. page is the address of the session's page, or
// "".
func SessionCallbackOf(event askback.EventType, s askback.Session, page string) SessionCallback {
	out := SessionCallback{Event: event, SessionID: s.ID, AgentName: s.Agent, Session: s}
	if page != "" {
		out.PageURL = &page
	}
	return out
}

// CallbackOf returns the body for an event of an ask. It has the outcome only if the event
// settles the ask.
func CallbackOf(event askback.EventType, a askback.Ask) (Callback, error) {
	r, err := row(a)
	if err != nil {
		return Callback{}, err
	}
	out := Callback{
		Event: event, SessionID: a.SessionID, AgentName: a.Agent, Questions: r.Questions,
		Question: CallbackQuestion{r.ID, r.Question, r.Options, r.Context},
	}
	if a.Title != "" {
		out.Title = &a.Title
	}
	if base, ok := strings.CutSuffix(a.PageURL, askback.PagePath(a.ID)); ok && base != "" {
		answers := base + "/agent/answer/" + a.SessionID
		out.AnswerURL, out.PageURL = &answers, &a.PageURL
	}
	if event.Settles() {
		out.Outcome = a.Outcome
	}
	return out, nil
}
