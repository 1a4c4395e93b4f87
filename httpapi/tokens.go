package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// A createdToken is a new token with its secret, which is never returned again.
type createdToken struct {
	Token  askback.Token `json:"token"`
	Secret string        `json:"secret"`
}

func (c *call) tokens() error {
	return c.result(itemsOf(c.client.Tokens(c.r.Context())))
}

func (c *call) createToken() error {
	r, err := decode.TokenRequest(c.body)
	if err != nil {
		return err
	}
	t, secret, err := c.client.CreateToken(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, createdToken{t, secret})
}

func (c *call) revokeToken() error {
	return c.result(c.client.RevokeToken(c.r.Context(), c.id()))
}

type loginLink struct {
	Secret string `json:"secret"`
	URL    string `json:"url,omitempty"`
}

func (c *call) login() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	secret, err := c.client.LoginSecret(c.r.Context())
	if err != nil {
		return err
	}
	link := loginLink{Secret: secret}
	if c.h.options.PublicURL != "" {
		link.URL = c.h.options.PublicURL + "/login?secret=" + secret
	}
	return c.reply(http.StatusCreated, link)
}

// Tokens implements [askback.Tokens].
func (c *Client) Tokens(ctx context.Context) ([]askback.Token, error) {
	return fetchItems[askback.Token](ctx, c, "/tokens")
}

// CreateToken implements [askback.Tokens].
func (c *Client) CreateToken(ctx context.Context, r askback.TokenRequest) (askback.Token, string, error) {
	out, err := fetch[createdToken](ctx, c,
		request{method: "POST", path: base + "/tokens", body: body[askback.TokenRequest]{r, appendTokenRequest}})
	return out.Token, out.Secret, err
}

// RevokeToken implements [askback.Tokens].
func (c *Client) RevokeToken(ctx context.Context, id string) (askback.Token, error) {
	return fetch[askback.Token](ctx, c, request{method: "DELETE", path: base + "/tokens/" + url.PathEscape(id)})
}

// LoginSecret implements [askback.Tokens].
func (c *Client) LoginSecret(ctx context.Context) (string, error) {
	link, err := fetch[loginLink](ctx, c, request{method: "POST", path: base + "/logins"})
	return link.Secret, err
}
