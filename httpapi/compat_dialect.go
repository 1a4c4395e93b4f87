package httpapi

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/compat"
)

// unansweredReply is the reply for an ask whose state cannot be expressed in the format of
// a client.
type unansweredReply struct {
	Status     askback.Status `json:"status"`
	QuestionID string         `json:"question_id"`
	PageURL    string         `json:"page_url,omitempty"`
	Message    string         `json:"message"`
}

// dialectAsk serves POST /dialects/{name}/ask. It accepts the input of the ask tool that the
// named client has, and replies in the format of that tool's result.
func (c *call) dialectAsk() error {
	client, ok := compat.ClientNamed(c.r.PathValue("name"))
	if !ok {
		return askback.ErrNotFound
	}
	wait, err := c.waitParam()
	if err != nil {
		return err
	}
	call, err := client.Ask(c.body)
	if err != nil {
		return inputProblem(err)
	}
	r := call.Request
	r.Key, r.TraceParent = c.r.Header.Get("Idempotency-Key"), c.traceParent()
	a, err := c.client.Ask(c.r.Context(), r)
	if err != nil {
		return err
	}
	if wait > 0 && !a.Settled() {
		// The ask exists, so an error of the wait is ignored.
		if waited, err := c.waitFor(a.ID, wait); err == nil {
			a = waited.Clone()
		}
	}
	result, err := call.Result(a)
	if err == nil && a.Kind == askback.Confirm && a.Outcome.Approved() {
		// The client runs the tool when it gets this reply, so the approval is consumed now.
		if _, err := c.client.Consume(c.r.Context(), a.ID, a.Outcome.Digest); err != nil {
			return err
		}
	}
	if err == nil {
		return c.reply(http.StatusOK, result)
	}
	var unanswered *compat.Unanswered
	if !errors.As(err, &unanswered) {
		return err
	}
	status := http.StatusOK
	if !a.Settled() {
		status = http.StatusAccepted
	}
	return c.reply(status, unansweredReply{
		Status: unanswered.Status, QuestionID: a.ID, PageURL: c.withPageURL(a).PageURL, Message: unanswered.Error(),
	})
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
