package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/wire/jcs"
)

// A HookVerifier verifies the signatures of webhooks that start agents (docs/wire.md §3).
type HookVerifier interface {
	// CheckHeader returns an error if no body could make a webhook with this header valid.
	CheckHeader(http.Header) error
	// Verify returns an error unless the header signs the body with the secret of the agent. The error is the
	// same for an agent without a secret and for an unknown agent.
	Verify(agent string, h http.Header, body []byte) error
}

const (
	// unverifiedTime is how long the body of a webhook may take to arrive. The signature cannot be verified
	// before.
	unverifiedTime = 10 * time.Second
	// maxHookKey is the maximum number of characters in the name of a delivery.
	maxHookKey = 128
)

// authenticateHook authenticates a webhook by its signature, and reads its body. An invalid signature has the
// same reply whether or not the agent exists. If too many webhooks are being read, the error is
// [askback.ErrBusy].
func (c *call) authenticateHook(rt *route) error {
	verifier := c.h.options.Hooks
	if verifier == nil {
		return askback.ErrUnauthorized
	}
	agent := c.r.PathValue("agent")
	if err := verifier.CheckHeader(c.r.Header); err != nil {
		return c.unsigned(agent, err) // rejects the webhook before its body arrives
	}
	login.ExtendBody(c.w, c.r, c.h.unverifiedTime)
	reading := c.h.unverified.begin(c.w, c.r)
	err := c.readBody(rt.limit)
	if c.h.unverified.end(reading) { // begin has ended this webhook in favor of another webhook
		c.w.Header().Set("Connection", "close")
		return askback.ErrBusy
	}
	if err != nil {
		return err
	}
	if err := verifier.Verify(agent, c.r.Header, c.body); err != nil {
		return c.unsigned(agent, err)
	}
	p := askback.Principal{Kind: askback.Agent, Name: askback.HostedPrefix + agent, Channel: askback.ChannelAPI}
	c.principal, c.client = p, c.h.auth.As(p)
	return nil
}

func (c *call) unsigned(agent string, err error) error {
	c.h.log.Debug("a webhook was refused", "agent", agent, "error", err)
	return problem{
		Status: http.StatusUnauthorized, Type: "unauthorized",
		Detail: "send the token of an agent, or a signature of Standard Webhooks with the webhook_secret of this " +
			"agent, which is at most five minutes old",
	}
}

// A hookStarted is the reply to a webhook that started an agent.
type hookStarted struct {
	SessionID string `json:"session_id"`
	StatusURL string `json:"status_url"`
}

// startHook serves POST /hooks/{agent}. It starts a run of a hosted agent with the body as the payload (E1).
// A repeated delivery with the same name starts no run.
func (c *call) startHook() error {
	if c.principal.Kind != askback.Agent {
		return askback.ErrForbidden // people start agents by POST /sessions, as themselves
	}
	if _, err := jcs.Parse(c.body); err != nil {
		return err
	}
	var payload bytes.Buffer
	if err := json.Compact(&payload, c.body); err != nil {
		return err
	}
	key, err := c.hookKey()
	if err != nil {
		return err
	}
	agent := c.r.PathValue("agent")
	hosted, err := c.client.HostedAgents(c.r.Context())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(hosted, func(a askback.HostedAgent) bool { return a.Name == agent }) {
		return askback.ErrNotFound
	}
	s, err := c.client.Start(c.r.Context(), askback.SessionRequest{
		Agent: agent, Key: key, Payload: payload.Bytes(), Unattended: true,
	})
	if err != nil {
		return err
	}
	status := "/agent/session/" + s.ID
	c.w.Header().Set("Location", status)
	return c.reply(http.StatusAccepted, hookStarted{s.ID, c.h.options.PublicURL + status})
}

// hookKey returns the key of the session that this delivery starts, or "" if the delivery has no name. With a
// token, the name is the Idempotency-Key, if the request has this header. Otherwise the name is the
// webhook-id, which a signature covers.
func (c *call) hookKey() (string, error) {
	name, id := "webhook-id", c.r.Header.Get("Webhook-Id")
	if key := c.r.Header.Get("Idempotency-Key"); c.secret != "" && key != "" {
		name, id = "Idempotency-Key", key
	}
	switch n := utf8.RuneCountInString(id); {
	case n == 0:
		return "", nil
	case n > maxHookKey:
		return "", askback.Invalid{{
			Pointer: name, Detail: fmt.Sprintf("%d characters are too many; at most %d are allowed", n, maxHookKey),
			Fix: "send a shorter one",
		}}
	}
	return "hook:" + c.r.PathValue("agent") + ":" + id, nil
}
