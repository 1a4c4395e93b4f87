package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/local"
	"github.com/askback/askback/internal/login"
)

// issuer lets agents in with a token of the issuer that people sign in with.
type issuer struct{ *login.Issuer }

// Agent implements [mcpserver.Issuer].
func (i issuer) Agent(ctx context.Context, token string) (string, error) {
	name, err := i.Issuer.Agent(ctx, token)
	if errors.Is(err, login.ErrInvalid) {
		err = fmt.Errorf("%w: %w", askback.ErrUnauthorized, err)
	}
	return name, err
}

// issuer is who says who people are, or nil. A command that holds the database only
// while it waits serves this machine alone, under an address the issuer does not know.
func (d *desk) issuer(public string) *login.Issuer {
	if o := d.file.Login.OIDC; o != (config.OIDC{}) && d.serve.kind == local.KindServe {
		return login.NewIssuer(login.Settings{Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret, PublicURL: public})
	}
	return nil
}
