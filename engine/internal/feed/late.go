package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/reports"
	"github.com/askback/askback/store"
)

// LateAnswers implements [reports.Reader] (F6). It searches the newest MaxScanned events of the session.
func (c *Client) LateAnswers(ctx context.Context, id string) (late []reports.LateAnswer, more bool, err error) {
	late, more, err = c.lateAnswers(ctx, id)
	if err != nil {
		return nil, false, fmt.Errorf("late answers of %s: %w", id, err)
	}
	slices.Reverse(late)
	return late, more, nil
}

// lateAnswers returns the late answers to an ask, or to the asks of a session, newest first. If more is set,
// older events were not searched.
func (c *Client) lateAnswers(ctx context.Context, id string) (late []reports.LateAnswer, more bool, err error) {
	session, want := id, -1
	if ids.Valid(ids.Ask, id) {
		a, err := c.service.Read(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if err := c.AuthorizeAsk(access.ActGet, &a.State); err != nil {
			return nil, false, err
		}
		session, want = a.State.Ask.SessionID, a.State.Refused
	} else if _, err := c.FindSession(ctx, access.ActFollow, id); err != nil {
		return nil, false, err
	}
	before := int64(0)
	for looked := 0; len(late) != want; looked += txn.HistoryChunk {
		if looked >= txn.MaxScanned {
			return late, true, nil
		}
		rows, err := c.service.Store.Recent(ctx, session, before, txn.HistoryChunk)
		if err != nil {
			return nil, false, txn.FromStore(err)
		}
		for _, row := range rows {
			before = row.Seq
			if row.Type != string(askback.EventAnswerRefused) || want >= 0 && row.Subject != id {
				continue
			}
			one, ok, err := c.lateAnswer(ctx, row)
			if err != nil {
				return nil, false, err
			}
			if ok {
				late = append(late, one)
			}
		}
		if len(rows) < txn.HistoryChunk {
			break
		}
	}
	return late, false, nil
}

// lateAnswer returns the late answer that an event records. It reports false if the principal may not see its
// ask, or if the event or the ask cannot be read.
func (c *Client) lateAnswer(ctx context.Context, row store.Event) (late reports.LateAnswer, ok bool, err error) {
	h, ok := c.service.DecodeEvent(row)
	if !ok {
		return late, false, nil
	}
	a, err := c.service.Read(ctx, row.Subject)
	switch {
	case errors.Is(err, askback.ErrNotFound), errors.Is(err, askback.ErrDamaged), errors.Is(err, txn.ErrUnreadable):
		return late, false, nil
	case err != nil:
		return late, false, err
	}
	return reports.LateAnswer{
		AskID: row.Subject, Name: h.By, Channel: h.Via, At: row.At,
		Answer: askback.Answer{
			Answers: h.Answers, Comment: h.Comment, Decision: h.Decision, Input: h.Input, Reason: h.Reason,
		},
	}, c.AuthorizeAsk(access.ActGet, &a.State) == nil, nil
}
