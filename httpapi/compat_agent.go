package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/revision"
)

// maxRows is the approximate maximum of rows in a reply to GET /agent/questions, which has no next page. Open
// asks are sorted oldest first, so later asks follow when the first asks are settled.
const maxRows = 1000

// agentQuestions serves GET /agent/questions. It replies with a row for each ask.
func (c *call) agentQuestions() error {
	status, err := compat.QuestionStatus(c.r.URL.Query().Get("status"))
	if err != nil {
		return err
	}
	asks, err := c.asksOf(c.r.Context(), askback.Query{Status: status}, maxRows)
	if err != nil {
		return err
	}
	return c.result(compat.QuestionRows(asks))
}

// agentAnswer serves POST /agent/answer/{id}. The id is the id of a session. If a person has already answered
// or declined the ask, nothing changes. The reply is "already_answered" then, not an error.
func (c *call) agentAnswer() error {
	if _, err := c.client.Session(c.r.Context(), c.id()); err != nil {
		return err
	}
	found, now, err := c.answerText(c.id())
	var several compat.SeveralOpenError
	switch {
	case found.Settled() && (err == nil || errors.Is(err, askback.ErrSettled)):
		return c.replyLate(found)
	case errors.Is(err, askback.ErrSettled):
		return c.replyLate(now)
	case errors.As(err, &several):
		return ambiguousAnswer(several, err.Error())
	case err != nil:
		return err
	}
	return c.reply(http.StatusOK, compat.ResumedReply(c.id()))
}

// replyLate replies to an answer for an ask that is already settled. If no person answered or declined the
// ask, it returns an error.
func (c *call) replyLate(a askback.Ask) error {
	s, err := c.client.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	late, err := compat.LateReply(a, s.Ended())
	if err != nil {
		return c.replySettled(revision.Copy(a, err))
	}
	return c.reply(http.StatusOK, late)
}

// agentSession serves GET /agent/session/{id}.
func (c *call) agentSession() error {
	s, err := c.client.Session(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	last, err := c.sessionResult(s)
	if err != nil {
		return err
	}
	return c.result(compat.SessionRow(s, last))
}

// sessionResult returns the result of a session as text. If the session has no result, it returns the last
// message of the agent, or "". Unless the client is a [lastMessager], it reads only the first page of
// messages.
func (c *call) sessionResult(s askback.Session) (string, error) {
	if len(s.Result) > 0 {
		var text string
		if json.Unmarshal(s.Result, &text) == nil {
			return text, nil
		}
		return string(s.Result), nil
	}
	if l, ok := revision.In[lastMessager](c.client); ok {
		return l.LastMessage(c.r.Context(), s.ID)
	}
	page, err := c.client.Messages(c.r.Context(), s.ID, "", askback.MaxLimit)
	last := ""
	for _, m := range page.Items {
		if m.Role == askback.RoleAssistant {
			last = m.Text
		}
	}
	return last, err
}

// A lastMessager is a client that returns the last message of the agent in a session without
// reading all messages.
type lastMessager interface {
	LastMessage(ctx context.Context, session string) (string, error)
}
