// Package post sends questions to phones and chats by HTTP: to ntfy, Pushover, Gotify, Discord, Teams,
// Mattermost and Home Assistant. A message has the whole ask or, if the ask does not fit, only the name of
// the agent and the link (F3). Text of agents is plain text everywhere. Each of its lines begins with a mark,
// so that it cannot imitate lines of Askback (T7, T9, T10).
package post

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/message/notice"
)

// Options configure a [Channel].
type Options struct {
	Receivers map[string]Receiver // keyed by name; each passes [Receiver.Check]
	// Pages signs the links to the pages of asks. Replies signs the tokens that buttons publish to reply
	// topics. Without Pages and Replies, messages have only the links of the asks, and no buttons.
	Pages, Replies *answerlink.Signer
	// Zone returns the time zone for messages to a person. If the name is "", several people read the messages. If
	// Zone is nil, the zone is UTC.
	Zone    func(person string) *time.Location
	Log     *slog.Logger     // nil logs nothing
	Now     func() time.Time // time for Retry-After; nil means time.Now
	Version string           // version of Askback, for the User-Agent
}

// A Channel sends deliveries to receivers. It is safe for concurrent use.
type Channel struct {
	options Options
	clients map[string]*http.Client
	// times for reading replies; see the constants
	silence, firstWait time.Duration
}

// New returns a Channel, or an error if a receiver is not valid.
func New(o Options) (*Channel, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Channel{options: o, clients: map[string]*http.Client{}, silence: silence, firstWait: firstWait}
	for name, r := range o.Receivers {
		if setting, problem := r.Check(); problem != "" {
			return nil, fmt.Errorf("the receiver %s: %s %s", name, setting, problem)
		}
		c.clients[name] = egress.NewClient(r.Allow, nil)
	}
	return c, nil
}

// Close closes idle connections.
func (c *Channel) Close() {
	for _, client := range c.clients {
		client.CloseIdleConnections()
	}
}

// Send posts a notification about an ask once, to the receiver whose name is n.Address. If the error is nil,
// the service has accepted the message. An error contains no text of the service and no secret. It is an
// [askback.SendError] if there was a reply, or if the address cannot be used. The receipt is always "".
func (c *Channel) Send(ctx context.Context, n askback.Notification) (receipt string, err error) {
	name, about := n.Address, notice.InZone(n.Ask, n.Person, c.options.Zone)
	receiver, ok := c.options.Receivers[name]
	if !ok {
		return "", errUnknown
	}
	public := publicURL(about)
	about.PageURL = c.link(receiver, about, n.Person, public)
	request, err := Render(receiver, n.Event, about, c.buttons(receiver, about, n.Person, public))
	if err != nil {
		return "", err
	}
	return "", c.post(ctx, name, request)
}

// errUnknown is not final, because the operator may add the receiver again.
var errUnknown = errors.New("channels.post in the settings has no receiver with this name")

// SendTest posts a test message to the receiver with this name. It returns the same errors as Send.
func (c *Channel) SendTest(ctx context.Context, name string) error {
	receiver, ok := c.options.Receivers[name]
	if !ok {
		return errUnknown
	}
	request, err := RenderTest(receiver)
	if err != nil {
		return err
	}
	return c.post(ctx, name, request)
}

func (c *Channel) post(ctx context.Context, name string, in Request) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, in.URL, bytes.NewReader(in.Body))
	if err != nil {
		return &askback.SendError{Err: errors.New("this is not an address"), Final: true}
	}
	for header, value := range in.Header {
		r.Header.Set(header, value)
	}
	r.Header.Set("User-Agent", c.userAgent())
	reply, err := c.clients[name].Do(r)
	if err != nil {
		return egress.NoReply(err)
	}
	egress.Discard(reply)
	return replyError(reply, c.options.Now())
}

func (c *Channel) userAgent() string { return "askback/" + cmp.Or(c.options.Version, "devel") }

// replyError returns nil if a service has accepted a message. A rejection of the message itself is final,
// because the service would repeat it. A rejection of the token is not final, because the operator may
// correct the token.
func replyError(reply *http.Response, now time.Time) error {
	err := egress.ReplyError(reply, now)
	var sending *askback.SendError
	if errors.As(err, &sending) {
		switch reply.StatusCode {
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
			sending.Final = true
		case http.StatusUnauthorized, http.StatusForbidden:
			sending.Err = fmt.Errorf("%w: check the token and the address in the settings", sending.Err)
		}
	}
	return err
}
