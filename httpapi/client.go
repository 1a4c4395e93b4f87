package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// A Client is an [askback.Client] that calls a server with the token of a principal. Its
// methods return the same results and errors as a client of the engine. If the
// server cannot be reached, or the connection breaks, the error is
// [askback.ErrUnreachable]; the call may have taken effect.
//
// Calls are safe to repeat, except these: Ask and Start without a key create another ask or
// session, CreateToken and LoginSecret create another secret, Send sends the command again,
// and Consume returns [askback.ErrConsumed].
type Client struct {
	sender
	pause time.Duration // the first pause before a stream reconnects
}

// replyTime is how long a server may take for a reply, in addition to the time that it
// was asked to wait.
const replyTime = 30 * time.Second

// NewClient returns a client of the server at an address such as "http://127.0.0.1:7575". It
// sends requests with a copy of c that does not follow redirects. If c is nil, it makes an
// [http.Client].
func NewClient(address, token string, c *http.Client) *Client {
	return &Client{sender: newSender(address, token, c), pause: firstPause}
}

var _ askback.Client = (*Client)(nil)

// do sends a request and decodes the reply into out, unless out is nil. If the reply is a problem, do returns
// the error that the problem represents and the ask that the problem contains. status is 0 if there was no
// reply.
func (c *Client) do(ctx context.Context, r request, out any) (status int, ask askback.Ask, err error) {
	limited, cancel := withTimeout(ctx, replyTime+r.wait)
	defer cancel()
	in, err := c.request(limited, r)
	if err != nil {
		return 0, ask, err
	}
	res, err := c.send(in)
	if err != nil {
		return 0, ask, unreachableError(ctx, err)
	}
	defer res.Body.Close()
	body := newBuffer()
	defer body.release()
	if err := body.readAll(res.Body); err != nil {
		return 0, ask, unreachableError(ctx, err)
	}
	raw := body.bytes
	if res.StatusCode >= 300 {
		ask, err = parseProblem(res, raw).asError()
		return res.StatusCode, ask, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if out == nil {
		return res.StatusCode, ask, nil
	}
	if err := parse(raw, out); err != nil {
		return res.StatusCode, ask, fmt.Errorf("%s %s: read the reply: %w: %v", r.method, r.path,
			askback.ErrUnreachable, err)
	}
	return res.StatusCode, ask, nil
}

// withTimeout returns a context that ends after d, or ctx itself if ctx ends before.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// parse decodes JSON into out. If out has the method UnmarshalJSON, parse calls this method directly, because
// json.Unmarshal would scan the input once more.
func parse(raw []byte, out any) error {
	_, anything := out.(*json.RawMessage) // UnmarshalJSON of a RawMessage checks nothing
	if m, ok := out.(json.Unmarshaler); ok && !anything {
		return m.UnmarshalJSON(bytes.TrimSpace(raw))
	}
	return json.Unmarshal(raw, out)
}

// unreachableError returns [askback.ErrUnreachable] with err as the reason, or the cause of
// ctx if the caller ended the request.
func unreachableError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the address may contain a secret
	}
	return fmt.Errorf("%w: %v", askback.ErrUnreachable, err)
}

func (c *Client) ask(ctx context.Context, r request) (askback.Ask, error) {
	var out askback.Ask
	_, current, err := c.do(ctx, r, &out)
	if err != nil {
		return current, err
	}
	return out, nil
}

// askPath returns the path of an ask, followed by resource, such as "/draft" or "".
func askPath(id, resource string) string { return base + "/asks/" + url.PathEscape(id) + resource }

// fetch sends r and returns the decoded reply, which may be long.
func fetch[T any](ctx context.Context, c *Client, r request) (out T, err error) {
	r.long = true
	_, _, err = c.do(ctx, r, &out)
	return out, err
}

// Ask implements [askback.Asker]. If r has no key, Ask sends a random key, so that the transport can repeat
// the request.
func (c *Client) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	normal, err := r.Normalize()
	if err != nil {
		return askback.Ask{}, err
	}
	key := cmp.Or(r.Key, rand.Text())
	var out askback.Ask
	status, _, err := c.do(ctx, request{method: "POST", path: base +
		"/asks", body: body[askback.Request]{normal, appendRequest}, key: key, trace: normal.TraceParent}, &out)
	out.Repeated = err == nil && status == http.StatusOK
	return out, err
}

// pollTime is how long one poll waits. It is shorter than the usual timeouts of proxies.
const pollTime = 50 * time.Second

// Wait implements [askback.Asker]. It polls the server.
func (c *Client) Wait(ctx context.Context, id string) (askback.Ask, error) {
	var last askback.Ask
	for early := (pause.Backoff{First: 50 * time.Millisecond, Max: longestPollPause}); ; {
		begun := time.Now()
		a, err := c.poll(ctx, id)
		if err == nil {
			last = a
		}
		switch {
		case err == nil && a.Settled():
			return a, nil
		case ctx.Err() != nil:
			return c.lastState(ctx, id, last)
		case err != nil:
			return askback.Ask{}, err
		}
		if time.Since(begun) >= shortPoll {
			early.Reset()
			continue
		}
		// A proxy or a busy server replied without waiting.
		if early.Wait(ctx) != nil {
			return c.lastState(ctx, id, last)
		}
	}
}

const (
	// shortPoll is the minimum duration of a poll that counts as a wait.
	shortPoll = time.Second
	// longestPollPause is the longest pause after a poll that did not wait.
	longestPollPause = 2 * time.Second
)

// poll sends a request that waits for the ask. The request waits for pollTime, or until the deadline of ctx
// if the deadline is earlier. The time is rounded up to whole seconds.
func (c *Client) poll(ctx context.Context, id string) (askback.Ask, error) {
	wait := pollTime
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end))
	}
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	return c.ask(ctx,
		request{method: "GET", path: askPath(id, ""), query: "wait=" + strconv.Itoa(seconds), wait: maxWait})
}

// lastReadTime is how long the last read of an ask may take after the end of a wait.
const lastReadTime = 2 * time.Second

// lastState reads the ask after ctx has ended. If the ask is settled, the error is nil. Otherwise the error
// is the cause of ctx. If the server cannot be reached in time, lastState returns last, the ask of the last
// poll. After any other error of the read, lastState returns this error without an ask.
func (c *Client) lastState(ctx context.Context, id string, last askback.Ask) (askback.Ask, error) {
	readCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastReadTime)
	defer cancel()
	now, err := c.Get(readCtx, id)
	switch {
	case err == nil && now.Settled():
		return now, nil
	case err == nil:
		last = now
	case !errors.Is(err, askback.ErrUnreachable) && readCtx.Err() == nil:
		return askback.Ask{}, err
	}
	return last, context.Cause(ctx)
}

// Cancel implements [askback.Asker].
func (c *Client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/cancel"), body: wireReason{Reason: reason}})
}

// Consume implements [askback.Asker].
func (c *Client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/consume"), body: wireDigest{digest}})
}

// Ack implements [askback.Asker].
func (c *Client) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/ack")})
}

// Get implements [askback.Inbox].
func (c *Client) Get(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "GET", path: askPath(id, "")})
}

// List implements [askback.Inbox].
func (c *Client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if err := q.Check(); err != nil {
		return askback.Page{}, err
	}
	query := filter(q.Limit, "status", string(q.Status),
		"agent", q.Agent, "session_id", q.SessionID, "to", q.To, "q", q.Search, "key", q.Key, "cursor", q.Cursor,
		"tool", q.Tool, "tag", q.Tag, "by", q.By, "decision", string(q.Decision))
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			query.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.Unacked {
		query.Set("unacked", "true")
	}
	if q.Snoozed != nil {
		query.Set("snoozed", strconv.FormatBool(*q.Snoozed))
	}
	return fetch[askback.Page](ctx, c, request{method: "GET", path: base + "/asks", query: query.Encode()})
}

// Answer implements [askback.Inbox].
func (c *Client) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	if err := a.Check(); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx,
		request{method: "POST", path: askPath(id, "/answer"), body: body[askback.Answer]{a, appendAnswer}})
}

// Decline implements [askback.Inbox].
func (c *Client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/decline"), body: wireReason{Reason: reason}})
}

// Hold implements [askback.Holder].
func (c *Client) Hold(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	if err := a.Check(); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/answer"), body: body[askback.Answer]{
		a, withMember(appendAnswer, "hold", "true"),
	}})
}

// HoldDecline implements [askback.Holder].
func (c *Client) HoldDecline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx,
		request{method: "POST", path: askPath(id, "/decline"), body: wireReason{Reason: reason, Hold: true}})
}

// Undo implements [askback.Holder].
func (c *Client) Undo(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "DELETE", path: askPath(id, "/held")})
}

// Reassign implements [askback.Inbox].
func (c *Client) Reassign(ctx context.Context, id string, r askback.Reassignment) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/reassign"), body: r})
}

// Claim implements [askback.Inbox].
func (c *Client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: askPath(id, "/claim")})
}

// Seen implements [askback.Inbox].
func (c *Client) Seen(ctx context.Context, id string) error {
	_, _, err := c.do(ctx, request{method: "POST", path: askPath(id, "/seen")}, nil)
	return err
}

// Draft implements [askback.Drafts].
func (c *Client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	draft, err := fetch[json.RawMessage](ctx, c, request{method: "GET", path: askPath(id, "/draft")})
	if string(draft) == "{}" {
		draft = nil
	}
	return draft, err
}

// SaveDraft implements [askback.Drafts].
func (c *Client) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	if err := askback.CheckDraft(draft); err != nil {
		return err
	}
	_, _, err := c.do(ctx, request{method: "PUT", path: askPath(id, "/draft"), body: draft}, nil)
	return err
}

// Yield asks the server to release its local database. The server may still hold the database when Yield
// returns.
func (c *Client) Yield(ctx context.Context) error {
	_, _, err := c.do(ctx, request{method: "POST", path: base + "/yield"}, nil)
	return err
}
