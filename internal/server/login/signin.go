package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Begin begins a log-in and returns the URL of the issuer to redirect the browser to. After the log-in, the
// person returns to path. If choose is set, the issuer lets people choose an account even if they are logged
// in. The error is [ErrUnreachable], or [ErrNotPending] if a cookie is not [Possible].
func (i *Issuer) Begin(w http.ResponseWriter, r *http.Request, path string, choose bool) (address string, err error) {
	if !Possible(r) {
		return "", ErrNotPending
	}
	p, err := i.provider(r.Context())
	if err != nil {
		return "", err
	}
	pending := pendingLogin{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: localPath(path),
		Until: i.settings.Now().Add(pendingTime).Unix(),
	}
	i.setPending(w, r, pending)
	options := []oauth2.AuthCodeOption{oidc.Nonce(pending.Nonce), oauth2.S256ChallengeOption(pending.Verifier)}
	if choose {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	return i.client(p).AuthCodeURL(pending.State, options...), nil
}

// Finish ends a log-in after the issuer redirected the browser back. It returns the verified e-mail address
// of the person and the path to return to. The path is also set with every error except [ErrNotPending]. The
// errors are [ErrNotPending], [ErrDenied], [ErrNoEmail], [ErrUnverified], [ErrInvalid], [ErrClient],
// [ErrTooMany] and [ErrUnreachable].
func (i *Issuer) Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error) {
	query := r.URL.Query()
	pending, ok := i.takePending(w, r, query.Get("state"))
	if !ok {
		return "", "", ErrNotPending
	}
	to = localPath(pending.To)
	if query.Has("iss") && query.Get("iss") != i.settings.Issuer { // RFC 9207
		return "", to, fmt.Errorf("%w: the reply is from another issuer", ErrInvalid)
	}
	if query.Get("error") != "" {
		return "", to, fmt.Errorf("%w: %.50q, %.200q", ErrDenied, query.Get("error"), query.Get("error_description"))
	}
	email, err = i.redeem(r.Context(), pending, query.Get("code"))
	return email, to, err
}

// redeem exchanges a code for an ID token and returns the verified e-mail address.
func (i *Issuer) redeem(ctx context.Context, pending pendingLogin, code string) (email string, err error) {
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	if !i.exchanges.AllowN(i.settings.Now(), 1) {
		return "", ErrTooMany
	}
	ctx = oidc.ClientContext(ctx, i.direct)
	token, err := i.client(p).Exchange(ctx, code, oauth2.VerifierOption(pending.Verifier))
	if failed := (*oauth2.RetrieveError)(nil); errors.As(err, &failed) {
		why := ErrUnreachable
		switch code := failed.Response.StatusCode; {
		case failed.ErrorCode == "invalid_client", failed.ErrorCode == "unauthorized_client",
			code == http.StatusUnauthorized:
			why = ErrClient
		case code < http.StatusInternalServerError && code != http.StatusTooManyRequests:
			why = ErrDenied
		}
		return "", fmt.Errorf("%w: %s, %.50q, %.200q", why, failed.Response.Status, failed.ErrorCode,
			failed.ErrorDescription)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %.300s", ErrUnreachable, err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, c, err := i.verify(ctx, raw, i.settings.ClientID)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(pending.Nonce)) != 1 {
		return "", fmt.Errorf("%w: it belongs to another log-in", ErrInvalid)
	}
	if c.lacksEmail() && p.UserInfoEndpoint() != "" {
		if c, err = i.userInfo(ctx, p, token, verified.Subject); err != nil {
			return "", err
		}
	}
	if email, ok := c.verifiedEmail(); ok {
		return email, nil
	}
	if c.lacksEmail() {
		return "", fmt.Errorf("%w: for %.100q it sends email: %t, email_verified: %t; check the scopes and claims "+
			"of this client at the issuer",
			ErrNoEmail, verified.Subject, c.has("email"), c.has("email_verified"))
	}
	return "", fmt.Errorf("%w: %.254q of %.100q", ErrUnverified, c.text("email"), verified.Subject)
}

// userInfo returns the claims of the UserInfo endpoint. The error is [ErrUnreachable], or [ErrInvalid] if the
// claims have another subject.
func (i *Issuer) userInfo(ctx context.Context, p *provider, token *oauth2.Token, subject string) (claims, error) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return claims{}, fmt.Errorf("%w: %.300s", ErrUnreachable, err)
	}
	c, err := claimsOf(info)
	if err == nil && c.text("sub") != subject {
		return claims{}, fmt.Errorf("%w: the UserInfo endpoint replied with another subject", ErrInvalid)
	}
	return c, err
}

// client returns the configuration of this server as a client of the issuer.
func (i *Issuer) client(p *provider) *oauth2.Config {
	at := p.Endpoint()
	at.AuthStyle = p.style
	return &oauth2.Config{
		ClientID: i.settings.ClientID, ClientSecret: i.settings.ClientSecret, Endpoint: at,
		RedirectURL: i.settings.PublicURL + CallbackPath, Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}
