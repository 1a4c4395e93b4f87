package send

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// endpointOwner returns the owner of the endpoint for a callback address. The address of the settings is an
// endpoint of the server, even if a principal names it.
func (e *Service) endpointOwner(name, address string) string {
	if address == e.Callback() {
		return ""
	}
	return name
}

// endpointOf returns the endpoint for a callback address of the principal name. It makes the endpoint on
// first use.
func (e *Service) endpointOf(ctx context.Context, name, address string) (lifecycle.EndpointState, error) {
	owner := e.endpointOwner(name, address)
	for attempt := 0; ; attempt++ {
		row, err := e.Store.ReadKey(ctx, KindEndpoint, endpointKey(owner, askback.Origin(address)))
		if err == nil {
			s, err := DecodeEndpoint(row)
			if err == nil && s.Secret == "" && e.OwnSecrets { // the settings had a secret until now
				return e.giveSecret(ctx, s.Endpoint.ID)
			}
			return s, err
		}
		if !errors.Is(err, store.ErrNotFound) || attempt > 0 {
			return lifecycle.EndpointState{}, txn.FromStore(err)
		}
		err = e.Update(ctx, func(t *txn.Tx) error {
			_, _, err := e.makeEndpoint(t, owner, address, e.OwnSecrets)
			return err
		})
		if err != nil && !errors.Is(err, askback.ErrExists) {
			return lifecycle.EndpointState{}, err
		}
	}
}

// giveSecret makes a secret for an endpoint that has no secret of its own, and returns the endpoint.
func (e *Service) giveSecret(ctx context.Context, id string) (s lifecycle.EndpointState, err error) {
	err = e.Update(ctx, func(t *txn.Tx) error {
		r, err := lockEndpoint(t, id)
		if err != nil {
			return err
		}
		if r.State.Secret == "" {
			var stored string
			if _, stored, err = e.newEndpointSecret(id); err == nil {
				err = r.Step(t, lifecycle.EndpointRotated{Secret: stored, At: t.Now()})
			}
		}
		s = r.State
		return err
	})
	return s, err
}

// signingSecrets returns the decrypted secrets that sign messages to an endpoint now.
func (e *Service) signingSecrets(s lifecycle.EndpointState, now time.Time) ([]string, error) {
	secrets := s.SigningSecrets(now)
	for i := range secrets {
		var err error
		if secrets[i], err = e.Sealer.Open(secrets[i], s.Endpoint.ID); err != nil {
			return nil, err
		}
	}
	if e.OwnSecrets { // "" means the secret of the settings, which is not set
		secrets = slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
	}
	return secrets, nil
}

// withheld returns the result of an attempt for a delivery whose endpoint is paused or disabled. Such a
// delivery is not sent. For other endpoints, the second result is false.
func withheld(f store.Effect, to askback.Endpoint, now time.Time) (attempt, bool) {
	switch to.Status {
	case askback.EndpointPaused:
		return attempt{kept: to.ID}, true
	case askback.EndpointDisabled:
		err := fmt.Errorf("not sent: this receiver is disabled since %s, because %s",
			to.ChangedAt.Format(time.RFC3339), to.Reason)
		return attempt{failed: err, in: lifecycle.SendFailed{ID: f.ID, Error: err.Error(), At: now}}, true
	}
	return attempt{}, false
}

// endpointInput returns the input to an endpoint after an attempt with the error err. It returns nil if the
// input would change nothing or there is no endpoint.
func endpointInput(s lifecycle.EndpointState, err error, now time.Time) lifecycle.Input {
	if s.Endpoint.ID == "" {
		return nil
	}
	if err == nil {
		if s.Endpoint.FailingSince.IsZero() {
			return nil
		}
		return lifecycle.EndpointAccepted{At: now}
	}
	var sending *askback.SendError
	in := lifecycle.EndpointFailed{Gone: errors.As(err, &sending) && sending.Gone, At: now}
	if !s.Matters(in) {
		return nil
	}
	return in
}

// holdEffect returns the completion done, changed so that its effect is held until the endpoint is resumed.
// If the endpoint is not paused, the effect is due now.
func holdEffect(t *txn.Tx, done store.Completion, endpoint string) (store.Completion, error) {
	r, err := lockEndpoint(t, endpoint)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return done, err
	}
	if done.Retry = t.Now(); err == nil && r.State.Endpoint.Status == askback.EndpointPaused {
		done.Held = endpoint
	}
	return done, nil
}

// endpointReplied steps an endpoint after an attempt. The step is not part of the commit of the attempt, so
// that a slow endpoint locks no asks. If the step is lost in a crash, the next attempt has the same result.
// If the step disables the endpoint, its waiting deliveries become due. So they are given up now and not at
// their next attempt.
func (e *Service) endpointReplied(ctx context.Context, id string, in lifecycle.Input) {
	var before, to askback.Endpoint
	err := e.Update(ctx, func(t *txn.Tx) error {
		r, err := lockEndpoint(t, id)
		if err != nil {
			return err
		}
		before = r.State.Endpoint
		err = r.Step(t, in)
		to = r.State.Endpoint
		return err
	})
	if err == nil && to.Status != before.Status {
		e.Log.Warn("an endpoint is disabled", "endpoint", id, "owner", to.Owner, "origin", to.Origin, "reason",
			to.Reason)
		err = e.hasten(ctx, func(f store.Effect) bool {
			_, ok := e.deliveryTo(ctx, f, to)
			return ok && f.Held == ""
		})
	}
	if err != nil && !errors.Is(err, askback.ErrNotFound) {
		e.Log.Warn("the state of an endpoint could not be stored", "endpoint", id, "error", err)
	}
}

// effectChunk is the number of effects that are read at a time, and made due in one commit.
const effectChunk = 256

// A lister is a function that returns the effects that a query selects, sorted by id.
type lister func(context.Context, store.Query) ([]store.Effect, error)

// each yields all effects of a kind, or of every kind if kind is "". It reads effectChunk effects at a time.
func (list lister) each(ctx context.Context, kind string) iter.Seq2[store.Effect, error] {
	return func(yield func(store.Effect, error) bool) {
		for q, more := (store.Query{Kind: kind, Limit: effectChunk}), true; more; {
			page, err := list(ctx, q)
			if err != nil {
				yield(store.Effect{}, txn.FromStore(err))
				return
			}
			for _, f := range page {
				if q.After = f.ID; !yield(f, nil) {
					return
				}
			}
			more = len(page) == effectChunk
		}
	}
}

// hasten makes the deliveries for which ok returns true due now. It calls ok with the effect of each
// delivery, except dead letters and deliveries that are being sent.
func (e *Service) hasten(ctx context.Context, ok func(store.Effect) bool) error {
	now := e.Clock()
	var all []store.Change
	for f, err := range lister(e.Store.Effects).each(ctx, kindSend) {
		if err != nil {
			return err
		}
		if !f.Dead && f.Node == "" && ok(f) {
			all = append(all, store.Change{Done: []store.Completion{{ID: f.ID, Retry: now}}})
		}
	}
	for some := range slices.Chunk(all, effectChunk) {
		if err := e.CommitEach(ctx, some); err != nil {
			return err
		}
	}
	e.Effects.Set(now)
	return nil
}

// keptPrefix begins the error of an effect that an earlier release kept for a paused endpoint. The id of the
// endpoint follows.
const keptPrefix = "kept while this endpoint is paused: "

// holdKept holds the effects that an earlier release kept for paused endpoints, or makes an effect due if its
// endpoint was resumed. If it cannot hold an effect, it logs the error and continues.
func (e *Service) holdKept(ctx context.Context) error {
	for f, err := range lister(e.Store.Effects).each(ctx, kindSend) {
		if err != nil {
			return err
		}
		endpoint, kept := strings.CutPrefix(f.Error, keptPrefix)
		if !kept || f.Dead || f.Node != "" {
			continue
		}
		err := e.Update(ctx, func(t *txn.Tx) error {
			done, err := holdEffect(t, store.Completion{ID: f.ID}, endpoint)
			t.Change.Done = append(t.Change.Done, done)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			e.Log.Error("a delivery that an earlier release kept could not be held", "effect", f.ID, "endpoint",
				endpoint, "error", err)
		}
	}
	return nil
}

// testPause is the minimum time between two tests of an endpoint.
const testPause = time.Second

// recentTests has the times of tests that began less than testPause ago, keyed by endpoint.
type recentTests struct {
	mu sync.Mutex
	at map[string]time.Time
}

// begin records a test of an endpoint. It returns an [askback.RetryError] instead if the endpoint was tested
// less than testPause ago.
func (r *recentTests) begin(id string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range r.at {
		if now.Sub(at) >= testPause {
			delete(r.at, id)
		}
	}
	if at, recent := r.at[id]; recent {
		return &askback.RetryError{
			Err: askback.ErrTooFast, Why: "this endpoint was tested less than a second ago",
			After: at.Add(testPause).Sub(now),
		}
	}
	if r.at == nil {
		r.at = map[string]time.Time{}
	}
	r.at[id] = now
	return nil
}

// TestEndpoint implements [askback.EndpointControl].
func (c *Client) TestEndpoint(ctx context.Context, id string) (askback.EndpointTest, error) {
	out, err := c.testEndpoint(ctx, id)
	if err != nil {
		err = fmt.Errorf("test %s: %w", id, err)
	}
	return out, err
}

func (c *Client) testEndpoint(ctx context.Context, id string) (out askback.EndpointTest, err error) {
	s, err := c.readEndpoint(ctx, id)
	if err != nil {
		return out, err
	}
	e := c.service
	channel := e.Callbacks
	if channel == nil {
		return out, e.CheckReceiver("", s.Address)
	}
	if err := e.tested.begin(id, e.Clock()); err != nil {
		return out, err
	}
	secrets, err := e.signingSecrets(s, e.Clock())
	if err != nil {
		return askback.EndpointTest{Error: err.Error()}, nil
	}
	message, err := e.IDs.New("test_", e.Clock())
	if err != nil {
		return out, err
	}
	begun := time.Now()
	out.Code, err = channel.SendTest(ctx, message, id, s.Address, secrets)
	if out.Code != 0 { // the time of the reply would reveal whether a private name exists
		out.Duration = time.Since(begun)
	}
	if out.Accepted = err == nil; err != nil {
		out.Error = txn.ErrorText(err)
	}
	return out, nil
}

// readEndpoint returns an endpoint that this principal may change.
func (c *Client) readEndpoint(ctx context.Context, id string) (lifecycle.EndpointState, error) {
	if err := c.Authorize(access.ActEndpoints); err != nil {
		return lifecycle.EndpointState{}, err
	}
	row, err := c.service.Store.Read(ctx, KindEndpoint, id)
	if err != nil {
		return lifecycle.EndpointState{}, c.mayChange(askback.Endpoint{}, err)
	}
	s, err := DecodeEndpoint(row)
	return s, c.mayChange(s.Endpoint, err)
}

// ResendToEndpoint implements [askback.EndpointControl].
func (c *Client) ResendToEndpoint(ctx context.Context, id string, since time.Time) (n int, err error) {
	s, err := c.readEndpoint(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("resend %s: %w", id, err)
	}
	e, seen := c.service, map[string]bool{}
	for f, err := range lister(e.Store.Dead).each(ctx, kindSend) {
		queued := 0
		if err == nil && !seen[f.Subject] {
			if _, ok := e.deliveryTo(ctx, f, s.Endpoint); ok {
				seen[f.Subject] = true
				queued, err = e.resendRecord(ctx, f, since)
			}
		}
		if n += queued; err != nil {
			return n, fmt.Errorf("resend %s: %w", id, err)
		}
	}
	return n, nil
}

// resendRecord finds the record of an effect, and queues its failed deliveries again, in order. It selects
// the deliveries that were given up at or after since. It returns their number.
func (e *Service) resendRecord(ctx context.Context, f store.Effect, since time.Time) (n int, err error) {
	all, err := e.deliveriesOfRecord(ctx, f)
	if err != nil {
		return 0, nil // the record was deleted, or cannot be read
	}
	for _, d := range all.deliveries {
		if d.Status != askback.DeliveryFailed || d.At.Before(since) {
			continue
		}
		f.ID = d.ID
		switch err := e.reviveDeadLetter(ctx, f); {
		case err == nil:
			n++
		case !errors.Is(err, askback.ErrNotFound) && !errors.Is(err, askback.ErrBusy):
			// the delivery was deleted, or sent again meanwhile
			return n, err
		}
	}
	return n, nil
}

// deliveryTo returns the delivery of an effect, and whether its receiver is the endpoint to.
func (e *Service) deliveryTo(ctx context.Context, f store.Effect, to askback.Endpoint) (askback.Delivery, bool) {
	d, err := e.outgoing(ctx, f)
	return d.Delivery, err == nil && askback.Origin(d.address) == to.Origin &&
		e.endpointOwner(d.owner, d.address) == to.Owner
}
