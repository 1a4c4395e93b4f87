package httpapi

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/dialect"
)

// unanswered is what a client gets whose own words have none for how an ask
// stands.
type unanswered struct {
	Status     askback.Status `json:"status"`
	QuestionID string         `json:"question_id"`
	PageURL    string         `json:"page_url,omitempty"`
	Message    string         `json:"message"`
}

// dialectAsk asks in the words of a client's own ask tool, and replies in them.
func (c *call) dialectAsk() error {
	client, ok := dialect.ClientNamed(c.r.PathValue("name"))
	if !ok {
		return askback.ErrNotFound
	}
	wait, err := c.wait()
	if err != nil {
		return err
	}
	said, err := client.Ask(c.body)
	if err != nil {
		return mistaken(err)
	}
	r := said.Request
	r.Key = c.r.Header.Get("Idempotency-Key")
	a, err := c.seat.Ask(c.r.Context(), r)
	if err != nil {
		return err
	}
	if wait > 0 && !a.Settled() {
		// It is asked, whatever comes of the waiting.
		if waited, err := c.until(a.ID, wait); err == nil {
			a = waited
		}
	}
	result, err := said.Result(a)
	if err == nil && a.Kind == askback.Confirm && a.Outcome.Approved() {
		// Who is told to go on runs it: the approval is spent with the telling.
		if _, err := c.seat.Consume(c.r.Context(), a.ID, a.Outcome.Digest); err != nil {
			return err
		}
	}
	if err == nil {
		return c.reply(http.StatusOK, result)
	}
	var none *dialect.Unanswered
	if !errors.As(err, &none) {
		return err
	}
	status := http.StatusOK
	if !a.Settled() {
		status = http.StatusAccepted
	}
	return c.reply(status, unanswered{none.Status, a.ID, c.linked(a).PageURL, none.Error()})
}

// mistaken is the problem of an input that a client's tool would not take. Its
// detail is meant for a model, in the client's own words.
func mistaken(err error) error {
	p := describe(err)
	if p.Status == http.StatusInternalServerError {
		p = problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid}
	}
	p.Detail = err.Error()
	return p
}
