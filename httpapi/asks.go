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
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

// maxWait is the maximum of the wait parameter. To wait longer, a client repeats the request.
const maxWait = 60 * time.Second

// replyAsk replies with an ask and the address of its page, or returns err.
func (c *call) replyAsk(a askback.Ask, err error) error {
	if err != nil {
		return err
	}
	return c.writeAsk(http.StatusOK, &a)
}

// writeAsk replies with an ask and the address of its page.
func (c *call) writeAsk(status int, a *askback.Ask) error {
	*a = c.withPageURL(*a)
	return c.replyJSON(status, func(b []byte) ([]byte, error) { return a.AppendJSON(b) })
}

// withPageURL returns an ask with the address of its page, if the server has a public URL.
func (c *call) withPageURL(a askback.Ask) askback.Ask { return a.WithPageURL(c.h.options.PublicURL) }

// replySettled replies with an ask, or returns err. If err is [askback.ErrSettled], it returns
// a problem that contains the ask.
func (c *call) replySettled(a askback.Ask, err error) error {
	if !errors.Is(err, askback.ErrSettled) {
		return c.replyAsk(a, err)
	}
	a = c.withPageURL(a)
	p := problemOf(err)
	p.AskID, p.Outcome, p.Ask = a.ID, a.Outcome, &a
	return p
}

func (c *call) id() string { return c.r.PathValue("id") }

// waitParam returns the value of the wait parameter, at most maxWait. It returns 0 if the
// parameter is missing.
func (c *call) waitParam() (time.Duration, error) {
	d, err := c.durationParam(queryWait.Name, 0, queryWait.Example)
	return min(d, maxWait), err
}

// durationParam parses the query parameter with the given name. It returns absent if the
// parameter is missing. The error for an invalid value contains the example.
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
func (c *call) waitFor(id string, d time.Duration) (askback.Ask, error) {
	if d == 0 {
		return c.client.Get(c.r.Context(), id)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), d)
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	a, err := c.client.Wait(ctx, id)
	if err != nil && (ctx.Err() == nil || c.r.Context().Err() != nil || a.ID == "") {
		return a, err
	}
	return a, c.reauthenticate(context.WithoutCancel(ctx))
}

func (c *call) ask() error {
	wait, err := c.waitParam()
	if err != nil {
		return err
	}
	r, err := decode.Request(c.body)
	if err != nil {
		return c.explain(err)
	}
	if header := c.r.Header.Get("Idempotency-Key"); header != "" {
		if r.Key != "" && r.Key != header {
			return askback.Invalid{{Pointer: "/key", Detail: "the key and the Idempotency-Key header differ", Fix: "send one of them"}}
		}
		r.Key = header
	}
	a, err := c.client.Ask(c.r.Context(), r)
	if errors.Is(err, askback.ErrEnded) {
		p := problemOf(err)
		p.Detail = "the session " + cmp.Or(r.SessionID, "with the key "+strconv.Quote(r.SessionKey)) + " has ended; start another one with a new session_key"
		return p
	}
	if err != nil {
		return c.explain(err)
	}
	status := http.StatusCreated
	if a.Repeated {
		status = http.StatusOK
	}
	c.body, r = nil, askback.Request{} // so that they can be freed during the wait
	if wait > 0 && !a.Settled() {
		// The ask exists, so an error of the wait is ignored.
		if waited, err := c.waitFor(a.ID, wait); err == nil {
			a = waited
		}
	}
	c.w.Header().Set("Location", base+"/asks/"+a.ID)
	return c.writeAsk(status, &a)
}

// explain returns the problem for an invalid request or body, and any other error unchanged. The
// detail of the problem is written for models: where the mistake is, what is expected, and a
// valid example (F15).
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
	}
	q.Limit = limit(c.param("limit"))
	switch c.param("unacked") {
	case "true":
		q.Unacked = true
	case "", "false":
	default:
		return askback.Invalid{{Pointer: "?unacked", Detail: "unacked must be true or false", Fix: "unacked=true"}}
	}
	page, err := c.client.List(c.r.Context(), q)
	for i, a := range page.Items {
		page.Items[i] = c.withPageURL(a)
	}
	return c.result(page, err)
}

// limit parses the maximum number of items in a list. It returns 0, which selects the default,
// if s is "". If s is not a positive number it returns -1, which the checks of queries reject.
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
	answer, err := decode.Answer(c.body)
	if err != nil {
		return err
	}
	return c.replySettled(c.client.Answer(c.r.Context(), c.id(), answer))
}

func (c *call) decline() error { return c.settle(c.client.Decline) }

func (c *call) cancel() error { return c.settle(c.client.Cancel) }

// settle calls do, which settles an ask, with the reason from the body. It replies with the
// ask, or returns a problem that contains it if it was already settled.
func (c *call) settle(do func(ctx context.Context, id, reason string) (askback.Ask, error)) error {
	reason, err := decode.Reason(c.body)
	if err != nil {
		return err
	}
	return c.replySettled(do(c.r.Context(), c.id(), reason))
}

func (c *call) claim() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.replySettled(c.client.Claim(c.r.Context(), c.id()))
}

func (c *call) consume() error {
	digest, err := decode.Digest(c.body)
	if err != nil {
		return err
	}
	return c.replyAsk(c.client.Consume(c.r.Context(), c.id(), digest))
}

func (c *call) ack() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	return c.replyAsk(c.client.Ack(c.r.Context(), c.id()))
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
