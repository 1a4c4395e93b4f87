package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/internal/wire/revision"
)

// maxWait is the maximum of the wait parameter. To wait longer, a client repeats the request.
const maxWait = 60 * time.Second

// replyAsk replies with status 200 and the ask, with the address of the ask's page. If err is not nil, it
// returns err.
func (c *call) replyAsk(a *revision.Ask, err error) error {
	if err != nil {
		return err
	}
	return c.writeAsk(http.StatusOK, a)
}

// writeAsk replies with an ask and the address of the ask's page.
func (c *call) writeAsk(status int, a *revision.Ask) error {
	return c.replyJSON(status, func(b []byte) ([]byte, error) { return a.AppendJSON(b, c.h.options.PublicURL) })
}

// withPageURL returns the ask with the address of the ask's page, if the server has a public URL.
func (c *call) withPageURL(a askback.Ask) askback.Ask { return a.WithPageURL(c.h.options.PublicURL) }

// replySettled replies with the ask, or returns err. If err is [askback.ErrSettled] and there is an ask, it
// returns a problem that contains the ask.
func (c *call) replySettled(a *revision.Ask, err error) error {
	if a == nil || !errors.Is(err, askback.ErrSettled) {
		return c.replyAsk(a, err)
	}
	settled := c.withPageURL(*a.Ask)
	p := problemOf(err)
	p.AskID, p.Outcome, p.Ask = a.ID, a.Outcome, &settled
	return p
}

func (c *call) id() string { return c.r.PathValue("id") }

// waitParam returns the value of the wait parameter, at most maxWait. It returns 0 if the
// parameter is missing.
func (c *call) waitParam() (time.Duration, error) {
	d, err := c.durationParam(queryWait.Name, 0, queryWait.Example)
	return min(d, maxWait), err
}

// durationParam parses the query parameter with the given name. It returns absent if the parameter is
// missing. The error for an invalid value contains example.
func (c *call) durationParam(name string, absent time.Duration, example string) (time.Duration, error) {
	s := c.param(name)
	if s == "" {
		return absent, nil
	}
	d, err := askback.ParseDuration(s)
	if err != nil {
		return 0, askback.Invalid{{Pointer: "?" + name, Detail: err.Error(), Fix: name + "=" + example}}
	}
	return d, nil
}

// waitFor waits until an ask is settled, d has passed, the client disconnects or the server
// stops. It returns the ask in its current state. The error is not nil if the ask cannot be
// read, the client has disconnected, or its token is no longer valid.
func (c *call) waitFor(id string, d time.Duration) (*revision.Ask, error) {
	ctx := c.r.Context()
	a, err := revision.Of(c.client).WaitRevision(ctx, id, revision.Limit{Time: d, Stop: c.h.stopping})
	if err != nil || d == 0 {
		return a, err
	}
	return a, c.reauthenticate(context.WithoutCancel(ctx))
}

func (c *call) ask() error {
	wait, err := c.waitParam()
	if err != nil {
		return err
	}
	a, err := c.findOrAsk()
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if a.Repeated {
		status = http.StatusOK
	}
	c.body = nil // lets the garbage collector free the body during the wait
	if wait > 0 && a.Outcome == nil {
		// The ask exists, so an error of the wait is ignored.
		if waited, err := c.waitFor(a.ID, wait); err == nil {
			a = waited
		}
	}
	c.w.Header().Set("Location", base+"/asks/"+a.ID)
	return c.writeAsk(status, a)
}

// traceHeader is the header with a position in a trace (W3C Trace Context).
const traceHeader = "Traceparent"

// traceParent returns the position in a trace that the request is part of. It returns "" if the request has
// no valid position. As W3C Trace Context requires, an invalid position is ignored.
func (c *call) traceParent() string {
	if all := c.r.Header[traceHeader]; len(all) == 1 && askback.ValidTraceParent(all[0]) {
		return all[0]
	}
	return ""
}

// findOrAsk returns the ask that the body describes: a new ask, or the existing ask with the same key. The
// key may also be in the Idempotency-Key header.
//
//go:noinline
func (c *call) findOrAsk() (*revision.Ask, error) { // not inlined: its large frame must not be on the stack of a wait
	r, err := decode.Request(c.body)
	if err != nil {
		return nil, c.explain(err)
	}
	if header := c.r.Header.Get("Idempotency-Key"); header != "" {
		if r.Key != "" && r.Key != header {
			return nil, askback.Invalid{
				{
					Pointer: "/key", Detail: "the key in the body and the Idempotency-Key header differ",
					Fix: "send one of them",
				},
			}
		}
		r.Key = header
	}
	r.TraceParent = c.traceParent()
	a, err := revision.Of(c.client).AskRevision(c.r.Context(), r)
	if errors.Is(err, askback.ErrEnded) {
		p := problemOf(err)
		p.Detail = "the session " + cmp.Or(r.SessionID,
			"with the key "+strconv.Quote(r.SessionKey)) + " has ended; start another one with a new session_key"
		return nil, p
	}
	if err != nil {
		return nil, c.explain(err)
	}
	return a, nil
}

// explain returns the problem for an invalid request or body. It returns any other error unchanged. The
// detail of the problem is written for models: where the mistake is, what is expected, and a valid example
// (F15).
func (c *call) explain(err error) error {
	p := problemOf(err)
	if p.Type == typeInvalid || p.Type == typeSyntax {
		p.Detail = decode.Correction(c.body, err, decode.Body)
		return p
	}
	return err
}

func (c *call) get() error {
	wait, err := c.waitParam()
	if err != nil {
		return err
	}
	return c.replyAsk(c.waitFor(c.id(), wait))
}

func (c *call) list() error {
	q := askback.Query{
		Status: askback.Status(c.param("status")), Agent: c.param("agent"), SessionID: c.param("session_id"),
		To: c.param("to"), Search: c.param("q"), Key: c.param("key"), Cursor: c.param("cursor"),
		Tool: c.param("tool"), Tag: c.param("tag"), By: c.param("by"), Decision: askback.Decision(c.param("decision")),
	}
	q.Limit = limit(c.param("limit"))
	for name, at := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		if err := c.timeParam(name, at); err != nil {
			return err
		}
	}
	unacked, err := c.boolParam("unacked")
	if err != nil {
		return err
	}
	q.Unacked = unacked != nil && *unacked
	if q.Snoozed, err = c.boolParam("snoozed"); err != nil {
		return err
	}
	page, err := c.client.List(c.r.Context(), q)
	for i, a := range page.Items {
		page.Items[i] = c.withPageURL(a)
	}
	return c.result(page, err)
}

// timeParam parses the query parameter with the given name and stores the time in at. If the parameter is
// missing, at is unchanged.
func (c *call) timeParam(name string, at *time.Time) error {
	s := c.param(name)
	if s == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return askback.Invalid{
			{Pointer: "?" + name, Detail: "must be a time in RFC 3339 format", Fix: name + "=2026-11-03T18:30:00Z"},
		}
	}
	*at = t
	return nil
}

// boolParam returns the value of the query parameter with the given name, or nil if the parameter is missing.
func (c *call) boolParam(name string) (*bool, error) {
	switch c.param(name) {
	case "":
		return nil, nil
	case "true":
		return new(true), nil
	case "false":
		return new(false), nil
	}
	return nil, askback.Invalid{{Pointer: "?" + name, Detail: name + " must be true or false", Fix: name + "=true"}}
}

// limit parses s, the maximum number of items in a list. If s is "", it returns 0, which selects the default.
// If s is not a positive number, it returns -1, which the checks of queries reject.
func limit(s string) int {
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return -1
	}
	return n
}

func (c *call) answer() error {
	answer, hold, err := decode.AnswerOrHold(c.body)
	if err != nil {
		return err
	}
	if hold {
		return c.replyHeld(c.client.Hold(c.r.Context(), c.id(), answer))
	}
	return c.replySettled(revision.Of(c.client).AnswerRevision(c.r.Context(), c.id(), answer))
}

func (c *call) decline() error {
	reason, hold, err := decode.ReasonOrHold(c.body)
	if err != nil {
		return err
	}
	if hold {
		return c.replyHeld(c.client.HoldDecline(c.r.Context(), c.id(), reason))
	}
	return c.replySettled(revision.Copy(c.client.Decline(c.r.Context(), c.id(), reason)))
}

// replyHeld replies with the ask. The status is 202 if the answer of the principal is held, and 200 if the
// answer was sent immediately.
func (c *call) replyHeld(a askback.Ask, err error) error {
	if _, held := a.HeldBy(c.principal.Name); held && err == nil {
		return c.writeAsk(http.StatusAccepted, revision.New(&a, nil))
	}
	return c.replySettled(revision.Copy(a, err))
}

func (c *call) undo() error {
	return c.replySettled(revision.Copy(c.client.Undo(c.r.Context(), c.id())))
}

func (c *call) cancel() error { return c.settle(c.client.Cancel) }

// settle settles an ask by calling do with the reason from the body. It replies with the ask. If the ask was
// already settled, it returns a problem that contains the ask.
func (c *call) settle(do func(ctx context.Context, id, reason string) (askback.Ask, error)) error {
	reason, err := decode.Reason(c.body)
	if err != nil {
		return err
	}
	return c.replySettled(revision.Copy(do(c.r.Context(), c.id(), reason)))
}

func (c *call) claim() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.replySettled(revision.Copy(c.client.Claim(c.r.Context(), c.id())))
}

func (c *call) seen() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	if err := c.client.Seen(c.r.Context(), c.id()); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (c *call) reassign() error {
	r, err := decode.Reassignment(c.body)
	if err != nil {
		return err
	}
	return c.replySettled(revision.Copy(c.client.Reassign(c.r.Context(), c.id(), r)))
}

func (c *call) consume() error {
	digest, err := decode.Digest(c.body)
	if err != nil {
		return err
	}
	return c.replyAsk(revision.Copy(c.client.Consume(c.r.Context(), c.id(), digest)))
}

func (c *call) ack() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.replyAsk(revision.Copy(c.client.Ack(c.r.Context(), c.id())))
}

func (c *call) draft() error {
	draft, err := c.client.Draft(c.r.Context(), c.id())
	if draft == nil {
		draft = json.RawMessage("{}")
	}
	return c.result(draft, err)
}

func (c *call) saveDraft() error {
	if _, err := jcs.Parse(c.body); err != nil {
		return err
	}
	if err := c.client.SaveDraft(c.r.Context(), c.id(), c.body); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
