package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
)

// A Client is the seat that a token has at a server: it does the same as a seat
// of the engine, and its errors are the same. A server that cannot be reached,
// or breaks off, is [askback.ErrUnreachable]: whether something was done is not
// known then. Calls are safe to repeat, but for some: CreateToken may leave a token
// behind, Start without a key a session, a message may be said twice, and a
// repeated Consume says that the approval is spent.
type Client struct {
	url   string
	token string
	http  *http.Client
	pause time.Duration // how long at first it waits before a stream comes back
}

// replyTime is how long a server may take to answer what it need not wait for.
const replyTime = 30 * time.Second

// NewClient returns the client of the server at an address such as
// "http://127.0.0.1:7575". A nil c is a client of its own.
func NewClient(address, token string, c *http.Client) *Client {
	if c == nil {
		c = &http.Client{}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{strings.TrimRight(address, "/"), token, &own, firstPause}
}

var _ askback.Seat = (*Client)(nil)

// request is one call over the wire.
type request struct {
	method string
	path   string
	query  url.Values
	body   any // nil: none
	key    string
	wait   time.Duration // that the server may take beyond replyTime
}

// do makes a call, and reads what comes back into out. A problem becomes the
// error it was made of, with the ask that came along.
func (c *Client) do(ctx context.Context, r request, out any) (status int, ask askback.Ask, err error) {
	limited, cancel := context.WithTimeout(ctx, replyTime+r.wait)
	defer cancel()
	in, err := c.request(limited, r)
	if err != nil {
		return 0, ask, err
	}
	res, err := c.http.Do(in)
	if err != nil {
		return 0, ask, unreachable(ctx, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ask, unreachable(ctx, err)
	}
	if res.StatusCode >= 300 {
		ask, err = parseProblem(res, raw).read()
		return res.StatusCode, ask, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if out == nil {
		return res.StatusCode, ask, nil
	}
	if err := parse(raw, out); err != nil {
		return res.StatusCode, ask, fmt.Errorf("%s %s: read the reply: %w: %v", r.method, r.path, askback.ErrUnreachable, err)
	}
	return res.StatusCode, ask, nil
}

// parse reads a value from JSON, directly where it can read itself.
func parse(raw []byte, out any) error {
	if m, ok := out.(json.Unmarshaler); ok {
		return m.UnmarshalJSON(bytes.TrimSpace(raw))
	}
	return json.Unmarshal(raw, out)
}

func (c *Client) request(ctx context.Context, r request) (*http.Request, error) {
	var body bytes.Buffer
	if r.body != nil {
		if err := encode(&body, r.body); err != nil {
			return nil, err
		}
	}
	address := c.url + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	in, err := http.NewRequestWithContext(ctx, r.method, address, &body)
	if err != nil {
		return nil, err
	}
	in.Header.Set("Authorization", "Bearer "+c.token)
	if r.body != nil {
		in.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		in.Header.Set("Idempotency-Key", r.key)
	}
	return in, nil
}

// unreachable says that the server did not answer, unless it was the caller who
// would not wait.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the address may hold more than a log should
	}
	return fmt.Errorf("%w: %v", askback.ErrUnreachable, err)
}

func (c *Client) ask(ctx context.Context, r request) (askback.Ask, error) {
	var out askback.Ask
	_, beside, err := c.do(ctx, r, &out)
	if err != nil {
		return beside, err
	}
	return out, nil
}

func onAsk(id, what string) string {
	path := base + "/asks/" + url.PathEscape(id)
	if what != "" {
		path += "/" + what
	}
	return path
}

// Ask implements [askback.Asker]. A request without a key gets one, so that the
// call can be repeated by the transport.
func (c *Client) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	normal, err := r.Normalize()
	if err != nil {
		return askback.Ask{}, err
	}
	key := r.Key
	if key == "" {
		key = rand.Text()
	}
	var out askback.Ask
	status, _, err := c.do(ctx, request{method: "POST", path: base + "/asks", body: wireRequest(normal), key: key}, &out)
	out.Repeated = err == nil && status == http.StatusOK
	return out, err
}

// pollTime is how long one poll waits: less than proxies commonly do.
const pollTime = 50 * time.Second

// Wait implements [askback.Asker] by asking again and again.
func (c *Client) Wait(ctx context.Context, id string) (askback.Ask, error) {
	var last askback.Ask
	for early := 0; ; {
		begun := time.Now()
		a, err := c.poll(ctx, id)
		if err == nil {
			last = a
		}
		switch {
		case err == nil && a.Settled():
			return a, nil
		case ctx.Err() != nil:
			return c.lastSeen(ctx, id, last)
		case err != nil:
			return askback.Ask{}, err
		}
		if early = early + 1; time.Since(begun) >= shortPoll {
			early = 0
			continue
		}
		// A proxy answers, or a server that is busy: neither waits as it was asked to.
		if pause(ctx, early) != nil {
			return c.lastSeen(ctx, id, last)
		}
	}
}

const (
	// shortPoll is the time below which a poll did not wait.
	shortPoll = time.Second
	// pollPause is the longest pause after polls that did not wait.
	pollPause = 2 * time.Second
)

// pause waits after the n-th poll in a row that did not wait.
func pause(ctx context.Context, n int) error {
	t := time.NewTimer(min(pollPause, 50*time.Millisecond<<min(n-1, 6)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// poll waits once, and ctx ends it early.
func (c *Client) poll(ctx context.Context, id string) (askback.Ask, error) {
	wait := pollTime
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end))
	}
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	query := url.Values{"wait": {strconv.Itoa(seconds)}}
	return c.ask(ctx, request{method: "GET", path: onAsk(id, ""), query: query, wait: maxWait})
}

// lastLook is how long one that stops waiting looks a last time.
const lastLook = 2 * time.Second

// lastSeen returns the ask to somebody who waits no longer: as it is now, if
// that can be seen, else as it was.
func (c *Client) lastSeen(ctx context.Context, id string, last askback.Ask) (askback.Ask, error) {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	now, err := c.Get(look, id)
	switch {
	case err == nil && now.Settled():
		return now, nil
	case err == nil:
		last = now
	case !errors.Is(err, askback.ErrUnreachable) && look.Err() == nil:
		return askback.Ask{}, err
	}
	return last, context.Cause(ctx)
}

// Cancel implements [askback.Asker].
func (c *Client) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "cancel"), body: wireReason{reason}})
}

// Consume implements [askback.Asker].
func (c *Client) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "consume"), body: wireDigest{digest}})
}

// Receive implements [askback.Asker].
func (c *Client) Receive(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "receive")})
}

// Get implements [askback.Inbox].
func (c *Client) Get(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "GET", path: onAsk(id, "")})
}

// List implements [askback.Inbox].
func (c *Client) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if err := q.Check(); err != nil {
		return askback.Page{}, err
	}
	query := filter(q.Limit, "status", string(q.Status), "agent", q.Agent, "session_id", q.SessionID, "to", q.To, "q", q.Search, "cursor", q.Cursor)
	if q.Undelivered {
		query.Set("undelivered", "true")
	}
	var page askback.Page
	_, _, err := c.do(ctx, request{method: "GET", path: base + "/asks", query: query}, &page)
	return page, err
}

// Answer implements [askback.Inbox].
func (c *Client) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	if err := a.Check(); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "answer"), body: wireAnswer(a)})
}

// Decline implements [askback.Inbox].
func (c *Client) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	if err := askback.CheckReason(reason); err != nil {
		return askback.Ask{}, err
	}
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "decline"), body: wireReason{reason}})
}

// Claim implements [askback.Inbox].
func (c *Client) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return c.ask(ctx, request{method: "POST", path: onAsk(id, "claim")})
}

// Draft implements [askback.Drafts].
func (c *Client) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	var draft json.RawMessage
	_, _, err := c.do(ctx, request{method: "GET", path: onAsk(id, "draft")}, &draft)
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
	_, _, err := c.do(ctx, request{method: "PUT", path: onAsk(id, "draft"), body: draft}, nil)
	return err
}

// Tokens implements [askback.Keyring].
func (c *Client) Tokens(ctx context.Context) ([]askback.Token, error) {
	var list tokenList
	_, _, err := c.do(ctx, request{method: "GET", path: base + "/tokens"}, &list)
	return list.Items, err
}

// CreateToken implements [askback.Keyring].
func (c *Client) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	var out createdToken
	_, _, err := c.do(ctx, request{method: "POST", path: base + "/tokens", body: wireToken{r.Kind, r.Name, wireDuration(r.ExpiresIn)}}, &out)
	return out.Token, out.Secret, err
}

// RevokeToken implements [askback.Keyring].
func (c *Client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	var out askback.Token
	_, _, err := c.do(ctx, request{method: "DELETE", path: base + "/tokens/" + url.PathEscape(id)}, &out)
	return out, err
}

// LoginSecret implements [askback.Keyring].
func (c *Client) LoginSecret(ctx context.Context) (string, error) {
	var link loginLink
	_, _, err := c.do(ctx, request{method: "POST", path: base + "/logins"}, &link)
	return link.Secret, err
}

// Yield asks the server to hand its local database over.
func (c *Client) Yield(ctx context.Context) error {
	_, _, err := c.do(ctx, request{method: "POST", path: base + "/yield"}, nil)
	return err
}
