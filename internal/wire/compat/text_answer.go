package compat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback"
)

// A TextAnswer is the body of POST /sessions/{id}/answer and POST /agent/answer/{id}: the id of an ask, and
// its answer as a string.
type TextAnswer struct {
	QuestionID string // "" means the only open ask
	Answer     string
}

// ReadTextAnswer parses {"question_id", "answer"}. Without an id, or with the id "latest", the answer is for
// the only open ask. See [Text] for the meaning of the answer.
func ReadTextAnswer(raw []byte) (TextAnswer, error) {
	r, n, err := parse(raw)
	if err != nil {
		return TextAnswer{}, err
	}
	var out TextAnswer
	found := false
	r.fields(n, `{"question_id": "latest", "answer": "SQLite"}`, map[string]func(Node){
		"question_id": r.Text(&out.QuestionID),
		"answer": func(n Node) {
			found = true
			r.Text(&out.Answer)(n)
		},
	})
	if !found {
		r.Problem("/answer", "answer is missing", `"answer": "SQLite"`)
	}
	if out.QuestionID == "latest" {
		out.QuestionID = ""
	}
	return out, r.err()
}

// A SeveralOpenError is the error for an answer without an id if several asks are open. It contains the ids
// of these asks. An answer must never reach a question that the sender has not read.
type SeveralOpenError []string

// Error returns a message with the ids.
func (s SeveralOpenError) Error() string {
	return "several questions are open; send the question_id of one: " + strings.Join(s, ", ")
}

// OnlyOpenAsk returns the only open ask, for an answer without an id. The error is [askback.ErrNotFound] or
// [SeveralOpenError].
func OnlyOpenAsk(open []askback.Ask) (askback.Ask, error) {
	switch len(open) {
	case 0:
		return askback.Ask{}, askback.ErrNotFound
	case 1:
		return open[0], nil
	}
	var ids SeveralOpenError
	for _, a := range open {
		ids = append(ids, a.ID)
	}
	return askback.Ask{}, ids
}

// A SessionReply is the reply to POST /sessions/{id}/answer.
type SessionReply struct {
	Success     bool             `json:"success"`
	Message     string           `json:"message"`
	AskID       string           `json:"ask_id,omitempty"`
	Outcome     *askback.Outcome `json:"outcome,omitempty"`
	QuestionIDs []string         `json:"question_ids,omitempty"` // the open asks
}

// SubmittedReply returns the reply to an accepted answer.
func SubmittedReply() SessionReply { return SessionReply{Success: true, Message: "Answer submitted"} }

// RejectedReply returns the reply to a rejected answer. ask is used only if err is
// [askback.ErrSettled].
func RejectedReply(err error, ask askback.Ask) SessionReply {
	out := SessionReply{Message: err.Error()}
	var several SeveralOpenError
	switch {
	case errors.As(err, &several):
		out.QuestionIDs = several
	case errors.Is(err, askback.ErrSettled) && ask.Outcome != nil:
		out.AskID, out.Outcome = ask.ID, ask.Outcome
		out.Message = fmt.Sprintf("%v: it was %s by %s", askback.ErrSettled, ask.Outcome.Status, ask.Outcome.Actor)
	case errors.Is(err, askback.ErrNotFound):
		out.Message = "no question is open"
	}
	return out
}

// A PendingQuestion is the reply to GET /sessions/{id}/pending-question.
type PendingQuestion struct {
	Pending    bool               `json:"has_pending_question"`
	QuestionID *string            `json:"question_id"`
	Questions  []askback.Question `json:"questions"`
	CreatedAt  timestamp          `json:"created_at"`
}

// PendingReply returns the reply for the open asks of a session. It contains the oldest ask, if there is an
// open ask.
func PendingReply(open []askback.Ask) PendingQuestion {
	if len(open) == 0 {
		return PendingQuestion{Questions: []askback.Question{}}
	}
	oldest := slices.MinFunc(open, func(a, b askback.Ask) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return PendingQuestion{
		Pending: true, QuestionID: &oldest.ID, Questions: oldest.Form(), CreatedAt: timestamp{oldest.CreatedAt},
	}
}
