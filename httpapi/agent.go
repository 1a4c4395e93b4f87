package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/dialect"
)

// maxRows is how many rows GET /agent/questions returns, about: it has no next page.
// Open asks come oldest first, so the rest comes up as these are settled.
const maxRows = 1000

// agentQuestions serves GET /agent/questions: a row for each ask.
func (c *call) agentQuestions() error {
	status, err := dialect.QuestionStatus(c.r.URL.Query().Get("status"))
	if err != nil {
		return err
	}
	asks, err := c.asksOf(c.r.Context(), askback.Query{Status: status}, maxRows)
	if err != nil {
		return err
	}
	rows, err := dialect.Rows(asks)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, rows)
}

// agentAnswer serves POST /agent/answer/{session_id}. Only the first answer counts;
// a second one gets "already_answered" and no error.
func (c *call) agentAnswer() error {
	if _, err := c.seat.Session(c.r.Context(), c.id()); err != nil {
		return err
	}
	found, now, err := c.answerText(c.id())
	var several dialect.Several
	var approval unnamed
	switch {
	case found.Settled() && (err == nil || errors.Is(err, askback.ErrSettled)):
		return c.agentLate(found)
	case errors.Is(err, askback.ErrSettled):
		return c.agentLate(now)
	case errors.As(err, &several):
		return whichAsk(several, err.Error())
	case errors.As(err, &approval):
		return whichAsk([]string{string(approval)}, err.Error())
	case err != nil:
		return err
	}
	return c.reply(http.StatusOK, dialect.Resumed(c.id()))
}

// agentLate replies to an answer for an ask that was settled before.
func (c *call) agentLate(a askback.Ask) error {
	s, err := c.seat.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	late, err := dialect.Late(a, s.Ended())
	if err != nil {
		return c.settled(a, err)
	}
	return c.reply(http.StatusOK, late)
}

// agentSession serves GET /agent/session/{session_id}.
func (c *call) agentSession() error {
	s, err := c.seat.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	last, err := c.result(s)
	if err != nil {
		return err
	}
	row, err := dialect.SessionRow(s, last)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, row)
}

// result is what a run came to: what it said when it ended, else the last that
// it said.
func (c *call) result(s askback.Session) (string, error) {
	if len(s.Result) > 0 {
		var text string
		if json.Unmarshal(s.Result, &text) == nil {
			return text, nil
		}
		return string(s.Result), nil
	}
	for seat := c.seat; seat != nil; {
		if said, ok := seat.(lastSayer); ok {
			return said.LastSaid(c.r.Context(), s.ID)
		}
		outer, ok := seat.(interface{ Unwrap() askback.Seat })
		if !ok {
			break
		}
		seat = outer.Unwrap()
	}
	page, err := c.seat.Messages(c.r.Context(), s.ID, "", askback.MaxLimit)
	last := ""
	for _, m := range page.Items {
		if m.Role == askback.RoleAssistant {
			last = m.Text
		}
	}
	return last, err
}

// A lastSayer is a seat that finds what a run said last without reading all that it
// said.
type lastSayer interface {
	LastSaid(ctx context.Context, session string) (string, error)
}
