package connection

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/store/sqlite"
)

// A client is an [askback.Client] that repeats a lost call on the next connection. A repeated call has no
// further effect, except CreateToken, RotateEndpoint, TestEndpoint and ContactCode. A repeated RetryDelivery,
// DeletePerson or DeleteGroup may return [askback.ErrNotFound].
type client struct {
	connector *Connector
	of        func(*conn) askback.Client
}

// retry makes a call. It repeats a lost call on the next connection until ctx ends or [Connector.retries]
// returns false for the error.
func retry[T any](
	ctx context.Context, c client, call func(context.Context, askback.Client) (T, error),
) (out T, err error) {
	start := time.Now()
	for attempt := 0; ; attempt++ {
		conn, err := c.connector.connect(ctx)
		if err == nil {
			out, err = callOn(ctx, conn, c.of(conn), call)
			if !isLost(err) || ctx.Err() != nil {
				c.connector.setReached()
				return out, err
			}
			c.connector.lose(conn)
		}
		if !c.connector.retries(err, start) {
			return out, err
		}
		if err := pause.For(ctx, min(time.Second, 10*time.Millisecond<<min(attempt, 7))); err != nil {
			return out, err
		}
	}
}

// callOn makes a call on a connection. If the connection closes first, it returns [askback.ErrStopping].
func callOn[T any](
	ctx context.Context, conn *conn, c askback.Client, call func(context.Context, askback.Client) (T, error),
) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(conn.closing, func() { cancel(askback.ErrStopping) })()
	out, err := call(ctx, c)
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), askback.ErrStopping) {
		err = askback.ErrStopping // the caller did not cancel
	}
	return out, err
}

// isLost reports whether err means that a call may not have reached the server, or that its
// reply may have been lost.
func isLost(err error) bool {
	return errors.Is(err, askback.ErrUnreachable) || errors.Is(err, askback.ErrStopping)
}

// setReached records that a server has replied.
func (c *Connector) setReached() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached = true
}

// retries reports whether a call that began at start is repeated after err.
//
// A lost call to a local server is always repeated: [instance.Place.Join] limits the search for the next server
// and ends it with ErrNoReply. After ErrNoReply, only a command with a Kind that was connected before searches
// again. Such a command also waits for the next server if a newer version has migrated the database, which this
// process cannot open. A lost call to a remote server is repeated if a server has replied before, or within
// remoteTime. With [Options.ServerOnly], no call is repeated.
func (c *Connector) retries(err error, start time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.options.ServerOnly:
		return false
	case errors.Is(err, instance.ErrNoReply), errors.Is(err, sqlite.ErrNewer):
		return c.reached && c.options.Kind != ""
	case !isLost(err):
		return false
	}
	return c.options.Remote == "" || c.reached || time.Since(start) < remoteTime
}

// retry0, retry1 and retry2 call retry with a method of 0, 1 or 2 arguments.

func retry0[T any](ctx context.Context, c client, m func(askback.Client, context.Context) (T, error)) (T, error) {
	return retry(ctx, c, func(ctx context.Context, to askback.Client) (T, error) { return m(to, ctx) })
}

func retry1[A, T any](
	ctx context.Context, c client, m func(askback.Client, context.Context, A) (T, error), a A,
) (T, error) {
	return retry(ctx, c, func(ctx context.Context, to askback.Client) (T, error) { return m(to, ctx, a) })
}

func retry2[A, B, T any](
	ctx context.Context, c client, m func(askback.Client, context.Context, A, B) (T, error), a A, b B,
) (T, error) {
	return retry(ctx, c, func(ctx context.Context, to askback.Client) (T, error) { return m(to, ctx, a, b) })
}

// Ask implements [askback.Asker]. If the request has no key, it sets a key, so that a repeated call is the
// same ask.
func (c client) Ask(ctx context.Context, in askback.Request) (askback.Ask, error) {
	in.Key = cmp.Or(in.Key, rand.Text())
	return retry1(ctx, c, askback.Client.Ask, in)
}

// pollPause is the time between two polls for an outcome.
const pollPause = 2 * time.Second

// Start implements [askback.Sessions]. If the request has no key, it sets a key, so that a repeated call
// starts no second session.
func (c client) Start(ctx context.Context, in askback.SessionRequest) (askback.Session, error) {
	in.Key = cmp.Or(in.Key, rand.Text())
	return retry1(ctx, c, askback.Client.Start, in)
}

// Wait implements [askback.Asker]. If the server is busy, or accepts no further waiting
// call, it polls.
func (c client) Wait(ctx context.Context, id string) (askback.Ask, error) {
	for {
		a, err := retry1(ctx, c, askback.Client.Wait, id)
		if !errors.Is(err, askback.ErrTooMany) && !errors.Is(err, askback.ErrBusy) && !errors.Is(err, askback.ErrFull) {
			return a, err
		}
		delay := pollPause
		if limited, ok := errors.AsType[*askback.RetryError](err); ok {
			delay = max(delay, limited.After)
		}
		if a, err = c.Get(ctx, id); err != nil || a.Settled() {
			return a, err
		}
		if err := pause.For(ctx, delay); err != nil {
			return a, err
		}
	}
}

// Hold implements [askback.Holder].
func (c client) Hold(ctx context.Context, id string, a askback.Answer) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.Hold, id, a)
}

// HoldDecline implements [askback.Holder].
func (c client) HoldDecline(ctx context.Context, id, reason string) (askback.Ask, error) {
	return retry2(ctx, c, askback.Client.HoldDecline, id, reason)
}

// Undo implements [askback.Holder].
func (c client) Undo(ctx context.Context, id string) (askback.Ask, error) {
	return retry1(ctx, c, askback.Client.Undo, id)
}

// Snooze implements [askback.Snoozer].
func (c client) Snooze(ctx context.Context, id string, until time.Time) (askback.Snooze, error) {
	return retry2(ctx, c, askback.Client.Snooze, id, until)
}

// Snoozed implements [askback.Snoozer].
func (c client) Snoozed(ctx context.Context, id string) (askback.Snooze, error) {
	return retry1(ctx, c, askback.Client.Snoozed, id)
}

// Unsnooze implements [askback.Snoozer].
func (c client) Unsnooze(ctx context.Context, id string) error {
	_, err := retry(ctx, c, func(ctx context.Context, to askback.Client) (struct{}, error) {
		return struct{}{}, to.Unsnooze(ctx, id)
	})
	return err
}

// CreateToken implements [askback.Tokens]. If the reply is lost, it creates another token.
// The first token remains, and its secret is unknown.
func (c client) CreateToken(ctx context.Context, in askback.TokenRequest) (t askback.Token, secret string, err error) {
	t, err = retry(ctx, c, func(ctx context.Context, to askback.Client) (t askback.Token, err error) {
		t, secret, err = to.CreateToken(ctx, in)
		return t, err
	})
	return t, secret, err
}

// CreateEndpoint implements [askback.Endpoints]. If the reply is lost, the repeated call returns
// [askback.ErrExists]. The caller must then rotate the secret.
func (c client) CreateEndpoint(
	ctx context.Context, in askback.EndpointRequest,
) (e askback.Endpoint, secret string, err error) {
	e, err = retry(ctx, c, func(ctx context.Context, to askback.Client) (e askback.Endpoint, err error) {
		e, secret, err = to.CreateEndpoint(ctx, in)
		return e, err
	})
	return e, secret, err
}

// RotateEndpoint implements [askback.Endpoints]. If the reply is lost, the repeated call
// replaces the secret again.
func (c client) RotateEndpoint(ctx context.Context, id string) (e askback.Endpoint, secret string, err error) {
	e, err = retry(ctx, c, func(ctx context.Context, to askback.Client) (e askback.Endpoint, err error) {
		e, secret, err = to.RotateEndpoint(ctx, id)
		return e, err
	})
	return e, secret, err
}

// Events implements [askback.Events]. If the connection is lost, it continues on the next connection, after
// the last event that it yielded.
func (c client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		more := true
		_, err := retry(ctx, c, func(ctx context.Context, to askback.Client) (struct{}, error) {
			for ev, err := range to.Events(ctx, sessionID, after) {
				if err != nil {
					return struct{}{}, err
				}
				c.connector.setReached()
				if ev.Cursor != "" {
					after = ev.Cursor
				}
				if more = yield(ev, nil); !more {
					break
				}
			}
			return struct{}{}, nil
		})
		if more && err != nil {
			yield(askback.Event{}, err)
		}
	}
}
