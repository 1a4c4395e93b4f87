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
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/server/serverlog"
)

// An issuer authenticates agents by tokens of the OpenID Connect issuer, as long as the settings contain that
// issuer.
type issuer struct {
	*login.Issuer
	engine *engine.Engine
	log    *slog.Logger
	warned *atomic.Int64 // when a rejected token was logged last, in Unix seconds
}

// Agent implements [mcpserver.Issuer].
func (i issuer) Agent(ctx context.Context, token string) (name, label string, err error) {
	if !i.engine.Trusts(i.Address()) {
		return "", "", askback.ErrUnauthorized
	}
	name, label, err = i.Issuer.Agent(ctx, token)
	if errors.Is(err, login.ErrInvalid) {
		// At most one token a second is logged, because an attacker can send any number.
		if now := time.Now().Unix(); i.log != nil && i.warned.Swap(now) != now {
			i.log.Warn("a token of the issuer was rejected", "error", fmt.Sprintf("%.500s", err))
		}
		err = fmt.Errorf("%w: %w", askback.ErrUnauthorized, err)
	}
	if err == nil {
		serverlog.SetPrincipal(ctx, askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelMCP})
	}
	return name, label, err
}

// check logs the issuer that people log in with. It also logs a warning if the issuer cannot be used.
func (i issuer) check(ctx context.Context) {
	i.log.Info("people log in with the issuer", "issuer", i.Address(), "callback", i.Callback())
	if err := i.Reach(ctx); err != nil && ctx.Err() == nil {
		i.log.Warn("the issuer cannot be used: people cannot log in with it yet, but askback login works", "error", err)
	}
}

// checkIssuer checks the settings of an issuer. It returns an error if public_url is missing, or if the
// client id is the audience of the tokens of agents. It does not connect to the issuer.
func checkIssuer(o config.OIDC, public string) error {
	switch {
	case o == (config.OIDC{}):
		return nil
	case public == "":
		return usage("login.oidc needs public_url: the issuer sends people back to it, and tokens of agents are for it")
	case o.ClientID == public+login.ResourcePath:
		return usage("login.oidc.client_id must differ from the audience of agents' tokens: register this server " +
			"under another name")
	}
	return nil
}

// loginSettings returns the settings to log in with the issuer, or nil if no issuer is
// configured.
func loginSettings(o config.OIDC, public string, key []byte) *login.Settings {
	if o == (config.OIDC{}) {
		return nil
	}
	return &login.Settings{
		Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: public, Key: key,
	}
}
