package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/pause"
)

// roaming is a seat that outlives the server it is at: a call that got lost is
// made again at the next one. Every call is safe to repeat.
type roaming struct {
	desk *desk
	seat func(*connection) askback.Client
}

// call makes a call until it gets through. It gives up when ctx ends, when no
// server can be found, or when the first one is not there for [remoteTime].
func call[T any](ctx context.Context, r roaming, what func(context.Context, askback.Client) (T, error)) (out T, err error) {
	begun := time.Now()
	for attempt := 0; ; attempt++ {
		at, err := r.desk.connect(ctx)
		if err == nil {
			out, err = once(ctx, at, r.seat(at), what)
			if !isLost(err) || ctx.Err() != nil {
				r.desk.reach()
				return out, err
			}
			r.desk.lose(at)
		}
		if !r.desk.patient(err, begun) {
			return out, err
		}
		if err := pause.For(ctx, min(time.Second, 10*time.Millisecond<<min(attempt, 7))); err != nil {
			return out, err
		}
	}
}

// once makes a call on one connection, and ends it when the connection ends.
func once[T any](ctx context.Context, at *connection, seat askback.Client, what func(context.Context, askback.Client) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(at.closing, func() { cancel(askback.ErrStopping) })()
	out, err := what(ctx, seat)
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), askback.ErrStopping) {
		err = askback.ErrStopping // it was not the caller who would not wait
	}
	return out, err
}

// isLost says whether a call may have got lost on the way.
func isLost(err error) bool {
	return errors.Is(err, askback.ErrUnreachable) || errors.Is(err, askback.ErrStopping)
}

// reach notes that some server answered.
func (d *desk) reach() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reached = true
}

// patient says whether to go on looking for a server that does not answer. The
// local one is looked for by [instance.Place.Join], which has an end of its own:
// only a command that waits anyway, and was there before, begins again.
func (d *desk) patient(err error, begun time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case errors.Is(err, instance.ErrNobody):
		return d.reached && d.serve.kind != ""
	case !isLost(err):
		return false
	}
	return d.remote == "" || d.reached || time.Since(begun) < remoteTime
}

// Ask implements [askback.Asker]. The key is what makes it safe to repeat.
func (r roaming) Ask(ctx context.Context, in askback.Request) (askback.Ask, error) {
	if in.Key == "" {
		in.Key = rand.Text()
	}
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Ask(ctx, in) })
}

// Wait implements [askback.Asker]. Where too many wait already it looks again
// and again instead: the question stands, and somebody will answer it.
func (r roaming) Wait(ctx context.Context, id string) (askback.Ask, error) {
	for {
		a, err := call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Wait(ctx, id) })
		if !errors.Is(err, askback.ErrTooMany) && !errors.Is(err, askback.ErrBusy) && !errors.Is(err, askback.ErrFull) {
			return a, err
		}
		after := crowdPause
		if retry, ok := errors.AsType[*askback.RetryError](err); ok {
			after = max(after, retry.After)
		}
		if a, err = r.Get(ctx, id); err != nil || a.Settled() {
			return a, err
		}
		if err := pause.For(ctx, after); err != nil {
			return a, err
		}
	}
}

// crowdPause is the time between two looks of somebody who may not wait.
const crowdPause = 2 * time.Second

// Cancel implements [askback.Asker].
func (r roaming) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Cancel(ctx, id, reason) })
}

// Consume implements [askback.Asker].
func (r roaming) Consume(ctx context.Context, id, digest string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Consume(ctx, id, digest) })
}

// Ack implements [askback.Asker].
func (r roaming) Ack(ctx context.Context, id string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Ack(ctx, id) })
}

// Get implements [askback.Inbox].
func (r roaming) Get(ctx context.Context, id string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Get(ctx, id) })
}

// List implements [askback.Inbox].
func (r roaming) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Page, error) { return s.List(ctx, q) })
}

// Answer implements [askback.Inbox].
func (r roaming) Answer(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Answer(ctx, id, a) })
}

// Decline implements [askback.Inbox].
func (r roaming) Decline(ctx context.Context, id, reason string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Decline(ctx, id, reason) })
}

// Claim implements [askback.Inbox].
func (r roaming) Claim(ctx context.Context, id string) (askback.Ask, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Ask, error) { return s.Claim(ctx, id) })
}

// Draft implements [askback.Drafts].
func (r roaming) Draft(ctx context.Context, id string) (json.RawMessage, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (json.RawMessage, error) { return s.Draft(ctx, id) })
}

// SaveDraft implements [askback.Drafts].
func (r roaming) SaveDraft(ctx context.Context, id string, draft json.RawMessage) error {
	_, err := call(ctx, r, func(ctx context.Context, s askback.Client) (struct{}, error) {
		return struct{}{}, s.SaveDraft(ctx, id, draft)
	})
	return err
}

// Grants implements [askback.Grants].
func (r roaming) Grants(ctx context.Context, q askback.GrantQuery) (askback.GrantPage, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.GrantPage, error) { return s.Grants(ctx, q) })
}

// Revoke implements [askback.Grants].
func (r roaming) Revoke(ctx context.Context, id string) (askback.Grant, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Grant, error) { return s.Revoke(ctx, id) })
}

// People implements [askback.Directory].
func (r roaming) People(ctx context.Context) ([]askback.Person, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) ([]askback.Person, error) { return s.People(ctx) })
}

// Agents implements [askback.Directory].
func (r roaming) Agents(ctx context.Context) ([]askback.AgentStats, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) ([]askback.AgentStats, error) { return s.Agents(ctx) })
}

// Stats implements [askback.Directory].
func (r roaming) Stats(ctx context.Context) (askback.Stats, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Stats, error) { return s.Stats(ctx) })
}

// Tokens implements [askback.Tokens].
func (r roaming) Tokens(ctx context.Context) ([]askback.Token, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) ([]askback.Token, error) { return s.Tokens(ctx) })
}

// CreateToken implements [askback.Tokens]. Lost on the way, it may leave a
// token behind that nobody has the secret of.
func (r roaming) CreateToken(ctx context.Context, in askback.TokenRequest) (t askback.Token, secret string, err error) {
	t, err = call(ctx, r, func(ctx context.Context, s askback.Client) (t askback.Token, err error) {
		t, secret, err = s.CreateToken(ctx, in)
		return t, err
	})
	return t, secret, err
}

// RevokeToken implements [askback.Tokens].
func (r roaming) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (askback.Token, error) { return s.RevokeToken(ctx, id) })
}

// LoginSecret implements [askback.Tokens].
func (r roaming) LoginSecret(ctx context.Context) (string, error) {
	return call(ctx, r, func(ctx context.Context, s askback.Client) (string, error) { return s.LoginSecret(ctx) })
}
