package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// The errors of an [Issuer]. What the issuer said itself stands behind them, for
// the log alone.
var (
	// ErrUnreachable: the issuer does not answer, or not as one.
	ErrUnreachable = errors.New("the issuer cannot be reached")
	// ErrInvalid: a token is none of the issuer's, or not for us, or over.
	ErrInvalid = errors.New("no token that is good here")
	// ErrAttempt: this browser began no log-in like this one, or too long ago.
	ErrAttempt = errors.New("this browser began no such log-in")
	// ErrDenied: the issuer did not let the person in.
	ErrDenied = errors.New("the issuer let nobody in")
	// ErrUnverified: the issuer does not say that the e-mail is this person's own.
	ErrUnverified = errors.New("the issuer has not verified an e-mail address")
)

// Settings are what an [Issuer] must know.
type Settings struct {
	Issuer       string // as its discovery document writes it
	ClientID     string
	ClientSecret string            // "": a public client
	PublicURL    string            // of this server, without a slash at the end
	Now          func() time.Time  // nil: time.Now
	Transport    http.RoundTripper // nil: http.DefaultTransport
}

// CallbackPath is where the issuer sends people back to.
const CallbackPath = "/login/oidc/callback"

// ResourcePath is what tokens of agents are for: their audience is the public URL
// and this path (RFC 8707).
const ResourcePath = "/mcp"

// An Issuer says who somebody is, by OpenID Connect. It is asked when it is first
// needed, so a server starts without it.
type Issuer struct {
	settings  Settings
	published *http.Client // for its keys and what it says of itself
	direct    *http.Client // for what it says of a person

	mu    sync.Mutex
	known *provider // nil: not reached so far
}

// provider is an issuer that was reached.
type provider struct {
	*oidc.Provider
	keys  keys
	style oauth2.AuthStyle // how it wants to have our secret
}

// patience is how long the issuer may take for one answer.
const patience = 10 * time.Second

// NewIssuer returns an issuer, and does not speak to it yet.
func NewIssuer(s Settings) *Issuer {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Transport == nil {
		s.Transport = http.DefaultTransport
	}
	return &Issuer{
		settings:  s,
		published: &http.Client{Timeout: patience, Transport: &board{next: s.Transport, now: s.Now}},
		direct:    &http.Client{Timeout: patience, Transport: s.Transport},
	}
}

// Address is the issuer's own.
func (i *Issuer) Address() string { return i.settings.Issuer }

// Name is what people know the issuer by: its host.
func (i *Issuer) Name() string {
	u, err := url.Parse(i.settings.Issuer)
	if err != nil {
		return i.settings.Issuer
	}
	return u.Host
}

// Reach looks whether the issuer answers. The error is [ErrUnreachable].
func (i *Issuer) Reach(ctx context.Context) error {
	_, err := i.reach(ctx)
	return err
}

// reach returns the issuer as it describes itself.
func (i *Issuer) reach(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	known := i.known
	i.mu.Unlock()
	if known != nil {
		return known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.published), i.settings.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var says struct {
		Keys    string   `json:"jwks_uri"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	p := &provider{Provider: found, style: style(says.Methods, i.settings.ClientSecret)}
	p.keys = keys{oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), i.published), says.Keys)}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known = p
	return p, nil
}

// style is how a client shows its secret: by HTTP Basic where nothing else is said
// (OpenID Connect Discovery 1.0, §3).
func style(methods []string, secret string) oauth2.AuthStyle {
	post := secret == ""
	for _, m := range methods {
		switch m {
		case "client_secret_basic":
			if secret != "" {
				return oauth2.AuthStyleInHeader
			}
		case "client_secret_post":
			post = true
		}
	}
	if post {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// verify checks a token: signed by the issuer, for this audience, and not over.
func (i *Issuer) verify(ctx context.Context, raw, audience string) (*oidc.IDToken, error) {
	p, err := i.reach(ctx)
	if err != nil {
		return nil, err
	}
	var lost error
	verifier := oidc.NewVerifier(i.settings.Issuer, p.keys, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: algorithms, Now: i.settings.Now,
	})
	token, err := verifier.Verify(context.WithValue(ctx, lostKey{}, &lost), raw)
	switch {
	case lost != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, lost)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	case token.Subject == "":
		return nil, fmt.Errorf("%w: it is about nobody", ErrInvalid)
	}
	return token, nil
}

// algorithms are signatures that only the issuer can make. Those by a shared secret,
// and none at all, are not among them.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA,
}

// keys are those of the issuer. They tell a token that is wrong from keys that could
// not be had, which the library does not.
type keys struct{ remote oidc.KeySet }

type lostKey struct{}

// VerifySignature implements [oidc.KeySet].
func (k keys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.remote.VerifySignature(ctx, jwt)
	if lost, ok := ctx.Value(lostKey{}).(*error); ok && (errors.Is(err, errNoAnswer) || ctx.Err() != nil) {
		*lost = err
	}
	return payload, err
}

// isJWT says whether a secret has the looks of a signed token.
func isJWT(secret string) bool { return strings.Count(secret, ".") == 2 }
