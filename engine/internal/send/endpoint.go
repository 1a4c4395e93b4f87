package send

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// KindEndpoint is the kind of the records of endpoints.
const KindEndpoint = "endpoint"

// endpointKey returns the key of the record of an endpoint. The length of the owner keeps
// the keys of different owners apart.
func endpointKey(owner, origin string) string {
	return strconv.Itoa(len(owner)) + ":" + owner + ":" + origin
}

// lockEndpoint locks and reads an endpoint.
func lockEndpoint(t *txn.Tx, id string) (*txn.EndpointRecord, error) {
	return txn.Load(t, KindEndpoint, id, DecodeEndpoint)
}

// endpointSecret is the number of random bytes in a secret. endpointSecretPrefix is the text before the
// base64 form of a secret (see standardwebhooks.com).
const (
	endpointSecret       = 32
	endpointSecretPrefix = "whsec_"
)

// newEndpointSecret returns a new secret and its stored form for the endpoint with an id.
func (e *Service) newEndpointSecret(id string) (secret, stored string, err error) {
	b := make([]byte, endpointSecret)
	if _, err := io.ReadFull(e.Rand, b); err != nil {
		return "", "", fmt.Errorf("make a secret: %w", err)
	}
	secret = endpointSecretPrefix + base64.StdEncoding.EncodeToString(b)
	stored, err = e.Sealer.Seal(secret, id)
	return secret, stored, err
}

// makeEndpoint makes the endpoint of an owner and an address. If hasSecret is set, the endpoint has a secret
// of its own. The error is [askback.ErrExists] if the endpoint exists, and [askback.ErrTooMany] if the owner
// has too many endpoints.
func (e *Service) makeEndpoint(
	t *txn.Tx, owner, address string, hasSecret bool,
) (r *txn.EndpointRecord, secret string, err error) {
	origin := askback.Origin(address)
	key := endpointKey(owner, origin)
	if _, err := e.Store.ReadKey(t.Context(), KindEndpoint, key); err == nil {
		return nil, "", askback.ErrExists
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, "", err
	}
	if n, err := e.Store.CountOpen(t.Context(), KindEndpoint, owner, limits.MaxEndpoints); err != nil {
		return nil, "", err
	} else if n >= limits.MaxEndpoints && owner != "" {
		return nil, "", &askback.RetryError{
			Err: askback.ErrTooMany, Why: fmt.Sprintf("this agent has %d endpoints, the maximum; delete some", n),
			After: performMaxPause,
		}
	}
	id, err := e.IDs.New(ids.Endpoint, t.Now())
	if err != nil {
		return nil, "", err
	}
	in := lifecycle.EndpointMade{
		Endpoint: askback.Endpoint{ID: id, Owner: owner, Origin: origin}, Address: address, At: t.Now(),
	}
	if hasSecret {
		if secret, in.Secret, err = e.newEndpointSecret(id); err != nil {
			return nil, "", err
		}
	}
	r = txn.Add(t, store.Record{Kind: KindEndpoint, ID: id, Key: key, Owner: owner, Created: t.Now()},
		lifecycle.EndpointState{})
	return r, secret, r.Step(t, in)
}

// Endpoints implements [askback.Endpoints].
func (c *Client) Endpoints(ctx context.Context, q askback.EndpointQuery) (askback.EndpointPage, error) {
	if err := c.Authorize(access.ActEndpoints); err != nil {
		return askback.EndpointPage{}, err
	}
	if err := cmp.Or(q.Check(), txn.CheckCursor(ids.Endpoint, q.Cursor)); err != nil {
		return askback.EndpointPage{}, err
	}
	if c.Who.Kind == askback.Agent {
		if q.Owner != "" && q.Owner != c.Who.Name {
			return askback.EndpointPage{}, nil
		}
		q.Owner = c.Who.Name
	}
	from := store.Query{Kind: KindEndpoint, Owner: q.Owner, Status: string(q.Status), Newest: true, After: q.Cursor}
	items, next, err := txn.ListPage(ctx,
		c.service.DB, from, q.Limit, func(row store.Record) (askback.Endpoint, bool, error) {
			s, err := DecodeEndpoint(row)
			return s.Endpoint, true, err
		})
	if err != nil {
		return askback.EndpointPage{}, fmt.Errorf("endpoints: %w", txn.FromStore(err))
	}
	return askback.EndpointPage{Items: items, NextCursor: next}, nil
}

// CreateEndpoint implements [askback.Endpoints].
func (c *Client) CreateEndpoint(
	ctx context.Context, r askback.EndpointRequest,
) (_ askback.Endpoint, secret string, err error) {
	if err := c.Authorize(access.ActEndpoints); err != nil {
		return askback.Endpoint{}, "", err
	}
	if err := cmp.Or(r.Check(), c.service.CheckReceiver("/url", r.URL), c.checkEndpointOwner(&r)); err != nil {
		return askback.Endpoint{}, "", err
	}
	var made *txn.EndpointRecord
	err = c.service.Update(ctx, func(t *txn.Tx) (err error) {
		made, secret, err = c.service.makeEndpoint(t, r.Owner, r.URL, true)
		return err
	})
	if err != nil {
		return askback.Endpoint{}, "", fmt.Errorf("create endpoint: %w", err)
	}
	return made.State.Endpoint, secret, nil
}

// checkEndpointOwner sets the owner of an agent's request to the agent. It returns an error if the endpoint
// would never be used, or if the agent may not make it.
func (c *Client) checkEndpointOwner(r *askback.EndpointRequest) error {
	fallback := c.service.Settings.Load().CallbackURL
	switch {
	case c.Who.Kind == askback.Agent && r.Owner != "" && r.Owner != c.Who.Name:
		return askback.Invalid{
			{Pointer: "/owner", Detail: "an agent can add endpoints only for itself", Fix: "leave it out"},
		}
	case c.Who.Kind == askback.Agent:
		r.Owner = c.Who.Name
	case r.Owner == "" && askback.Origin(fallback) != askback.Origin(r.URL):
		return askback.Invalid{{
			Pointer: "/owner", Detail: "asks without a callback address are not sent to this receiver: " +
				"channels.webhook.url in the settings is another address",
			Fix: `"owner": "deploy-bot"`,
		}}
	}
	return nil
}

// relationToEndpoint returns the relation of this principal to an endpoint.
func (c *Client) relationToEndpoint(e askback.Endpoint) access.Relation {
	if c.Who.Kind == askback.Agent && c.Who.Name == e.Owner {
		return access.Owner
	}
	return access.Unrelated
}

// mayChange returns an error unless this principal may change an endpoint that was read with the error err.
// The error is the same for an unknown endpoint and for an endpoint of another owner.
func (c *Client) mayChange(e askback.Endpoint, err error) error {
	if err == nil && !access.Allowed(c.Who.Kind, access.ActEndpoints, c.relationToEndpoint(e)) {
		err = askback.ErrNotFound
	}
	return txn.FromStore(err)
}

// changeEndpoint calls change with an endpoint that this principal may change. The call is part of a tx.
// changeEndpoint returns the endpoint after the commit.
func (c *Client) changeEndpoint(
	ctx context.Context, verb, id string, change func(*txn.Tx, *txn.EndpointRecord) error,
) (askback.Endpoint, error) {
	if err := c.Authorize(access.ActEndpoints); err != nil {
		return askback.Endpoint{}, err
	}
	var r *txn.EndpointRecord
	err := c.service.Update(ctx, func(t *txn.Tx) (err error) {
		if r, err = lockEndpoint(t, id); err != nil {
			return err
		}
		if err := c.mayChange(r.State.Endpoint, nil); err != nil {
			return err
		}
		return change(t, r)
	})
	if err != nil {
		return askback.Endpoint{}, fmt.Errorf("%s %s: %w", verb, id, err)
	}
	return r.State.Endpoint, nil
}

// RotateEndpoint implements [askback.Endpoints].
func (c *Client) RotateEndpoint(ctx context.Context, id string) (_ askback.Endpoint, secret string, err error) {
	e, err := c.changeEndpoint(ctx, "rotate", id, func(t *txn.Tx, r *txn.EndpointRecord) error {
		fresh, stored, err := c.service.newEndpointSecret(id)
		if err != nil {
			return err
		}
		secret = fresh
		return r.Step(t, lifecycle.EndpointRotated{Secret: stored, At: t.Now()})
	})
	if err != nil {
		return askback.Endpoint{}, "", err
	}
	return e, secret, nil
}

// DeleteEndpoint implements [askback.Endpoints].
func (c *Client) DeleteEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "delete", id, func(t *txn.Tx, r *txn.EndpointRecord) error {
		if r.State.Endpoint.Status != askback.EndpointActive {
			return askback.ErrNotActive // if the endpoint were deleted, waiting messages would still be sent
		}
		t.Delete(r.Row)
		return nil
	})
}

// PauseEndpoint implements [askback.EndpointControl].
func (c *Client) PauseEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "pause", id, func(t *txn.Tx, r *txn.EndpointRecord) error {
		return r.Step(t, lifecycle.EndpointPaused{By: c.Who.Name, At: t.Now()})
	})
}

// ResumeEndpoint implements [askback.EndpointControl].
func (c *Client) ResumeEndpoint(ctx context.Context, id string) (askback.Endpoint, error) {
	return c.changeEndpoint(ctx, "resume", id, func(t *txn.Tx, r *txn.EndpointRecord) error {
		t.Change.Release = append(t.Change.Release, id)
		return r.Step(t, lifecycle.EndpointResumed{By: c.Who.Name, At: t.Now()})
	})
}

// DecodeEndpoint returns the state of the record of an endpoint.
func DecodeEndpoint(row store.Record) (lifecycle.EndpointState, error) {
	return txn.Readable(lifecycle.DecodeEndpoint(row.ID, row.Fixed, row.State))
}
