package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store"
)

const kindAsk = "ask"

// Ask implements [askback.Asker].
func (c *client) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	a, err := c.ask(ctx, r)
	if err != nil {
		return askback.Ask{}, err
	}
	return a.Clone(), nil
}

// AskRevision implements [revision.Source].
func (c *client) AskRevision(ctx context.Context, r askback.Request) (*revision.Ask, error) {
	a, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return revision.New(a, nil), nil
}

// ask returns a new ask, or the one with the same key. The cache may share it.
func (c *client) ask(ctx context.Context, r askback.Request) (*askback.Ask, error) {
	if !access.Allowed(c.who.Kind, access.ActAsk, access.Owner) {
		return nil, fmt.Errorf("ask: %w", askback.ErrForbidden)
	}
	n := &newAsk{}
	if err := c.prepare(ctx, n, r); err != nil {
		return nil, err
	}
	if n.late != nil {
		if found, err := c.findByKey(ctx, n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
		return nil, n.late
	}
	if n.route.Join && n.key != "" { // an ask with this key may be settled
		if found, err := c.findByKey(ctx, n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
	}
	found, joined, err := c.join(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	defer joined()
	if found != nil {
		return c.accept(ctx, n, found)
	}
	done, err := c.engine.reserve(ctx, c.who.Name)
	if err != nil {
		return c.findOr(ctx, n, err)
	}
	opened := false
	defer func() { done(opened) }()
	if err := c.engine.quota.limitRate(c.who.Name, c.engine.settings.Load().AsksPerMinute, c.engine.clock()); err != nil {
		return c.findOr(ctx, n, err)
	}
	var a *askback.Ask
	err = c.engine.update(ctx, func(t *tx) (err error) {
		a, err = c.open(t, n)
		return err
	})
	if errors.Is(err, askback.ErrEnded) || errors.Is(err, askback.ErrTooMany) {
		// An ask with this key may have been made before the session ended or was full.
		return c.findOr(ctx, n, err)
	}
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	opened = !a.Settled() && !a.Repeated
	return a, nil
}

// A newAsk is a checked request and the ask to make from it.
type newAsk struct {
	asked      lifecycle.Asked
	timeout    time.Duration // time until the deadline; 0: asked has the deadline, or the ask has no deadline
	key        string        // idempotency key with its owner; "" means none
	sessionKey string
	sessionID  string // the existing session that the request names
	route      askback.Route
	named      bool     // the request names the people
	directed   []string // see [askback.Ask.Directed]
	late       error    // why the request is valid only if it repeats an ask: the deadline has passed, the server lost its webhooks, or the people are gone
}

// prepare checks a request and sets n, of which it keeps directed, to the ask to make. It does not read the store. If the
// deadline has passed, or the engine cannot send to the callback, it sets late instead of
// returning an error.
func (c *client) prepare(ctx context.Context, n *newAsk, r askback.Request) error {
	r, err := r.Normalize()
	if err != nil {
		return err
	}
	if r.Agent == "" {
		r.Agent = c.who.Name
	}
	a := askOf(r)
	a.Kind = askback.Questions
	if r.Confirmation != nil {
		a.Kind = askback.Confirm
		a.Confirmation, err = withDigest(r.Agent, *r.Confirmation)
		if err != nil {
			return err
		}
	}
	*n = newAsk{
		asked: lifecycle.Asked{Ask: a, Owner: c.who.Name, Callback: r.CallbackURL}, timeout: r.Timeout, key: c.ownerKey(r.Key),
		sessionKey: c.ownerKey(r.SessionKey), sessionID: r.SessionID, directed: n.directed,
	}
	settings, err := c.engine.current(ctx)
	if err != nil {
		return err
	}
	if n.key != "" || settings.joins() {
		if n.asked.Request, err = fingerprint(a, r); err != nil {
			return err
		}
	}
	n.late = c.engine.checkCallback(r.CallbackURL)
	if n.asked.Ask.Deadline = r.Deadline.UTC().Truncate(time.Millisecond); r.Timeout == 0 && !r.Deadline.IsZero() && !r.Deadline.After(c.engine.clock()) {
		n.late = askback.Invalid{{Pointer: "/deadline", Detail: "the deadline is past", Fix: `"timeout": "10m"`}}
	}
	err = c.addRoute(ctx, n)
	if errors.As(err, new(askback.Invalid)) {
		n.late, err = cmp.Or(n.late, err), nil
	}
	return err
}

// ownerKey returns key prefixed with the length and the name of this principal, so that
// equal keys of principals with different names do not collide. For the key "" it returns
// "".
func (c *client) ownerKey(key string) string {
	if key == "" {
		return ""
	}
	return strconv.Itoa(len(c.who.Name)) + ":" + c.who.Name + ":" + key
}

// withDigest returns a copy of c with the digest of its tool call (F7).
func withDigest(agent string, c askback.Confirmation) (*askback.Confirmation, error) {
	var err error
	c.Digest, err = digest("/confirmation/input", agent, c)
	return &c, err
}

// digest returns the digest of a tool call. at is the JSON pointer of the arguments
// in the request, for errors.
func digest(at, agent string, c askback.Confirmation) (string, error) {
	sum, err := jcs.ConfirmationDigest(agent, c.Server, c.ToolName, c.Input)
	const fix = "send plain JSON, and large numbers as strings"
	var syntax *jcs.SyntaxError
	var number *jcs.NumberError
	switch {
	case errors.As(err, &syntax):
		return "", askback.Invalid{{Pointer: at + syntax.Pointer, Detail: syntax.Detail, Fix: fix}}
	case errors.As(err, &number):
		return "", askback.Invalid{{Pointer: at + number.Pointer, Detail: number.Detail, Fix: fix}}
	}
	return sum, err
}

// fingerprint returns a digest of a request, by which a repeat with the same key is
// recognized. It includes the requested timeout and deadline, not the time of the call and
// not the warnings.
func fingerprint(a askback.Ask, r askback.Request) (string, error) {
	a.Deadline = time.Time{} // it follows in r
	fixed, err := lifecycle.AskState{Ask: a, Callback: r.CallbackURL}.AppendRequest(make([]byte, 0, jsonSize))
	if err != nil {
		return "", err
	}
	rest, err := json.Marshal([]any{r.To, r.SessionKey, r.Timeout, r.Deadline.UTC()})
	sum := sha256.Sum256(append(fixed, rest...))
	return "1:" + hex.EncodeToString(sum[:]), err // 1 is the version of this algorithm
}

// open makes a new ask, and its session if the session key is new. If a grant covers the
// ask, open approves it. After a conflict, open first looks for an ask with this key, which
// another caller may have made, and returns that ask instead.
func (c *client) open(t *tx, n *newAsk) (*askback.Ask, error) {
	if t.attempt > 0 {
		if found, err := c.findByKey(t.ctx, n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
	}
	in := n.asked
	in.At = t.now
	if n.timeout != 0 {
		in.Ask.Deadline = t.now.Add(n.timeout).Truncate(time.Millisecond) // as it is stored
	}
	in.Ask.FollowUps = followUps(n.route, t.now)
	var err error
	if in.Ask.ID, err = t.engine.ids.New(ids.Ask, t.now); err != nil {
		return nil, err
	}
	// Another caller can find the ask in a list as soon as it is committed. The
	// lock delays its steps until this step is cached and published.
	if err := t.Lock(in.Ask.ID); err != nil {
		return nil, err
	}
	var to callback // of the session
	if in.Ask.SessionID, to, err = c.sessionOf(t, n, &in.Ask); err != nil {
		return nil, err
	}
	if in.Callback == "" && c.engine.channels[channelWebhook] != nil {
		in.Callback = cmp.Or(to.address, c.engine.callback())
		in.CallbackOf = to.of
	}
	a := add(t, store.Record{
		Kind: kindAsk, ID: in.Ask.ID, Stream: in.Ask.SessionID, Key: n.key, Owner: in.Owner, Agent: in.Ask.Agent, Created: in.At,
	}, lifecycle.AskState{})
	if err := a.step(t, in); err != nil {
		return nil, err
	}
	if err := c.engine.approveByGrant(t, a); err != nil {
		return &a.state.Ask, err
	}
	receivers, err := c.engine.receiversOf(t.ctx, &a.state.Ask, in.Channels, t.now)
	if err == nil && len(receivers) > 0 {
		err = a.step(t, lifecycle.ReceiversAdded{Receivers: receivers, At: t.now})
	}
	return &a.state.Ask, err
}

// stepDueAsk sends the held answers of an ask that are due, expires it if its deadline has passed, and
// follows up.
func (e *Engine) stepDueAsk(ctx context.Context, row store.Record) error {
	return e.update(ctx, func(t *tx) error {
		a, err := t.askNow(row.ID)
		if err != nil {
			return err
		}
		return t.followUp(a)
	})
}

// findOr returns the ask with the same key, or the error of findByKey. If there is no such
// ask, it returns err instead, as an error of package askback.
func (c *client) findOr(ctx context.Context, n *newAsk, err error) (*askback.Ask, error) {
	found, missing := c.findByKey(ctx, n)
	if errors.Is(missing, askback.ErrNotFound) {
		return nil, fmt.Errorf("ask: %w", fromStore(err))
	}
	return found, missing
}

// findByKey returns the ask with the same key, marked as repeated. The error is
// [askback.ErrNotFound] if no ask has the key, and [askback.ErrKeyReused] if that ask was
// made by a different request.
func (c *client) findByKey(ctx context.Context, n *newAsk) (*askback.Ask, error) {
	if n.key == "" {
		return nil, askback.ErrNotFound
	}
	row, err := c.readKey(ctx, n.key)
	if err != nil {
		return nil, fromStore(err)
	}
	state, err := decodeAsk(row)
	if err != nil {
		return nil, err
	}
	if state.Request != n.asked.Request {
		return nil, fmt.Errorf("ask: %w", askback.ErrKeyReused)
	}
	found := state.Ask
	found.Repeated = true
	return &found, nil
}
