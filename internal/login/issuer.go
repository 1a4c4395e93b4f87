package login

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

// The errors of an [Issuer]. What the issuer said itself stands behind them, for
// the log alone.
var (
	// ErrUnreachable: the issuer does not answer, or not as one.
	ErrUnreachable = errors.New("the issuer does not answer as it should")
	// ErrInvalid: a token is none of the issuer's, or not for us, or over.
	ErrInvalid = errors.New("no token that is good here")
	// ErrAttempt: this browser began no log-in like this one, or too long ago.
	ErrAttempt = errors.New("this browser began no such log-in")
	// ErrDenied: the issuer did not let the person in.
	ErrDenied = errors.New("the issuer let nobody in")
	// ErrTooMany: so many log-ins end at this moment that the issuer would be flooded.
	ErrTooMany = errors.New("too many log-ins end at this moment")
	// ErrClient: the issuer does not take this server for who it says it is.
	ErrClient = errors.New("the issuer does not take login.oidc.client_id and client_secret")
	// ErrSilent: the issuer does not say whether there is an e-mail that is this
	// person's own.
	ErrSilent = errors.New("the issuer does not say whose e-mail address it is")
	// ErrUnverified: the issuer says that the e-mail may not be this person's own.
	ErrUnverified = errors.New("the issuer has not verified an e-mail address")
)

// Settings are what an [Issuer] must know.
type Settings struct {
	Issuer       string // as its discovery document writes it
	ClientID     string
	ClientSecret string            // "": a public client
	PublicURL    string            // of this server, without a slash at the end
	Key          []byte            // signs attempts; the same for all processes that serve the same people; nil: one of this process
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

	exchanges *rate.Limiter

	mu    sync.Mutex
	known *provider // nil: not reached so far
	tried time.Time // when it was last asked
}

// provider is an issuer that was reached.
type provider struct {
	*oidc.Provider
	keys  keys
	style oauth2.AuthStyle // how it wants to have our secret
	found time.Time
}

func (p *provider) at() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.found
}

// How many codes are exchanged a second, and at once: strangers must not be able to
// use up what the issuer allows us.
const (
	exchangeRate  = 5
	exchangeBurst = 20
)

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
	if s.Key == nil {
		s.Key = []byte(rand.Text())
	}
	return &Issuer{
		settings:  s,
		exchanges: rate.NewLimiter(exchangeRate, exchangeBurst),
		published: &http.Client{Transport: &board{next: s.Transport, now: s.Now}}, // which is patient by itself
		// What is sent to the issuer, a secret among it, is not sent on.
		direct: &http.Client{Timeout: patience, Transport: s.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Address is the issuer's own.
func (i *Issuer) Address() string { return i.settings.Issuer }

// Callback is where the issuer sends people back to.
func (i *Issuer) Callback() string { return i.settings.PublicURL + CallbackPath }

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

// The ages of what is known of an issuer. After the first it is read again, so that
// keys it withdrew open nothing any more. When the issuer does not answer, what is
// known holds until the second, and it is asked no more often than every third.
const (
	freshTime = 10 * time.Minute
	staleTime = time.Hour
	retryTime = 10 * time.Second
)

// refreshTime is how long a caller waits for news where something is known.
const refreshTime = 2 * time.Second

// reach returns the issuer as it describes itself.
func (i *Issuer) reach(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	now := i.settings.Now()
	known, age := i.known, now.Sub(i.known.at())
	holds := known != nil && age < staleTime
	if holds && (age < freshTime || now.Sub(i.tried) < retryTime) {
		i.mu.Unlock()
		return known, nil
	}
	i.tried = now
	i.mu.Unlock()
	looking, cancel := ctx, func() {}
	if holds {
		looking, cancel = context.WithTimeout(ctx, refreshTime)
	}
	defer cancel()
	p, err := i.discover(looking)
	if err != nil && holds {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known = p
	return p, nil
}

// discover reads what an issuer says of itself (OpenID Connect Discovery 1.0), and
// its keys.
func (i *Issuer) discover(ctx context.Context) (*provider, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.published), i.settings.Issuer)
	if other := (*oidc.IssuerMismatchError)(nil); errors.As(err, &other) {
		return nil, fmt.Errorf("login.oidc.issuer is %q, and the issuer calls itself %.300q: write that", other.Provided, other.Discovered)
	}
	if err != nil {
		return nil, err
	}
	var says struct {
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Keys      string   `json:"jwks_uri"`
		Person    string   `json:"userinfo_endpoint"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&says); err != nil {
		return nil, err
	}
	for _, at := range []string{says.Authorize, says.Token, says.Keys, says.Person} {
		// Codes, secrets and keys go there.
		if strings.HasPrefix(i.settings.Issuer, "https:") && at != "" && !strings.HasPrefix(at, "https://") {
			return nil, fmt.Errorf("it is reached by https and names %q", at)
		}
	}
	p := &provider{Provider: found, found: i.settings.Now(), style: style(says.Methods, i.settings.ClientSecret)}
	p.keys = keys{oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), i.published), says.Keys)}
	if _, err := p.keys.remote.VerifySignature(ctx, probe); errors.Is(err, errNoAnswer) || ctx.Err() != nil {
		return nil, err
	}
	return p, nil
}

// probe is a token of nobody. To look whether it is good, the keys are read: so they
// are known from then on.
const probe = "eyJhbGciOiJSUzI1NiJ9.e30.AA"

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
func (i *Issuer) verify(ctx context.Context, raw, audience string) (*oidc.IDToken, claims, error) {
	p, err := i.reach(ctx)
	if err != nil {
		return nil, claims{}, err
	}
	var lost error
	verifier := oidc.NewVerifier(i.settings.Issuer, p.keys, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: algorithms, Now: i.settings.Now,
	})
	token, err := verifier.Verify(context.WithValue(ctx, lostKey{}, &lost), raw)
	switch {
	case lost != nil:
		return nil, claims{}, fmt.Errorf("%w: %w", ErrUnreachable, lost)
	case err != nil:
		return nil, claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	case token.Subject == "":
		return nil, claims{}, fmt.Errorf("%w: it is about nobody", ErrInvalid)
	}
	var payload json.RawMessage
	if err := token.Claims(&payload); err != nil {
		return nil, claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	says, err := readClaims(payload)
	if err != nil {
		return nil, claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return token, says, nil
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
