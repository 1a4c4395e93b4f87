package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/wire/compat"
)

// An unansweredReply is the reply for an ask whose state cannot be expressed in the format of a client.
type unansweredReply struct {
	Status     askback.Status `json:"status"`
	QuestionID string         `json:"question_id"`
	PageURL    string         `json:"page_url,omitempty"`
	Message    string         `json:"message"`
}

// dialectAsk serves POST /dialects/{name}/ask. It accepts the input of the ask tool that the named client
// has, and replies in the format of the tool's result. The reply consumes the approvals in it. With the same
// idempotency key, a lost reply is returned again, although its approvals are consumed already. If the format
// cannot express the state of an ask, the reply is an [unansweredReply]. Its status is 202 while the ask is
// open.
func (c *call) dialectAsk() error {
	client, ok := agents.DialectNamed(c.r.PathValue("name"))
	if !ok {
		return askback.ErrNotFound
	}
	wait, err := c.waitParam()
	if err != nil {
		return err
	}
	in, err := client.Read(c.body)
	if err != nil {
		return inputProblem(err)
	}
	asks, used, err := c.dialectAsks(in, wait)
	if err != nil {
		return err
	}
	result, err := in.Result(asks)
	if err == nil {
		for i, a := range asks {
			if a.Kind != askback.Confirm || !a.Outcome.Approved() || used[i] {
				continue
			}
			// The client runs the tool when it gets this reply, so the approval is consumed now.
			if _, err := c.client.Consume(c.r.Context(), a.ID, a.Outcome.Digest); err != nil {
				return err
			}
		}
		return c.reply(http.StatusOK, result)
	}
	var unanswered *compat.Unanswered
	if !errors.As(err, &unanswered) {
		return err
	}
	status, first := http.StatusOK, asks[0]
	for _, a := range asks {
		if a.Status == unanswered.Status {
			first = a
			break
		}
	}
	if !first.Settled() {
		status = http.StatusAccepted
	}
	return c.reply(status, unansweredReply{
		Status: unanswered.Status, QuestionID: first.ID, PageURL: c.withPageURL(first).PageURL,
		Message: unanswered.Error(),
	})
}

// dialectAsks makes an ask for each call of in, and waits at most for wait until all asks are settled. With
// an idempotency key, each ask has a key: the key of the request and, for several calls, the number of the
// call. If an ask cannot be made, a repeated request with the same key finds the earlier asks. Without a key,
// the earlier asks are withdrawn.
//
// used has an element for each ask: whether its approval was consumed before this request, by an earlier
// request with the same key. A request that runs at the same time is not an earlier one.
func (c *call) dialectAsks(in compat.Input, wait time.Duration) (asks []askback.Ask, used []bool, _ error) {
	key := c.r.Header.Get("Idempotency-Key")
	asks, used = make([]askback.Ask, len(in.Calls)), make([]bool, len(in.Calls))
	for i, call := range in.Calls {
		r := call.Request
		r.Key, r.TraceParent = key, c.traceParent()
		if key != "" && len(in.Calls) > 1 {
			r.Key = fmt.Sprintf("%s/%d of %d", key, i+1, len(in.Calls))
		}
		a, err := c.client.Ask(c.r.Context(), r)
		if err != nil {
			if key == "" {
				c.withdrawNew(asks[:i])
			}
			return nil, nil, err
		}
		asks[i], used[i] = a, a.Repeated && !a.ConsumedAt.IsZero()
	}
	until := time.Now().Add(wait)
	for i, a := range asks {
		left := time.Until(until)
		if left <= 0 || a.Settled() {
			continue
		}
		// The ask exists, so an error of the wait is ignored.
		if waited, err := c.waitFor(a.ID, left); err == nil {
			asks[i] = waited.Clone()
		}
	}
	return asks, used, nil
}

// withdrawNew withdraws the open asks that this request made, because no reply can name them.
func (c *call) withdrawNew(asks []askback.Ask) {
	for _, a := range asks {
		if !a.Repeated && !a.Settled() {
			// the error of the request is more useful
			_, _ = c.client.Cancel(context.WithoutCancel(c.r.Context()), a.ID,
				"Another call of the same request could not be asked about")
		}
	}
}

// inputProblem returns the problem for an input that the tool of the client would
// reject. Its detail is written for a model, in the format of that client.
func inputProblem(err error) error {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		p = problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid}
	}
	p.Detail = err.Error()
	return p
}
