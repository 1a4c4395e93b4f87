package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Begin begins a log-in and returns the address at the issuer to send the browser to.
// To is the path that the person wanted to see. With choose, the issuer lets them
// say who they are once more, also when it knows somebody already. The errors are
// [ErrUnreachable], and [ErrAttempt] where it is not [Possible] to keep a cookie.
func (i *Issuer) Begin(w http.ResponseWriter, r *http.Request, to string, choose bool) (address string, err error) {
	if !Possible(r) {
		return "", ErrAttempt
	}
	p, err := i.reach(r.Context())
	if err != nil {
		return "", err
	}
	a := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: local(to),
		Until: i.settings.Now().Add(attemptTime).Unix(),
	}
	if err := i.keep(w, r, a); err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if choose {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	return i.client(p).AuthCodeURL(a.State, options...), nil
}

// Finish ends a log-in when the issuer sent the browser back. It returns the verified
// e-mail address of the person and the path they wanted to see; to is set with each
// error but [ErrAttempt]. The errors are [ErrAttempt], [ErrDenied], [ErrSilent],
// [ErrUnverified], [ErrInvalid], [ErrClient], [ErrTooMany] and [ErrUnreachable].
func (i *Issuer) Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error) {
	said := r.URL.Query()
	a, ok := i.begun(w, r, said.Get("state"))
	if !ok {
		return "", "", ErrAttempt
	}
	to = local(a.To)
	if said.Has("iss") && said.Get("iss") != i.settings.Issuer { // RFC 9207
		return "", to, fmt.Errorf("%w: the answer is of another issuer", ErrInvalid)
	}
	if said.Get("error") != "" {
		return "", to, fmt.Errorf("%w: %.50q, %.200q", ErrDenied, said.Get("error"), said.Get("error_description"))
	}
	email, err = i.redeem(r.Context(), a, said.Get("code"))
	return email, to, err
}

// redeem gets what the issuer knows for a code.
func (i *Issuer) redeem(ctx context.Context, a attempt, code string) (email string, err error) {
	p, err := i.reach(ctx)
	if err != nil {
		return "", err
	}
	if !i.exchanges.AllowN(i.settings.Now(), 1) {
		return "", ErrTooMany
	}
	ctx = oidc.ClientContext(ctx, i.direct)
	token, err := i.client(p).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) {
		why := ErrUnreachable
		switch code := refused.Response.StatusCode; {
		case refused.ErrorCode == "invalid_client", refused.ErrorCode == "unauthorized_client", code == http.StatusUnauthorized:
			why = ErrClient
		case code < http.StatusInternalServerError && code != http.StatusTooManyRequests:
			why = ErrDenied
		}
		return "", fmt.Errorf("%w: %s, %.50q, %.200q", why, refused.Response.Status, refused.ErrorCode, refused.ErrorDescription)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %.300s", ErrUnreachable, err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, says, err := i.verify(ctx, raw, i.settings.ClientID)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(a.Nonce)) != 1 {
		return "", fmt.Errorf("%w: it is of another log-in", ErrInvalid)
	}
	if says.silent() && p.UserInfoEndpoint() != "" {
		if says, err = i.ask(ctx, p, token, verified.Subject); err != nil {
			return "", err
		}
	}
	if email, ok := says.verified(); ok {
		return email, nil
	}
	if says.silent() {
		return "", fmt.Errorf("%w: of %.100q it sends email: %t, email_verified: %t; look at the scopes and claims of this client there",
			ErrSilent, verified.Subject, says.has("email"), says.has("email_verified"))
	}
	return "", fmt.Errorf("%w: %.254q of %.100q", ErrUnverified, says.text("email"), verified.Subject)
}

// ask asks the issuer about a person, where the token does not say enough.
func (i *Issuer) ask(ctx context.Context, p *provider, token *oauth2.Token, subject string) (claims, error) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return claims{}, fmt.Errorf("%w: %.300s", ErrUnreachable, err)
	}
	var payload json.RawMessage
	if err := info.Claims(&payload); err != nil {
		return claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	says, err := readClaims(payload)
	if err != nil {
		return claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if says.text("sub") != subject {
		return claims{}, fmt.Errorf("%w: the issuer speaks of somebody else", ErrInvalid)
	}
	return says, nil
}

// client is this server, as the issuer knows it.
func (i *Issuer) client(p *provider) *oauth2.Config {
	at := p.Endpoint()
	at.AuthStyle = p.style
	return &oauth2.Config{
		ClientID: i.settings.ClientID, ClientSecret: i.settings.ClientSecret, Endpoint: at,
		RedirectURL: i.settings.PublicURL + CallbackPath, Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}
