package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/serverlog"
)

// issuer lets agents in with a token of the issuer that people log in with, as long as
// the settings have it.
type issuer struct {
	*login.Issuer
	engine *engine.Engine
	log    *slog.Logger
	said   *atomic.Int64 // when a refusal was last said, in unix seconds
}

// Agent implements [mcpserver.Issuer].
func (i issuer) Agent(ctx context.Context, token string) (name, label string, err error) {
	if !i.engine.Trusts(i.Address()) {
		return "", "", askback.ErrUnauthorized
	}
	name, label, err = i.Issuer.Agent(ctx, token)
	if errors.Is(err, login.ErrInvalid) {
		// Strangers can show as many as they like.
		if now := time.Now().Unix(); i.log != nil && i.said.Swap(now) != now {
			i.log.Warn("a token of the issuer was refused", "error", fmt.Sprintf("%.500s", err))
		}
		err = fmt.Errorf("%w: %w", askback.ErrUnauthorized, err)
	}
	if err == nil {
		serverlog.SetPrincipal(ctx, askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelMCP})
	}
	return name, label, err
}

// look says who people log in with, and whether that works.
func (i issuer) look(ctx context.Context) {
	i.log.Info("people log in with the issuer", "issuer", i.Address(), "callback", i.Callback())
	if err := i.Reach(ctx); err != nil && ctx.Err() == nil {
		i.log.Warn("the issuer does not answer as it should: logging in with it does not work yet, askback login does", "error", err)
	}
}

// checkIssuer says what is missing for people to log in.
func checkIssuer(o config.OIDC, public string) error {
	switch {
	case o == (config.OIDC{}):
		return nil
	case public == "":
		return usage("login.oidc needs public_url: it sends people back there, and agents get tokens for it")
	case o.ClientID == public+login.ResourcePath:
		return usage("login.oidc.client_id is what tokens of agents are for; register this server under another name")
	}
	return nil
}

// issuer is who says who people are, or nil. A command that holds the database only
// while it waits serves this machine alone, under an address the issuer does not know.
func (d *desk) issuer(public string) *login.Issuer {
	if o := d.file.Login.OIDC; o != (config.OIDC{}) && d.serve.kind == instance.KindServe {
		return login.NewIssuer(login.Settings{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: public, Key: d.tokens.seal()})
	}
	return nil
}
