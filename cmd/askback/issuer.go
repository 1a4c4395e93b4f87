package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/local"
	"github.com/askback/askback/internal/login"
)

// issuer lets agents in with a token of the issuer that people log in with, as long as
// the settings have it.
type issuer struct {
	*login.Issuer
	engine *engine.Engine
}

// Agent implements [mcpserver.Issuer].
func (i issuer) Agent(ctx context.Context, token string) (string, error) {
	if !i.engine.Trusts(i.Address()) {
		return "", askback.ErrUnauthorized
	}
	name, err := i.Issuer.Agent(ctx, token)
	if errors.Is(err, login.ErrInvalid) {
		err = fmt.Errorf("%w: %w", askback.ErrUnauthorized, err)
	}
	return name, err
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
	if o := d.file.Login.OIDC; o != (config.OIDC{}) && d.serve.kind == local.KindServe {
		return login.NewIssuer(login.Settings{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: public, Key: d.tokens.seal()})
	}
	return nil
}
