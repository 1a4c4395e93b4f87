package compat

import (
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
)

// TextAnswer is the body of POST /sessions/{id}/answer and POST /agent/answer/{id}:
// the id of an ask, and one text for all of it.
type TextAnswer struct {
	QuestionID string // "" is the only open ask
	Answer     string
}

// ReadTextAnswer reads {"question_id", "answer"}. What the text means depends on
// the ask: see [Text].
func ReadTextAnswer(raw []byte) (TextAnswer, error) {
	b, n, err := parse(raw)
	if err != nil {
		return TextAnswer{}, err
	}
	var out TextAnswer
	said := false
	b.fields(n, `{"question_id": "latest", "answer": "SQLite"}`, map[string]func(node){
		"question_id": b.text(&out.QuestionID),
		"answer": func(n node) {
			said = true
			b.text(&out.Answer)(n)
		},
	})
	if !said {
		b.wrong("/answer", "there is no answer", `"answer": "SQLite"`)
	}
	if out.QuestionID == "latest" {
		out.QuestionID = ""
	}
	return out, b.err()
}

// Several is the error for an answer that names no ask where more than one is
// open: their ids. An answer must never reach a question nobody has read.
type Several []string

// Error names them.
func (s Several) Error() string {
	return "several questions are open, name one: " + strings.Join(s, ", ")
}

// Latest returns the ask that an answer without an id is for: the only open one.
// It fails with [askback.ErrNotFound] or [Several].
func Latest(open []askback.Ask) (askback.Ask, error) {
	switch len(open) {
	case 0:
		return askback.Ask{}, askback.ErrNotFound
	case 1:
		return open[0], nil
	}
	var ids Several
	for _, a := range open {
		ids = append(ids, a.ID)
	}
	return askback.Ask{}, ids
}

// SessionReply is the reply to POST /sessions/{id}/answer.
type SessionReply struct {
	Success     bool             `json:"success"`
	Message     string           `json:"message"`
	AskID       string           `json:"ask_id,omitempty"`
	Outcome     *askback.Outcome `json:"outcome,omitempty"`
	QuestionIDs []string         `json:"question_ids,omitempty"` // those that are open
}

// Submitted says that the answer counts.
func Submitted() SessionReply { return SessionReply{Success: true, Message: "Answer submitted"} }

// NotSubmitted says that the answer does not count, and why. The ask is the one
// that came with [askback.ErrSettled]; for other errors it is not looked at.
func NotSubmitted(err error, ask askback.Ask) SessionReply {
	out := SessionReply{Message: err.Error()}
	var several Several
	switch {
	case errors.As(err, &several):
		out.QuestionIDs = several
	case errors.Is(err, askback.ErrSettled) && ask.Outcome != nil:
		out.AskID, out.Outcome = ask.ID, ask.Outcome
		out.Message = fmt.Sprintf("%v: it was %s by %s", askback.ErrSettled, ask.Outcome.Status, ask.Outcome.Actor)
	case errors.Is(err, askback.ErrNotFound):
		out.Message = "no question is open here"
	}
	return out
}

// PendingQuestion is the reply to GET /sessions/{id}/pending-question.
type PendingQuestion struct {
	Pending    bool               `json:"has_pending_question"`
	QuestionID *string            `json:"question_id"`
	Questions  []askback.Question `json:"questions"`
	CreatedAt  stamp              `json:"created_at"`
}

// Pending says which of the open asks of a session to answer first: the oldest.
func Pending(open []askback.Ask) PendingQuestion {
	if len(open) == 0 {
		return PendingQuestion{Questions: []askback.Question{}}
	}
	oldest := open[0]
	for _, a := range open[1:] {
		if a.CreatedAt.Before(oldest.CreatedAt) {
			oldest = a
		}
	}
	return PendingQuestion{true, &oldest.ID, oldest.Form(), stamp{oldest.CreatedAt}}
}
