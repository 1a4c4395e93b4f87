package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/dialect"
)

// unnamed is the error for an approval that does not say of what: the id of the
// confirmation it would have approved.
type unnamed string

// Error says how to approve it.
func (u unnamed) Error() string {
	return fmt.Sprintf("a confirmation is approved by its own id only: send \"question_id\": %q", string(u))
}

// answerText settles an ask of a session by one text (wire.md §3). It
// returns the ask as it was found, and as it stands where it came with an error.
func (c *call) answerText(session string) (found, now askback.Ask, err error) {
	t, err := dialect.ReadTextAnswer(c.body)
	if err != nil {
		return found, now, err
	}
	if found, err = c.meant(session, t); err != nil {
		return found, now, err
	}
	answer, err := dialect.Text(found, t.Answer)
	switch {
	case err != nil && found.Settled():
		return found, found, askback.ErrSettled
	case err != nil:
		return found, found, err
	case t.QuestionID == "" && found.Kind == askback.Confirm && answer.Decision != askback.Deny:
		return found, found, unnamed(found.ID) // it may be meant for one that was settled meanwhile
	}
	now, err = c.seat.Answer(c.r.Context(), found.ID, answer)
	return found, now, err
}

// meant is the ask that a text answer is for: the one it names, or the only one
// that is open (D2).
func (c *call) meant(session string, t dialect.TextAnswer) (askback.Ask, error) {
	if t.QuestionID == "" {
		open, err := c.openAsks(c.r.Context(), session)
		if err != nil {
			return askback.Ask{}, err
		}
		return dialect.Latest(open)
	}
	a, err := c.seat.Get(c.r.Context(), t.QuestionID)
	if err == nil && a.SessionID != session {
		err = askback.ErrNotFound
	}
	return a, err
}

// sessionAnswer serves POST /sessions/{id}/answer, refusals in its own form included.
func (c *call) sessionAnswer() error {
	_, now, err := c.answerText(c.id())
	var several dialect.Several
	var approval unnamed
	switch {
	case err == nil:
		return c.reply(http.StatusOK, dialect.Submitted())
	case errors.As(err, &approval):
		return c.reply(http.StatusConflict, dialect.SessionReply{Message: err.Error(), QuestionIDs: []string{string(approval)}})
	case errors.As(err, &several), errors.Is(err, askback.ErrSettled):
		return c.reply(http.StatusConflict, dialect.NotSubmitted(err, now))
	case errors.Is(err, askback.ErrNotFound):
		return c.reply(http.StatusNotFound, dialect.NotSubmitted(err, now))
	}
	return err
}

// pendingQuestion serves GET /sessions/{id}/pending-question: the oldest open ask.
func (c *call) pendingQuestion() error {
	if _, err := c.seat.Session(c.r.Context(), c.id()); err != nil {
		return err
	}
	open, err := c.asksOf(c.r.Context(), askback.Query{SessionID: c.id()}, 1)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, dialect.Pending(open))
}

// resumeContext tells an agent whose turn ended what was settled since (wire.md
// §6).
func (c *call) resumeContext() error {
	s, err := c.seat.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	asks, err := c.asksOf(c.r.Context(), askback.Query{SessionID: s.ID, Status: askback.AnyStatus}, maxSettled)
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
	return c.text(dialect.ResumeContext(s, asks) + "\n")
}

// maxSettled is how many asks of one session a resume context looks at, the
// newest ones.
const maxSettled = 1000
