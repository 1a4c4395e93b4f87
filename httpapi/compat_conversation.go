package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/internal/wire/revision"
)

// respond serves POST /conversations/{id}/respond. The body names each question by its text. A body that
// contains only the agent's description of a call does not approve the call.
func (c *call) respond() error {
	if _, err := c.client.Session(c.r.Context(), c.id()); err != nil {
		return err
	}
	if _, err := jcs.Parse(c.body); err != nil {
		return err
	}
	open, err := c.openAsks(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	if len(open) == 0 {
		return problem{Status: http.StatusConflict, Type: "nothing-waits", Detail: "this conversation has no open ask"}
	}
	ask, answer, err := matchAnswer(c.body, open)
	if err != nil {
		return badRequest(err)
	}
	named := answer.Decision == askback.Approve && compat.NamesApproval(c.body, ask)
	if ask.Kind == askback.Confirm && answer.Decision != askback.Deny && !named {
		return ambiguousAnswer([]string{ask.ID}, "this body has only the agent's description of the call: "+
			"approve by POST "+base+"/asks/{id}/answer, or on the page")
	}
	settled, err := revision.Of(c.client).AnswerRevision(c.r.Context(), ask.ID, answer)
	return badRequest(c.replySettled(settled, err))
}

// matchAnswer finds the ask in open that raw answers. It returns the ask and the answer. If raw matches no
// ask, it returns the error for the first ask. If raw matches several asks, the error contains the ids of
// these asks.
func matchAnswer(raw []byte, open []askback.Ask) (ask askback.Ask, answer askback.Answer, err error) {
	var fit compat.SeveralOpenError
	var wrong error
	for _, a := range open {
		got, err := compat.Respond(raw, a)
		switch {
		case err == nil:
			ask, answer, fit = a, got, append(fit, a.ID)
		case wrong == nil:
			wrong = err
		}
	}
	switch len(fit) {
	case 0:
		return ask, answer, wrong
	case 1:
		return ask, answer, nil
	}
	return ask, answer, ambiguousAnswer(fit, fit.Error())
}

// badRequest returns a problem with status 400 for an invalid answer, as clients of
// /conversations expect. It returns any other error unchanged.
func badRequest(err error) error {
	var invalid askback.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	p := problemOf(err)
	p.Status = http.StatusBadRequest
	return p
}

// ambiguousAnswer returns the problem for an answer that may be meant for another ask. ids are the ids of the
// asks from which the client must choose.
func ambiguousAnswer(ids []string, detail string) problem {
	return problem{Status: http.StatusConflict, Type: "which-ask", Detail: detail, QuestionIDs: ids}
}

// openAsks returns the open asks of a session that the principal may see, oldest first. It reads no further
// page once it has maxOpen asks.
func (c *call) openAsks(ctx context.Context, session string) ([]askback.Ask, error) {
	return c.asksOf(ctx, askback.Query{SessionID: session}, maxOpen)
}

// maxOpen is the number of open asks of a session after which no further page is read.
const maxOpen = 200

// maxPages is the maximum number of pages that asksOf reads. It limits the memory of one list. A page ends at
// 4 MB or 200 asks, so 8 pages are enough for 1000 asks of common size.
const maxPages = 8

// asksOf returns the asks of the first pages of a query. It reads pages until it has enough
// asks, but at most maxPages.
func (c *call) asksOf(ctx context.Context, q askback.Query, enough int) (out []askback.Ask, err error) {
	q.Limit = askback.MaxLimit
	for range maxPages {
		page, err := c.client.List(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if q.Cursor = page.NextCursor; q.Cursor == "" || len(out) >= enough {
			return out, nil
		}
	}
	return out, nil
}
