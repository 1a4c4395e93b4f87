package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store"
)

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

// ask returns a new ask, the ask with the same key, or an equal pending ask if the route joins equal
// questions. The cache may share the result, so it must not be changed.
func (c *client) ask(ctx context.Context, r askback.Request) (*askback.Ask, error) {
	if !access.Allowed(c.Who.Kind, access.ActAsk, access.Owner) {
		return nil, fmt.Errorf("ask: %w", askback.ErrForbidden)
	}
	n := &txn.NewAsk{}
	if err := c.prepare(ctx, n, r); err != nil {
		return nil, err
	}
	if r.Restarted {
		if found, err := c.repeat(ctx, n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
	}
	if n.Late != nil {
		if found, err := c.findByKey(ctx, n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
		return nil, n.Late
	}
	if n.Route.Join && n.Key != "" { // join does not find a settled ask with this key
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
	done, err := c.engine.db.Reserve(ctx, c.Who.Name)
	if err != nil {
		return c.findOr(ctx, n, err)
	}
	opened := false
	defer func() { done(opened) }()
	if err := c.engine.db.Quota.LimitRate(c.Who.Name, c.engine.db.Settings.Load().AsksPerMinute,
		c.engine.db.Clock()); err != nil {
		return c.findOr(ctx, n, err)
	}
	var a *askback.Ask
	err = c.engine.db.Update(ctx, func(t *txn.Tx) (err error) {
		a, err = c.open(t, n)
		return err
	})
	if errors.Is(err, askback.ErrEnded) || errors.Is(err, askback.ErrTooMany) {
		// Another call may have made an ask with this key before the session ended or was full.
		return c.findOr(ctx, n, err)
	}
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	opened = !a.Settled() && !a.Repeated
	return a, nil
}

// prepare checks a request and sets n to the ask to make. It keeps n.Directed. In three cases it sets n.Late
// and returns nil: the deadline has passed, the engine cannot send to the callback, or too few people may
// answer. A repeated request is valid in these cases.
func (c *client) prepare(ctx context.Context, n *txn.NewAsk, r askback.Request) error {
	r, err := r.Normalize()
	if err != nil {
		return err
	}
	if r.Agent == "" {
		r.Agent = c.Who.Name
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
	*n = txn.NewAsk{
		Asked: lifecycle.Asked{Ask: a, Owner: c.Who.Name, Callback: r.CallbackURL}, Timeout: r.Timeout,
		Key: c.OwnerKey(r.Key), SessionKey: c.OwnerKey(r.SessionKey), SessionID: r.SessionID, Directed: n.Directed,
	}
	settings, err := c.engine.db.Current(ctx)
	if err != nil {
		return err
	}
	if n.Key != "" || joins(settings) {
		if n.Asked.Request, err = fingerprint(a, r); err != nil {
			return err
		}
	}
	n.Late = c.engine.db.CheckCallback(r.CallbackURL)
	if n.Asked.Ask.Deadline = r.Deadline.UTC().Truncate(time.Millisecond); r.Timeout == 0 && !r.Deadline.IsZero() &&
		!r.Deadline.After(c.engine.db.Clock()) {
		n.Late = askback.Invalid{{Pointer: "/deadline", Detail: "the deadline is past", Fix: `"timeout": "10m"`}}
	}
	err = c.AddRoute(ctx, n)
	if errors.As(err, new(askback.Invalid)) {
		n.Late, err = cmp.Or(n.Late, err), nil
	}
	return err
}

// withDigest returns a copy of c with the digest of its tool call (F7).
func withDigest(agent string, c askback.Confirmation) (*askback.Confirmation, error) {
	var err error
	c.Digest, err = txn.Digest("/confirmation/input", agent, c)
	return &c, err
}

// fingerprint returns a digest of a request, which identifies a repeated request and an equal question. It
// covers the requested timeout and deadline, but not the time of the call and the warnings.
func fingerprint(a askback.Ask, r askback.Request) (string, error) {
	a.Deadline = time.Time{} // r has the requested deadline
	fixed, err := lifecycle.AskState{Ask: a, Callback: r.CallbackURL}.AppendRequest(make([]byte, 0, txn.JSONSize))
	if err != nil {
		return "", err
	}
	rest, err := json.Marshal([]any{r.To, r.SessionKey, r.Timeout, r.Deadline.UTC()})
	sum := sha256.Sum256(append(fixed, rest...))
	return "1:" + hex.EncodeToString(sum[:]), err // 1 is the version of this algorithm
}

// open makes a new ask, and its session if the session key is new. If a grant covers the ask, open approves
// it. After a conflict, open first looks for an ask with this key. If another caller has made such an ask,
// open returns it.
func (c *client) open(t *txn.Tx, n *txn.NewAsk) (*askback.Ask, error) {
	if t.Attempt > 0 {
		if found, err := c.findByKey(t.Context(), n); !errors.Is(err, askback.ErrNotFound) {
			return found, err
		}
	}
	in := n.Asked
	in.At = t.Now()
	if n.Timeout != 0 {
		// deadlines are stored in whole milliseconds
		in.Ask.Deadline = t.Now().Add(n.Timeout).Truncate(time.Millisecond)
	}
	in.Ask.FollowUps = people.FollowUps(n.Route, t.Now())
	var err error
	if in.Ask.ID, err = t.DB.IDs.New(ids.Ask, t.Now()); err != nil {
		return nil, err
	}
	// Another caller can find the ask in a list as soon as it is committed. The
	// lock delays its steps until this step is cached and published.
	if err := t.Lock(in.Ask.ID); err != nil {
		return nil, err
	}
	var to txn.Callback // the address for the events of the asks of the session
	if in.Ask.SessionID, to, err = c.sessionOf(t, n, &in.Ask); err != nil {
		return nil, err
	}
	if in.Callback == "" && c.engine.db.Callbacks != nil {
		in.Callback = cmp.Or(to.Address, c.engine.db.Callback())
		in.CallbackOf = to.Of
	}
	a := txn.Add(t, store.Record{
		Kind: txn.KindAsk, ID: in.Ask.ID, Stream: in.Ask.SessionID, Key: n.Key, Owner: in.Owner, Agent: in.Ask.Agent,
		Created: in.At,
	}, lifecycle.AskState{})
	if err := a.Step(t, in); err != nil {
		return nil, err
	}
	if err := c.engine.approveByGrant(t, a); err != nil {
		return &a.State.Ask, err
	}
	receivers, err := c.engine.people.ReceiversOf(t.Context(), &a.State.Ask, in.Channels, t.Now())
	if err == nil && len(receivers) > 0 {
		err = a.Step(t, lifecycle.ReceiversAdded{Receivers: receivers, At: t.Now()})
	}
	return &a.State.Ask, err
}

// stepDueAsk sends the held answers of an ask that are due, and expires the ask if its deadline has passed.
// Then it performs the reminders and escalations that are due.
func (e *Engine) stepDueAsk(ctx context.Context, row store.Record) error {
	return e.db.Update(ctx, func(t *txn.Tx) error {
		a, err := t.AskNow(row.ID)
		if err != nil {
			return err
		}
		return e.people.FollowUp(t, a)
	})
}

// findOr returns the ask with the same key, or the error of findByKey. If no ask has the key, findOr returns
// err, translated into an error of package askback.
func (c *client) findOr(ctx context.Context, n *txn.NewAsk, err error) (*askback.Ask, error) {
	found, missing := c.findByKey(ctx, n)
	if errors.Is(missing, askback.ErrNotFound) {
		return nil, fmt.Errorf("ask: %w", txn.FromStore(err))
	}
	return found, missing
}

// findByKey returns the ask with the same key, marked as repeated. The error is [askback.ErrNotFound] if no
// ask has the key, and [askback.ErrKeyReused] if a different request made that ask.
func (c *client) findByKey(ctx context.Context, n *txn.NewAsk) (*askback.Ask, error) {
	if n.Key == "" {
		return nil, askback.ErrNotFound
	}
	row, err := c.ReadKey(ctx, n.Key)
	if err != nil {
		return nil, txn.FromStore(err)
	}
	state, err := txn.DecodeAsk(row)
	if err != nil {
		return nil, err
	}
	if state.Request != n.Asked.Request {
		return nil, fmt.Errorf("ask: %w", askback.ErrKeyReused)
	}
	found := state.Ask
	found.Repeated = true
	return &found, nil
}

// repeat returns the ask with the key of a request whose program was started again, and records the repeat. A
// repeat counts for the rate limit. Beyond the limit, it is not recorded.
func (c *client) repeat(ctx context.Context, n *txn.NewAsk) (*askback.Ask, error) {
	found, err := c.findByKey(ctx, n)
	if err != nil || found.Settled() || found.Kind != askback.Questions {
		return found, err
	}
	if c.engine.db.Quota.LimitRate(c.Who.Name, c.engine.db.Settings.Load().AsksPerMinute, c.engine.db.Clock()) != nil {
		return found, nil
	}
	err = c.engine.db.Update(ctx, func(t *txn.Tx) error {
		a, err := t.AskNow(found.ID)
		if err != nil {
			return err
		}
		return a.Step(t, lifecycle.Repeated{At: t.Now()})
	})
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	return c.findByKey(ctx, n)
}

// A runAsker opens the asks of hosted runs.
type runAsker struct{ engine *Engine }

func (a runAsker) Prepare(ctx context.Context, who askback.Principal, n *txn.NewAsk, r askback.Request) error {
	return a.engine.as(who).prepare(ctx, n, r)
}

func (a runAsker) Open(t *txn.Tx, who askback.Principal, n *txn.NewAsk) (*askback.Ask, error) {
	return a.engine.as(who).open(t, n)
}
