package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"
)

// The errors of an [Issuer]. A returned error can also contain the reply of the issuer, which is for the log
// only.
var (
	// ErrUnreachable is returned if the issuer does not reply, or its reply is not valid.
	ErrUnreachable = errors.New("the issuer did not reply, or its reply is not valid")
	// ErrInvalid is returned for a token or a reply that is not from the issuer, not for
	// this server, expired, or otherwise not valid.
	ErrInvalid = errors.New("the token is not valid here")
	// ErrNotPending is returned if this browser did not begin the log-in, began the log-in too long ago, or
	// cannot store a cookie.
	ErrNotPending = errors.New("this browser has not begun this log-in")
	// ErrDenied is returned if the issuer did not log the person in, or rejects the code
	// of the log-in.
	ErrDenied = errors.New("the issuer denied the log-in")
	// ErrTooMany is returned if log-ins exceed the rate limit for exchanging codes.
	ErrTooMany = errors.New("too many log-ins at this moment")
	// ErrClient is returned if the issuer does not accept the credentials of this server.
	ErrClient = errors.New("the issuer does not accept login.oidc.client_id and client_secret")
	// ErrNoEmail is returned if the issuer does not send an e-mail address, or does not send
	// whether it is verified.
	ErrNoEmail = errors.New("the issuer does not send a verified e-mail address")
	// ErrUnverified is returned if the issuer has not verified the e-mail address, or the address is not
	// valid.
	ErrUnverified = errors.New("the issuer has not verified the e-mail address")
)

// Settings are the settings of an [Issuer].
type Settings struct {
	Issuer       string // the URL in its discovery document
	ClientID     string
	ClientSecret string // "" for a public client
	PublicURL    string // the address of this server, without a slash at the end
	// Key signs pending logins. Processes that serve the same people share it. If it is nil, [NewIssuer]
	// generates a key for this process.
	Key       []byte
	Now       func() time.Time  // nil is time.Now
	Transport http.RoundTripper // nil is http.DefaultTransport
}

// CallbackPath is the path to which the issuer redirects people after a log-in.
const CallbackPath = "/login/oidc/callback"

// ResourcePath is the path of the resource for agents. The audience of their tokens is the public URL
// followed by this path (RFC 8707).
const ResourcePath = "/mcp"

// An Issuer authenticates people and agents by OpenID Connect. Its metadata is fetched at
// first use, so a server starts even if the issuer is unreachable.
type Issuer struct {
	settings Settings
	cached   *http.Client // for the metadata and keys of the issuer
	direct   *http.Client // for the tokens and claims of people

	exchanges *rate.Limiter

	mu        sync.Mutex
	known     *provider // nil before the first discovery
	attempted time.Time // when discovery was last attempted
}

// A provider is the metadata and the keys of the issuer, as a discovery found them.
type provider struct {
	*oidc.Provider
	keys  keys
	style oauth2.AuthStyle // the way in which the issuer expects the client secret
	found time.Time
}

// The rate limit for exchanging codes: the number in each second, and in a burst. Without the limit,
// strangers could use up the limit that the issuer has for this server.
const (
	exchangeRate  = 5
	exchangeBurst = 20
)

// issuerTimeout is the timeout of a request to the issuer.
const issuerTimeout = 10 * time.Second

// NewIssuer returns an issuer. It sends no request yet.
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
		// this transport has its own timeout
		cached: &http.Client{
			Transport: &cachingTransport{next: s.Transport, now: s.Now, entries: map[string]*cacheEntry{}},
		},
		// Requests carry secrets. A redirect must not send the secrets to another server.
		direct: &http.Client{
			Timeout: issuerTimeout, Transport: s.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Address returns the URL of the issuer.
func (i *Issuer) Address() string { return i.settings.Issuer }

// Callback returns the URL to which the issuer redirects people after a log-in.
func (i *Issuer) Callback() string { return i.settings.PublicURL + CallbackPath }

// Name returns the host of the issuer, which people recognize. If the URL of the issuer is not valid, it
// returns the whole URL.
func (i *Issuer) Name() string {
	u, err := url.Parse(i.settings.Issuer)
	if err != nil {
		return i.settings.Issuer
	}
	return u.Host
}

// Reach returns an error unless the metadata of the issuer is known, or can be fetched. The
// error is [ErrUnreachable].
func (i *Issuer) Reach(ctx context.Context) error {
	_, err := i.provider(ctx)
	return err
}

// The ages of the result of a discovery. After freshTime the result is fetched again, so that keys which the
// issuer withdrew are no longer accepted. If that fails, the old result is used until staleTime, with at most
// one attempt in retryTime.
const (
	freshTime = 10 * time.Minute
	staleTime = time.Hour
	retryTime = 10 * time.Second
)

// refreshTime is the timeout of a new discovery while an older result can still be used.
const refreshTime = 2 * time.Second

// provider returns the result of a recent discovery, or makes a new discovery. If a new discovery fails, it
// returns the last result for up to staleTime. Otherwise the error is [ErrUnreachable].
func (i *Issuer) provider(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	now := i.settings.Now()
	known := i.known
	usable := known != nil && now.Sub(known.found) < staleTime
	if usable && (now.Sub(known.found) < freshTime || now.Sub(i.attempted) < retryTime) {
		i.mu.Unlock()
		return known, nil
	}
	i.attempted = now
	i.mu.Unlock()
	cancel := func() {}
	if usable {
		ctx, cancel = context.WithTimeout(ctx, refreshTime)
	}
	defer cancel()
	p, err := i.discover(ctx)
	if err != nil && usable {
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

// discover reads the metadata of the issuer (OpenID Connect Discovery 1.0) and its keys.
func (i *Issuer) discover(ctx context.Context) (*provider, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.cached), i.settings.Issuer)
	if other := (*oidc.IssuerMismatchError)(nil); errors.As(err, &other) {
		return nil, fmt.Errorf("login.oidc.issuer is %q, and the issuer calls itself %.300q: use that", other.Provided,
			other.Discovered)
	}
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Keys      string   `json:"jwks_uri"`
		Person    string   `json:"userinfo_endpoint"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&metadata); err != nil {
		return nil, err
	}
	for _, at := range []string{metadata.Authorize, metadata.Token, metadata.Keys, metadata.Person} {
		// Codes, secrets and keys are sent to these addresses or come from them.
		if strings.HasPrefix(i.settings.Issuer, "https:") && at != "" && !strings.HasPrefix(at, "https://") {
			return nil, fmt.Errorf("its own address has https, but its metadata has an address without https: %q", at)
		}
	}
	p := &provider{
		Provider: found, found: i.settings.Now(), style: authStyle(metadata.Methods, i.settings.ClientSecret),
	}
	read := func() oidc.KeySet {
		return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), i.cached), metadata.Keys)
	}
	p.keys = keys{first: read(), read: read}
	if _, err := p.keys.first.VerifySignature(ctx, probe); errors.Is(err, errFetch) || ctx.Err() != nil {
		return nil, err
	}
	return p, nil
}

// probe is an invalid token. To verify it, the library reads the keys, which are then
// cached.
const probe = "eyJhbGciOiJSUzI1NiJ9.e30.AA"

// authStyle returns how this server sends its client secret. The default is HTTP Basic, also if the issuer
// names no method (OpenID Connect Discovery 1.0, section 3). The secret is in the body if there is no secret,
// or the issuer supports client_secret_post but not client_secret_basic.
func authStyle(methods []string, secret string) oauth2.AuthStyle {
	post := slices.Contains(methods, "client_secret_post") && !slices.Contains(methods, "client_secret_basic")
	if post || secret == "" {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// verify checks that a token is signed by the issuer, is for this audience, is valid now, and has a subject.
// The error is [ErrInvalid] or [ErrUnreachable].
func (i *Issuer) verify(ctx context.Context, raw, audience string) (*oidc.IDToken, claims, error) {
	p, err := i.provider(ctx)
	if err != nil {
		return nil, claims{}, err
	}
	var unavailable error
	verifier := oidc.NewVerifier(i.settings.Issuer, p.keys, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: algorithms, Now: i.settings.Now,
	})
	token, err := verifier.Verify(context.WithValue(ctx, unavailableKey{}, &unavailable), raw)
	switch {
	case unavailable != nil:
		return nil, claims{}, fmt.Errorf("%w: %w", ErrUnreachable, unavailable)
	case err != nil:
		return nil, claims{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	case token.Subject == "":
		return nil, claims{}, fmt.Errorf("%w: it has no subject", ErrInvalid)
	}
	c, err := claimsOf(token)
	return token, c, err
}

// algorithms are the accepted signature algorithms, which all use a private key.
// Signatures by a shared secret, and "none", are not accepted.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.EdDSA,
}

// keys are the keys of the issuer. The method VerifySignature records that keys could not be fetched, which
// the library does not distinguish from a wrong signature.
type keys struct {
	first oidc.KeySet
	read  func() oidc.KeySet // returns a key set that reads the cached document of the issuer
}

// An unavailableKey is the key of an *error in a context. VerifySignature sets the error if keys could not be
// fetched.
type unavailableKey struct{}

// VerifySignature implements [oidc.KeySet].
func (k keys) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := k.first.VerifySignature(ctx, jwt)
	if err != nil {
		// A call that arrives at the end of another call's fetch gets the older keys of that fetch. So this
		// call tries again.
		payload, err = k.read().VerifySignature(ctx, jwt)
	}
	if unavailable, ok := ctx.Value(unavailableKey{}).(*error); ok && (errors.Is(err, errFetch) || ctx.Err() != nil) {
		*unavailable = err
	}
	return payload, err
}
