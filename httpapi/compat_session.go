package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
)

// answerText answers an ask of a session with the text in the body (docs/wire.md §3). It returns the ask
// before and after the answer. It approves a confirmation only if the body contains the id of the ask.
func (c *call) answerText(session string) (found, now askback.Ask, err error) {
	t, err := compat.ReadTextAnswer(c.body)
	if err != nil {
		return found, now, err
	}
	if found, err = c.findAsk(session, t); err != nil {
		return found, now, err
	}
	answer, err := compat.Text(found, t.Answer)
	switch {
	case err != nil && found.Settled():
		return found, found, askback.ErrSettled
	case err != nil:
		return found, found, err
	case t.QuestionID == "" && found.Kind == askback.Confirm && answer.Decision != askback.Deny:
		// The answer may be meant for another ask, which was just settled.
		return found, found, ambiguousAnswer([]string{found.ID},
			fmt.Sprintf("a confirmation can only be approved by its id: send \"question_id\": %q", found.ID))
	}
	now, err = c.client.Answer(c.r.Context(), found.ID, answer)
	return found, now, err
}

// findAsk returns the ask of the session with the id in t. If t has no id, it returns the only open ask of
// the session (D2).
func (c *call) findAsk(session string, t compat.TextAnswer) (askback.Ask, error) {
	if t.QuestionID == "" {
		open, err := c.openAsks(c.r.Context(), session)
		if err != nil {
			return askback.Ask{}, err
		}
		return compat.OnlyOpenAsk(open)
	}
	a, err := c.client.Get(c.r.Context(), t.QuestionID)
	if err == nil && a.SessionID != session {
		err = askback.ErrNotFound
	}
	return a, err
}

// sessionAnswer serves POST /sessions/{id}/answer. Its replies with status 404 and 409 have
// the format of [compat.SessionReply].
func (c *call) sessionAnswer() error {
	_, now, err := c.answerText(c.id())
	var several compat.SeveralOpenError
	var approval problem
	switch {
	case err == nil:
		return c.reply(http.StatusOK, compat.SubmittedReply())
	case errors.As(err, &approval) && approval.QuestionIDs != nil:
		return c.reply(http.StatusConflict,
			compat.SessionReply{Message: approval.Detail, QuestionIDs: approval.QuestionIDs})
	case errors.As(err, &several), errors.Is(err, askback.ErrSettled):
		return c.reply(http.StatusConflict, compat.RejectedReply(err, now))
	case errors.Is(err, askback.ErrNotFound):
		return c.reply(http.StatusNotFound, compat.RejectedReply(err, now))
	}
	return err
}

// pendingQuestion serves GET /sessions/{id}/pending-question. It replies with the oldest
// open ask of the session, if there is one.
func (c *call) pendingQuestion() error {
	if _, err := c.client.Session(c.r.Context(), c.id()); err != nil {
		return err
	}
	open, err := c.asksOf(c.r.Context(), askback.Query{SessionID: c.id()}, 1)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, compat.PendingReply(open))
}

// resumeContext replies with the asks of a session that were settled since the last
// resume, as text for the agent (docs/wire.md §6).
func (c *call) resumeContext() error {
	s, err := c.client.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	asks, err := c.asksOf(c.r.Context(), askback.Query{SessionID: s.ID, Status: askback.AnyStatus}, maxResumeAsks)
	if err != nil {
		return err
	}
	asks = slices.DeleteFunc(asks, func(a askback.Ask) bool { return !a.Settled() || a.Outcome.At.Before(s.ResumedAt) })
	slices.SortFunc(asks, func(a, b askback.Ask) int {
		if order := a.Outcome.At.Compare(b.Outcome.At); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return c.replyRaw("text/plain; charset=utf-8", []byte(compat.ResumeContext(s, asks)+"\n"))
}

// maxResumeAsks is the number of asks that a resume context needs at most. The newest asks of the session are
// read first, in whole pages.
const maxResumeAsks = 1000
