package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/login"
)

// An Issuer vouches for agents that have a token of its own: an authorization server
// of OAuth 2.1, as MCP wants it.
type Issuer interface {
	// Address is the issuer's, by which clients find the rest.
	Address() string
	// Agent returns the name of the agent that shows a token meant for the public URL
	// and /mcp, and what people may know it by, or ""; or [askback.ErrUnauthorized].
	// Another error means that nobody knows.
	Agent(ctx context.Context, token string) (name, label string, err error)
}

// resourcePath is where agents are served, and with the public URL what their tokens
// are for.
const resourcePath = login.ResourcePath

// MetadataPath is where [Server.Metadata] is looked for: the path of what it is about
// stands behind that of all such metadata (RFC 9728, section 3.1).
const MetadataPath = "/.well-known/oauth-protected-resource" + resourcePath

// Metadata tells clients where agents get their tokens (RFC 9728). Without an
// [Options.Issuer] it is nil.
func (s *Server) Metadata() http.Handler {
	if s.options.Issuer == nil {
		return nil
	}
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:               s.options.PublicURL + resourcePath,
		AuthorizationServers:   []string{s.options.Issuer.Address()},
		BearerMethodsSupported: []string{"header"},
		ResourceName:           "Askback",
	})
}

// errNoBearer says that no token was shown at all.
var errNoBearer = fmt.Errorf("%w: there is no bearer", askback.ErrUnauthorized)

// bearer is the secret that a request shows.
func bearer(r *http.Request) (string, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return "", errNoBearer
	}
	return secret, nil
}

// seat makes the caller that has a secret: the gate's, or a token of the issuer,
// which is of three parts with dots between, as no secret of the gate's is.
func (s *Server) seat(ctx context.Context, g Gate, secret string) (who *caller, err error) {
	if s.options.Issuer != nil && strings.Count(secret, ".") == 2 {
		name, label, err := s.options.Issuer.Agent(ctx, secret)
		if err != nil {
			return nil, err
		}
		// Such a token is not taken back: it ends soon, and what was called with it
		// before that may end after it.
		p := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelMCP}
		// What the client calls itself is no label here: it could be the address of
		// another person, and this one is verified.
		return &caller{seat: g.As(p), name: p.Name, label: cmp.Or(label, name)}, nil
	}
	p, err := g.Authenticate(ctx, secret)
	switch {
	case err != nil:
		return nil, err
	case p.Kind != askback.Agent:
		return nil, askback.ErrForbidden // a principal that may answer must not ask
	}
	return &caller{seat: guarded{g.As(p), g, secret}, name: p.Name}, nil
}

// challenge says what a client should show (RFC 6750, section 3), and where it gets
// that.
func (s *Server) challenge(why error) string {
	c := `Bearer realm="askback"`
	if !errors.Is(why, errNoBearer) {
		c += `, error="invalid_token"`
	}
	if s.options.Issuer != nil {
		c += fmt.Sprintf(`, resource_metadata="%s%s"`, s.options.PublicURL, MetadataPath)
	}
	return c
}
