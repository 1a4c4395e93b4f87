package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// attemptTime is how long somebody may take at the issuer.
const attemptTime = 10 * time.Minute

// An attempt is a log-in that was begun. Only the browser that began it has it, in a
// cookie: nobody else can end it, and nothing is kept here.
type attempt struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE (RFC 7636)
	To       string `json:"t"`
}

// Begin begins a log-in and returns the address at the issuer to send the browser to.
// To is the path that the person wanted to see. The error is [ErrUnreachable].
func (i *Issuer) Begin(w http.ResponseWriter, r *http.Request, to string) (address string, err error) {
	p, err := i.reach(r.Context())
	if err != nil {
		return "", err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: local(to)}
	b, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	cookie := attemptCookie(r)
	cookie.Value, cookie.MaxAge = base64.RawURLEncoding.EncodeToString(b), int(attemptTime.Seconds())
	http.SetCookie(w, cookie)
	return i.client(p).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish ends a log-in when the issuer sent the browser back. It returns the verified
// e-mail address of the person and the path they wanted to see; to is set with each
// error but [ErrAttempt]. The errors are [ErrAttempt], [ErrDenied], [ErrUnverified],
// [ErrInvalid] and [ErrUnreachable].
func (i *Issuer) Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error) {
	a, ok := begun(r)
	forget := attemptCookie(r)
	forget.MaxAge = -1
	http.SetCookie(w, forget)
	said := r.URL.Query()
	if !ok || subtle.ConstantTimeCompare([]byte(said.Get("state")), []byte(a.State)) != 1 {
		return "", "", ErrAttempt
	}
	to = local(a.To)
	if said.Has("iss") && said.Get("iss") != i.settings.Issuer { // RFC 9207
		return "", to, fmt.Errorf("%w: the answer is of another issuer", ErrInvalid)
	}
	if said.Get("error") != "" {
		return "", to, fmt.Errorf("%w: %q, %q", ErrDenied, said.Get("error"), said.Get("error_description"))
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
	ctx = oidc.ClientContext(ctx, i.direct)
	token, err := i.client(p).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError {
		return "", fmt.Errorf("%w: %w", ErrDenied, err)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := i.verify(ctx, raw, i.settings.ClientID)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(a.Nonce)) != 1 {
		return "", fmt.Errorf("%w: it is of another log-in", ErrInvalid)
	}
	var says claims
	if err := verified.Claims(&says); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if (says.Email == "" || says.Verified == nil) && p.UserInfoEndpoint() != "" {
		if says, err = i.ask(ctx, p, token, verified.Subject); err != nil {
			return "", err
		}
	}
	if email, ok := says.verified(); ok {
		return email, nil
	}
	return "", ErrUnverified
}

// ask asks the issuer about a person, where the token does not say enough.
func (i *Issuer) ask(ctx context.Context, p *provider, token *oauth2.Token, subject string) (says claims, err error) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return says, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if info.Subject != subject {
		return says, fmt.Errorf("%w: the issuer speaks of somebody else", ErrInvalid)
	}
	if err := info.Claims(&says); err != nil {
		return says, fmt.Errorf("%w: %w", ErrInvalid, err)
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

func begun(r *http.Request) (a attempt, ok bool) {
	cookie, err := r.Cookie(attemptCookie(r).Name)
	if err != nil {
		return a, false
	}
	b, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return a, false
	}
	err = json.Unmarshal(b, &a)
	return a, err == nil && a.State != "" && a.Nonce != "" && a.Verifier != ""
}

// attemptCookie goes back with a link from another site, which the way back from the
// issuer is: so it is Lax, as that of a log-in.
func attemptCookie(r *http.Request) *http.Cookie {
	cookie := newCookie(r)
	cookie.Name += "-attempt"
	return cookie
}

// local is a path of this server; what leads elsewhere is the list.
func local(to string) string {
	u, err := url.Parse(to)
	switch {
	case err != nil, u.IsAbs(), u.Host != "", u.User != nil, u.Opaque != "":
	case !strings.HasPrefix(u.Path, "/"), strings.HasPrefix(u.Path, "//"), strings.ContainsAny(u.Path, "\\\r\n\t"):
	default:
		return u.EscapedPath()
	}
	return "/"
}
