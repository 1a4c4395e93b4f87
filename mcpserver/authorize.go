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
	"github.com/askback/askback/internal/server/login"
)

// An Issuer verifies tokens of agents that another server issued: an authorization server
// of OAuth 2.1, as MCP requires.
type Issuer interface {
	// Address returns the URL of the issuer, at which clients find its metadata.
	Address() string
	// Agent verifies a token whose audience is the public URL followed by /mcp. It returns
	// the name of the agent and its label for people, which may be "". The error is
	// [askback.ErrUnauthorized] for an invalid token. Another error means that the token
	// could not be verified.
	Agent(ctx context.Context, token string) (name, label string, err error)
}

// resourcePath is the path of the handler. The public URL followed by this path is the audience of tokens.
const resourcePath = login.ResourcePath

// MetadataPath is the path of [Server.Metadata] (RFC 9728, section 3.1).
const MetadataPath = "/.well-known/oauth-protected-resource" + resourcePath

// Metadata returns a handler with the metadata by which clients find the issuer of tokens (RFC 9728). Without
// [Options.Issuer], Metadata returns nil.
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

// errNoBearer is returned for a request without a token.
var errNoBearer = fmt.Errorf("%w: the request has no bearer token", askback.ErrUnauthorized)

// bearer returns the bearer token of a request, or errNoBearer.
func bearer(r *http.Request) (string, error) {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return "", errNoBearer
	}
	return secret, nil
}

// authenticateSecret returns the caller for a token. If there is an issuer, the issuer
// verifies tokens with two dots, because tokens of Askback have none. The error is
// [askback.ErrForbidden] for the token of a principal that is not an agent.
func (s *Server) authenticateSecret(ctx context.Context, a Authenticator, secret string) (*caller, error) {
	if s.options.Issuer != nil && strings.Count(secret, ".") == 2 {
		name, label, err := s.options.Issuer.Agent(ctx, secret)
		if err != nil {
			return nil, err
		}
		// A token of the issuer cannot be revoked, but it expires soon. A call may outlast
		// its token.
		p := askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelMCP}
		// The label is not the client's name, which could be the address of another person.
		return &caller{client: a.As(p), name: p.Name, label: cmp.Or(label, name)}, nil
	}
	p, err := a.Authenticate(ctx, secret)
	switch {
	case err != nil:
		return nil, err
	case p.Kind != askback.Agent:
		return nil, askback.ErrForbidden // a principal that may answer must not ask
	}
	return &caller{client: checkedClient{a.As(p), a, secret}, name: p.Name}, nil
}

// challenge returns the value of the header WWW-Authenticate (RFC 6750, section 3) for a request that was
// rejected because of the error why.
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
