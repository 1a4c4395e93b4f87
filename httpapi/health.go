package httpapi

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/decode"
)

// createdToken is a new token with its secret, which is never returned again.
type createdToken struct {
	Token  askback.Token `json:"token"`
	Secret string        `json:"secret"`
}

type tokenList struct {
	Items      []askback.Token `json:"items"`
	NextCursor *string         `json:"next_cursor"`
}

func (c *call) tokens() error {
	tokens, err := c.seat.Tokens(c.r.Context())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, tokenList{Items: append([]askback.Token{}, tokens...)})
}

func (c *call) createToken() error {
	r, err := decode.TokenRequest(c.body)
	if err != nil {
		return err
	}
	t, secret, err := c.seat.CreateToken(c.r.Context(), r)
	if err != nil {
		return err
	}
	return c.reply(http.StatusCreated, createdToken{t, secret})
}

func (c *call) revokeToken() error {
	t, err := c.seat.RevokeToken(c.r.Context(), c.id())
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, t)
}

type loginLink struct {
	Secret string `json:"secret"`
	URL    string `json:"url,omitempty"`
}

func (c *call) login() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	secret, err := c.seat.LoginSecret(c.r.Context())
	if err != nil {
		return err
	}
	link := loginLink{Secret: secret}
	if c.h.options.PublicURL != "" {
		link.URL = c.h.options.PublicURL + "/login?secret=" + secret
	}
	return c.reply(http.StatusCreated, link)
}

// yield makes this process release its local database, if it can.
func (c *call) yield() error {
	if err := decode.Nothing(c.body); err != nil {
		return err
	}
	if c.h.options.Yield == nil {
		return problem{Status: http.StatusConflict, Type: "not-yielding", Detail: "this server keeps its database"}
	}
	if err := c.h.options.Yield(); err != nil {
		return err
	}
	return c.reply(http.StatusAccepted, map[string]string{"status": "yielding"})
}

type health struct {
	Status string `json:"status"`
	Proof  string `json:"proof,omitempty"`
	Readiness
}

// A Readiness has the warnings of a server that accepts calls.
type Readiness struct {
	Settings string   `json:"settings,omitempty"` // the error in the settings file
	Damaged  []string `json:"damaged,omitempty"`  // the records that were found damaged
}

// healthz replies with status 200, and with a proof of which process this is. The length
// of a nonce is limited, so that a proof is not a signature of arbitrary text.
func (c *call) healthz() error {
	out := health{Status: "ok"}
	if nonce := c.r.URL.Query().Get("nonce"); nonce != "" && c.h.options.Proof != nil {
		if len(nonce) < 16 || len(nonce) > 128 {
			return askback.Invalid{{Pointer: "?nonce", Detail: "a nonce has 16 to 128 characters", Fix: "nonce=…"}}
		}
		out.Proof = c.h.options.Proof(nonce)
	}
	return c.reply(http.StatusOK, out)
}

func (c *call) readyz() error {
	out := health{Status: "ready"}
	if c.h.options.Ready != nil {
		ready, err := c.h.options.Ready(c.r.Context())
		switch {
		case errors.Is(err, askback.ErrDiskFull):
			return err
		case err != nil:
			return problem{Status: http.StatusServiceUnavailable, Type: "failed", Detail: err.Error()}
		}
		out.Readiness = ready
	}
	if c.h.stopping.Err() != nil {
		return askback.ErrStopping
	}
	return c.reply(http.StatusOK, out)
}
