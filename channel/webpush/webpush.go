// Package webpush shows notifications in the browsers of people, through the push services of the browsers
// (RFC 8030). Messages are encrypted for the browser (RFC 8291), and signed by the server (VAPID, RFC 8292).
// A browser is a contact of a person. Its address is the subscription that the browser made. A message has
// the whole ask or, if the ask does not fit, only the agent and the title. A click on the notification opens
// the page of the ask (F3).
package webpush

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/message/notice"
	"github.com/askback/askback/internal/pause"
)

// Options configure a [Channel].
type Options struct {
	// Subject is the contact of the operator of this server for the operators of push services: an address
	// that begins with mailto: or https:. Apple's service requires a subject.
	Subject string
	// Zone returns the time zone for messages to a person. If the name is "", several people read the messages. If
	// Zone is nil, the zone is UTC.
	Zone    func(person string) *time.Location
	Allow   []egress.Allowed // addresses that messages may go to although they are not public
	Roots   *x509.CertPool   // certificate authorities for push services; nil for the authorities of the system
	Rand    io.Reader        // nil means crypto/rand
	Now     func() time.Time // nil means time.Now
	Log     *slog.Logger     // nil logs nothing
	Version string           // version of Askback, for the User-Agent
}

// Name is the name of the channel in deliveries and contacts.
const Name = "webpush"

// A Channel sends asks to browsers. It is safe for concurrent use.
type Channel struct {
	options Options
	client  *http.Client
	key     *Key          // set when ready is closed
	ready   chan struct{} // closed by Run
	once    sync.Once
}

// New returns a Channel, or an error if the subject is not valid.
func New(o Options) (*Channel, error) {
	if p := SubjectProblem(o.Subject); p != "" && o.Subject != "" {
		return nil, errors.New("the subject " + p)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	client := egress.NewClient(o.Allow, nil)
	if t, ok := client.Transport.(*http.Transport); ok && o.Roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: o.Roots}
	}
	return &Channel{options: o, client: client, ready: make(chan struct{})}, nil
}

// Close closes idle connections.
func (c *Channel) Close() { c.client.CloseIdleConnections() }

// A Keeper stores the secret from which the key of the server is derived. Package engine implements it.
type Keeper interface {
	// ChannelSecret returns the same random bytes for a channel in each call.
	ChannelSecret(ctx context.Context, channel string) ([]byte, error)
}

// Run gets the key of the server, and returns when ctx ends. If it cannot get the key, it tries again.
// Without the key, nothing is sent.
func (c *Channel) Run(ctx context.Context, k Keeper) {
	for pauses := (pause.Backoff{First: time.Second, Max: time.Minute}); ctx.Err() == nil; {
		secret, err := k.ChannelSecret(ctx, Name)
		if err == nil {
			err = c.use(secret)
		}
		if err == nil {
			<-ctx.Done()
			return
		}
		if ctx.Err() == nil {
			next := pauses.Next()
			c.options.Log.Error("push messages cannot be sent yet", "error", err, "again", next)
			_ = pause.For(ctx, next) // the loop ends with ctx
		}
	}
}

// use derives the key of the channel from a secret, unless the channel has a key.
func (c *Channel) use(secret []byte) error {
	key, err := NewKey(secret)
	if err == nil {
		c.once.Do(func() {
			c.key = key
			close(c.ready)
		})
	}
	return err
}

// keyTime is the maximum time for which a caller waits for the key. Run gets the key when the server starts.
const keyTime = 5 * time.Second

var errNoKey = errors.New("the key of the server for push messages is not known yet")

// serverKey returns the key of the server. It waits for the key, at most keyTime.
func (c *Channel) serverKey(ctx context.Context) (*Key, error) {
	late := time.NewTimer(keyTime)
	defer late.Stop()
	select {
	case <-c.ready:
		return c.key, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, errNoKey
	}
}

// PublicKey returns the key with which browsers subscribe, in base64url. It waits for the key for a short
// time.
func (c *Channel) PublicKey(ctx context.Context) (string, error) {
	key, err := c.serverKey(ctx)
	if err != nil {
		return "", err
	}
	return key.Public(), nil
}

// CheckAddress returns the form in which a subscription is stored. The error is an [askback.Invalid].
func (c *Channel) CheckAddress(address string) (string, error) {
	s, err := parseSubscription(address)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// maxTTL is the maximum time for which a push service stores a message. Google's service accepts no more than
// four weeks.
const maxTTL = 28 * 24 * time.Hour

// Send sends a notification about an ask once, to the subscription in its address. If the error is nil, the
// push service has accepted the message. An error contains no text of the service and no secret. It is an
// [askback.SendError] if there was a reply, or if the address cannot be used. The receipt is always "",
// because a message with the same topic and tag replaces an earlier message.
func (c *Channel) Send(ctx context.Context, n askback.Notification) (receipt string, err error) {
	to, err := parseSubscription(n.Address)
	if err != nil {
		return "", &askback.SendError{
			Err: errors.New("the subscription of this browser is not valid"), Final: true, Gone: true,
		}
	}
	text, err := render(n.Event, notice.InZone(n.Ask, n.Person, c.options.Zone))
	if err != nil {
		return "", err
	}
	key, salt, err := newMessageKey(c.options.Rand)
	if err != nil {
		return "", err
	}
	body, err := encrypt(pad(text), to, key, salt)
	if err != nil {
		return "", err
	}
	return "", c.post(ctx, to, n.Ask, body)
}

// post sends an encrypted message about an ask.
func (c *Channel) post(ctx context.Context, to subscription, a askback.Ask, body []byte) error {
	now := c.options.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.endpoint, bytes.NewReader(body))
	if err != nil {
		return &askback.SendError{
			Err: errors.New("the subscription of this browser is not valid"), Final: true, Gone: true,
		}
	}
	server, err := c.serverKey(ctx)
	if err != nil {
		return err
	}
	authorization, err := server.authorization(askback.Origin(to.endpoint), c.options.Subject, now)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Encoding", "aes128gcm")
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("TTL", strconv.FormatInt(int64(timeToLive(a, now)/time.Second), 10))
	r.Header.Set("Topic", topic(a.ID))
	r.Header.Set("Urgency", urgency(a))
	r.Header.Set("User-Agent", "askback/"+cmp.Or(c.options.Version, "devel"))
	reply, err := c.client.Do(r)
	if err != nil {
		return egress.NoReply(err)
	}
	egress.Discard(reply)
	return replyError(reply, now)
}

// timeToLive returns how long a push service stores a message. A question is stored until the deadline of the
// ask, but at least a minute and at most maxTTL. An outcome is stored for maxTTL, because the question may be
// shown as long.
func timeToLive(a askback.Ask, now time.Time) time.Duration {
	if a.Settled() || a.Deadline.IsZero() {
		return maxTTL
	}
	return max(min(a.Deadline.Sub(now), maxTTL), time.Minute)
}

// urgency returns the urgency of a message for a phone that saves power (RFC 8030, section 5.3). A question
// is urgent because an agent waits for the answer. An outcome can wait.
func urgency(a askback.Ask) string {
	if a.Settled() {
		return "normal"
	}
	return "high"
}

// replyError returns nil if a push service has accepted a message. The error is final if the subscription has
// ended or the message is rejected.
func replyError(reply *http.Response, now time.Time) error {
	err := egress.ReplyError(reply, now)
	sending, ok := errors.AsType[*askback.SendError](err)
	if !ok {
		return err
	}
	switch reply.StatusCode {
	case http.StatusNotFound, http.StatusGone: // the subscription has ended (RFC 8030, section 7.3)
		sending.Err = fmt.Errorf("%w: this browser has ended its subscription to notifications", sending.Err)
		sending.Final, sending.Gone = true, true
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		sending.Final = true
	case http.StatusUnauthorized, http.StatusForbidden:
		sending.Err = fmt.Errorf(
			"%w: the push service rejects the key, the clock or channels.webpush.subject of this server", sending.Err,
		)
	}
	return err
}

// SubjectProblem returns the problem with an [Options.Subject], or "". An empty subject is a problem, too.
func SubjectProblem(subject string) string {
	if address, ok := strings.CutPrefix(subject, "mailto:"); ok {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return "is not the address of a person or of a page"
		}
		return ""
	}
	u, err := url.Parse(subject)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "is not the address of a person or of a page"
	}
	return ""
}
