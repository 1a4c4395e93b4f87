package engine

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

const kindEndpoint = "endpoint"

// A TestingChannel is a [Channel] that can send test messages to endpoints.
type TestingChannel interface {
	Channel
	// SendTest sends a test message with an id to an address of an endpoint. It returns the
	// status of the reply, or 0 if there was none.
	SendTest(ctx context.Context, id, endpoint, address string, secrets []string) (code int, err error)
}

// endpoints are what an engine needs to send to endpoints, besides their records.
type endpoints struct {
	sealer
	ownSecrets bool // see [Options.EndpointSecrets]
	tested     recentTests
}

// endpointKey returns the key of the record of an endpoint. The length of the owner keeps
// the keys of different owners apart.
func endpointKey(owner, origin string) string {
	return strconv.Itoa(len(owner)) + ":" + owner + ":" + origin
}

// endpoint locks and reads an endpoint.
func (t *tx) endpoint(id string) (*endpointRecord, error) {
	return load(t, kindEndpoint, id, decodeEndpoint)
}

// endpointSecret is the number of random bytes in a secret, and the text before its base64:
// see standardwebhooks.com.
const (
	endpointSecret       = 32
	endpointSecretPrefix = "whsec_"
)

// newEndpointSecret returns a new secret and its stored form for the endpoint with an id.
func (e *Engine) newEndpointSecret(id string) (secret, stored string, err error) {
	b := make([]byte, endpointSecret)
	if _, err := io.ReadFull(e.rand, b); err != nil {
		return "", "", fmt.Errorf("make a secret: %w", err)
	}
	secret = endpointSecretPrefix + base64.StdEncoding.EncodeToString(b)
	stored, err = e.endpoints.seal(secret, id)
	return secret, stored, err
}

// makeEndpoint makes the endpoint of an owner and an address, with a secret of its own if
// hasSecret is set. The error is [askback.ErrExists] if there is one, and
// [askback.ErrTooMany] if the owner has too many.
func (t *tx) makeEndpoint(owner, address string, hasSecret bool) (r *endpointRecord, secret string, err error) {
	e, origin := t.engine, askback.Origin(address)
	key := endpointKey(owner, origin)
	if _, err := e.store.ReadKey(t.ctx, kindEndpoint, key); err == nil {
		return nil, "", askback.ErrExists
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, "", err
	}
	if n, err := e.store.CountOpen(t.ctx, kindEndpoint, owner, askback.MaxEndpoints); err != nil {
		return nil, "", err
	} else if n >= askback.MaxEndpoints && owner != "" {
		return nil, "", &askback.RetryError{
			Err: askback.ErrTooMany, Why: fmt.Sprintf("this agent has %d endpoints, as many as it may; delete some", n), After: performMaxPause,
		}
	}
	id, err := e.ids.New(ids.Endpoint, t.now)
	if err != nil {
		return nil, "", err
	}
	in := lifecycle.EndpointMade{Endpoint: askback.Endpoint{ID: id, Owner: owner, Origin: origin}, Address: address, At: t.now}
	if hasSecret {
		if secret, in.Secret, err = e.newEndpointSecret(id); err != nil {
			return nil, "", err
		}
	}
	r = add(t, store.Record{Kind: kindEndpoint, ID: id, Key: key, Owner: owner, Created: t.now}, lifecycle.EndpointState{})
	return r, secret, r.step(t, in)
}

// Endpoints implements [askback.Endpoints].
func (c *client) Endpoints(ctx context.Context, q askback.EndpointQuery) (askback.EndpointPage, error) {
	if err := c.authorize(access.ActEndpoints); err != nil {
		return askback.EndpointPage{}, err
	}
	if err := cmp.Or(q.Check(), checkCursor(ids.Endpoint, q.Cursor)); err != nil {
		return askback.EndpointPage{}, err
	}
	if c.who.Kind == askback.Agent {
		if q.Owner != "" && q.Owner != c.who.Name {
			return askback.EndpointPage{}, nil
		}
		q.Owner = c.who.Name
	}
	from := store.Query{Kind: kindEndpoint, Owner: q.Owner, Status: string(q.Status), Newest: true, After: q.Cursor}
	items, next, err := listPage(ctx, c.engine, from, q.Limit, func(row store.Record) (askback.Endpoint, bool, error) {
		s, err := decodeEndpoint(row)
		return s.Endpoint, true, err
	})
	if err != nil {
		return askback.EndpointPage{}, fmt.Errorf("endpoints: %w", fromStore(err))
	}
	return askback.EndpointPage{Items: items, NextCursor: next}, nil
}

// CreateEndpoint implements [askback.Endpoints].
func (c *client) CreateEndpoint(ctx context.Context, r askback.EndpointRequest) (_ askback.Endpoint, secret string, err error) {
	if err := c.authorize(access.ActEndpoints); err != nil {
		return askback.Endpoint{}, "", err
	}
	if err := cmp.Or(r.Check(), c.engine.checkReceiver("/url", r.URL), c.checkEndpointOwner(&r)); err != nil {
		return askback.Endpoint{}, "", err
	}
	var made *endpointRecord
	err = c.engine.update(ctx, func(t *tx) (err error) {
		made, secret, err = t.makeEndpoint(r.Owner, r.URL, true)
		return err
	})
	if err != nil {
		return askback.Endpoint{}, "", fmt.Errorf("create endpoint: %w", err)
	}
	return made.state.Endpoint, secret, nil
}

// checkEndpointOwner sets the owner of a request by an agent to the agent. It returns an
// error if the endpoint would never be used, or if the agent may not make it.
func (c *client) checkEndpointOwner(r *askback.EndpointRequest) error {
	fallback := c.engine.settings.Load().CallbackURL
	switch {
	case c.who.Kind == askback.Agent && r.Owner != "" && r.Owner != c.who.Name:
		return askback.Invalid{{Pointer: "/owner", Detail: "an agent makes endpoints only for itself", Fix: "leave it out"}}
	case c.who.Kind == askback.Agent:
		r.Owner = c.who.Name
	case r.Owner == "" && askback.Origin(fallback) != askback.Origin(r.URL):
		return askback.Invalid{{
			Pointer: "/owner", Detail: "asks that name no callback are not sent to this receiver: channels.webhook.url of the settings is not one of its addresses",
			Fix: `"owner": "deploy-bot"`,
		}}
	}
	return nil
}

// relationToEndpoint returns the relation of this principal to an endpoint.
func (c *client) relationToEndpoint(e askback.Endpoint) access.Relation {
	if c.who.Kind == askback.Agent && c.who.Name == e.Owner {
		return access.Owner
	}
	return access.Unrelated
}

// mayChange returns an error unless this principal may change an endpoint that was read with
// the error err. "Unknown" and "not yours" are the same error.
func (c *client) mayChange(e askback.Endpoint, err error) error {
	if err == nil && !access.Allowed(c.who.Kind, access.ActEndpoints, c.relationToEndpoint(e)) {
		err = askback.ErrNotFound
	}
	return fromStore(err)
}

// changeEndpoint calls change with an endpoint that this principal may change, in a tx. It
// returns the endpoint after the commit.
func (c *client) changeEndpoint(ctx context.Context, verb, id string, change func(*tx, *endpointRecord) error) (askback.Endpoint, error) {
	if err := c.authorize(access.ActEndpoints); err != nil {
		return askback.Endpoint{}, err
	}
	var r *endpointRecord
	err := c.engine.update(ctx, func(t *tx) (err error) {
		if r, err = t.endpoint(id); err != nil {
			return err
		}
		if err := c.mayChange(r.state.Endpoint, nil); err != nil {
			return err
		}
		return change(t, r)
	})
	if err != nil {
		return askback.Endpoint{}, fmt.Errorf("%s %s: %w", verb, id, err)
	}
	return r.state.Endpoint, nil
}

// RotateEndpoint implements [askback.Endpoints].
func (c *client) RotateEndpoint(ctx context.Context, id string) (_ askback.Endpoint, secret string, err error) {
	e, err := c.changeEndpoint(ctx, "rotate", id, func(t *tx, r *endpointRecord) error {
		fresh, stored, err := t.engine.newEndpointSecret(id)
		if err != nil {
			return err
		}
		secret = fresh
		return r.step(t, lifecycle.EndpointRotated{Secret: stored, At: t.now})
	})
	if err != nil {
		return askback.Endpoint{}, "", err
	}
	return e, secret, nil
}

// DeleteEndpoint implements [askback.Endpoints].
func (c *client) DeleteEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "delete", id, func(t *tx, r *endpointRecord) error {
		if r.state.Endpoint.Status != askback.EndpointActive {
			return askback.ErrNotActive // messages that wait would be sent after all
		}
		t.Delete(r.row)
		return nil
	})
}

// PauseEndpoint implements [askback.EndpointControl].
func (c *client) PauseEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "pause", id, func(t *tx, r *endpointRecord) error {
		return r.step(t, lifecycle.EndpointPaused{By: c.who.Name, At: t.now})
	})
}

// ResumeEndpoint implements [askback.EndpointControl].
func (c *client) ResumeEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "resume", id, func(t *tx, r *endpointRecord) error {
		t.change.Release = append(t.change.Release, id)
		return r.step(t, lifecycle.EndpointResumed{By: c.who.Name, At: t.now})
	})
}
