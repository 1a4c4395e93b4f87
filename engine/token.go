package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
)

// lastUseTime limits how long Run may take to store the last uses of tokens when it ends.
const lastUseTime = 2 * time.Second

// useLoop stores the last uses of tokens every [auth.UseInterval] until ctx ends, and then once
// more.
func (e *Engine) useLoop(ctx context.Context) {
	for running := true; running; running = ctx.Err() == nil {
		_ = txn.Sleep(ctx, auth.UseInterval, nil) // the loop ends with ctx
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastUseTime)
		if err := e.StoreUses(end); err != nil {
			e.db.Log.Warn("the last uses of tokens could not be stored", "error", err)
		}
		if err := e.people.StoreContactUses(end); err != nil {
			e.db.Log.Warn("the last uses of contacts could not be stored", "error", err)
		}
		cancel()
	}
}

// CreateToken implements [askback.Tokens].
func (c *client) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	if err := c.Authorize(access.ActTokens); err != nil {
		return askback.Token{}, "", err
	}
	if err := c.engine.people.CheckNewName(ctx, "/name", r.Name, r.Kind); err != nil {
		return askback.Token{}, "", err
	}
	return c.engine.CreateToken(ctx, r)
}

// Tokens implements [askback.Tokens].
func (c *client) Tokens(ctx context.Context) (tokens []askback.Token, err error) {
	if err := c.Authorize(access.ActTokenList); err != nil {
		return nil, err
	}
	err = c.engine.EachToken(ctx, false, func(t askback.Token) { tokens = append(tokens, t) })
	return tokens, err
}

// RevokeToken implements [askback.Tokens].
func (c *client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	if err := c.Authorize(access.ActTokens); err != nil {
		return askback.Token{}, err
	}
	t, err := c.engine.RevokeToken(ctx, id)
	if err != nil {
		return askback.Token{}, fmt.Errorf("revoke %s: %w", id, err)
	}
	return t, nil
}

// LoginSecret implements [askback.Tokens].
func (c *client) LoginSecret(ctx context.Context) (string, error) {
	if err := c.Authorize(access.ActLogin); err != nil {
		return "", err
	}
	return c.engine.LoginSecret(ctx, c.Who)
}
