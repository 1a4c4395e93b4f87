// Package webhook sends events of asks and sessions to programs by HTTP POST, signed as Standard Webhooks 1.0
// (standardwebhooks.com) requires. docs/wire.md §8 specifies the messages. A message goes only to addresses
// that are public, or that the operator allows. The address is checked when the connection is made, so a name
// cannot resolve to another address after the check.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/wire/compat"
)

// Options configure a [Channel].
type Options struct {
	// Secret signs messages to endpoints without their own secret. It must pass [CheckSecret], or be "" for
	// no secret.
	Secret  string
	Allow   []egress.Allowed // addresses that messages may go to although they are not public
	Now     func() time.Time // clock for the timestamps; nil means time.Now
	Version string           // version of Askback, for the User-Agent
}

// A Channel sends deliveries to the callbacks of asks and sessions. It is safe for concurrent use.
type Channel struct {
	client *http.Client
	secret string
	now    func() time.Time
	agent  string
}

// New returns a Channel, or an error if the secret is not valid.
func New(o Options) (*Channel, error) {
	if p := CheckSecret(o.Secret); p != "" && o.Secret != "" {
		return nil, errors.New("the secret " + p)
	}
	c := &Channel{secret: o.Secret, now: o.Now, agent: "askback/" + cmp.Or(o.Version, "devel")}
	if c.now == nil {
		c.now = time.Now
	}
	c.client = egress.NewClient(o.Allow, nil)
	return c, nil
}

// Close closes idle connections.
func (c *Channel) Close() { c.client.CloseIdleConnections() }

// Send posts a notification to its address once. It signs with each secret of the notification, or with the
// secret of the channel if the notification has no secret. If the error is nil, the receiver has accepted the
// message. An error contains no text of the receiver and no secret. It is an [askback.SendError] if there was
// a reply, or if the address cannot be used. The receipt is always "".
func (c *Channel) Send(ctx context.Context, n askback.Notification) (receipt string, err error) {
	body, err := bodyOf(n.Delivery, n.Ask, n.Address)
	if err != nil {
		return "", err
	}
	_, err = c.post(ctx, n.ID, n.SessionID, n.Ask.TraceParent, n.Address, body, n.Secrets)
	return "", err
}

// SendTest posts a test message to an address of an endpoint once. The message has this id. SendTest returns
// the status of the reply, or 0 without a reply. It returns the same errors as Send.
func (c *Channel) SendTest(ctx context.Context, id, endpoint, address string, secrets []string) (code int, err error) {
	content := struct {
		Event    string `json:"event"`
		Endpoint string `json:"endpoint_id"`
		At       string `json:"at"`
		Text     string `json:"text"` // Slack requires it
	}{"test", endpoint, c.now().UTC().Format(time.RFC3339), "This is a test message of Askback."}
	body, err := json.Marshal(content)
	if err != nil {
		return 0, err
	}
	if isSlack(address) {
		if body, err = json.Marshal(map[string]string{"text": content.Text}); err != nil {
			return 0, err
		}
	}
	return c.post(ctx, id, "", "", address, body, secrets)
}

// post sends a body to an address. The headers have the session and the position in a trace, unless they are
// "". It returns the status of the reply, or 0 without a reply.
func (c *Channel) post(
	ctx context.Context, id, session, trace, address string, body []byte, secrets []string,
) (code int, err error) {
	if p := askback.CallbackProblem(address); p != "" {
		return 0, &askback.SendError{Err: errors.New(p), Final: true}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, &askback.SendError{Err: errors.New("this is not an address"), Final: true}
	}
	now := c.now()
	if err := c.sign(r.Header, id, now, body, secrets); err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", c.agent)
	if session != "" {
		r.Header.Set("X-Agent-Session", session)
	}
	if trace != "" {
		r.Header.Set("Traceparent", trace)
	}
	reply, err := c.client.Do(r)
	if err != nil {
		return 0, egress.NoReply(err)
	}
	egress.Discard(reply)
	return reply.StatusCode, egress.ReplyError(reply, now)
}

// bodyOf returns the body of a delivery about an ask or, if d.Session is set, about a session. A webhook of
// Slack gets a message in the form of Slack.
func bodyOf(d askback.Delivery, about askback.Ask, address string) ([]byte, error) {
	switch {
	case isSlack(address):
		return slackBody(d, about)
	case d.Session != nil:
		return json.Marshal(compat.SessionCallbackOf(d.Event, *d.Session, about.PageURL))
	}
	content, err := compat.CallbackOf(d.Event, about)
	if err != nil {
		return nil, err
	}
	return json.Marshal(content)
}
