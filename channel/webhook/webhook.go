// Package webhook sends events of asks and sessions to programs by HTTP POST, signed as Standard Webhooks
// 1.0 (standardwebhooks.com) requires. docs/wire.md §8 has the form.
//
// A message goes only to addresses that are public, or that the operator allows. The
// address is checked when the connection is made, so that a name cannot change what it means
// after the check.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/compat"
)

// Options configure a [Channel].
type Options struct {
	Secret  string           // signs every message; [CheckSecret] accepts it
	Allow   []Allowed        // addresses to which messages may go although they are not public
	Now     func() time.Time // for the timestamps; nil: time.Now
	Version string           // of Askback, for the User-Agent
}

// A Channel sends deliveries to the callbacks of asks and sessions. It is safe for concurrent use.
type Channel struct {
	client *http.Client
	secret string
	now    func() time.Time
	agent  string
}

const (
	connectTime = 10 * time.Second
	replyTime   = 15 * time.Second
	sendTime    = 30 * time.Second // for everything, from the first look-up of a name to the end of the reply
	maxReply    = 64 << 10         // bytes of a reply that are read; their contents are ignored
)

// New returns a Channel, or an error if the secret is not valid.
func New(o Options) (*Channel, error) {
	if p := CheckSecret(o.Secret); p != "" {
		return nil, errors.New("the secret " + p)
	}
	c := &Channel{secret: o.Secret, now: o.Now, agent: "askback/" + cmp.Or(o.Version, "devel")}
	if c.now == nil {
		c.now = time.Now
	}
	c.client = newClient(newGuard(o.Allow), nil)
	return c, nil
}

// newClient returns a client that connects only where the guard allows. It looks up names
// with a resolver; nil is that of the system.
func newClient(g *guard, names *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: connectTime, Control: g.check, Resolver: names}
	return &http.Client{
		Timeout: sendTime,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, Proxy: nil, // a proxy would connect to any address
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: replyTime,
			MaxIdleConns: 100, MaxIdleConnsPerHost: 16, MaxConnsPerHost: 16, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxReply,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes idle connections.
func (c *Channel) Close() { c.client.CloseIdleConnections() }

// Send posts a delivery about an ask or a session to an address, once. The receiver has it if
// the error is nil. Otherwise the error has no text of the receiver and no secret; it is an
// [askback.SendError] if there was a reply, or if the address is not valid.
func (c *Channel) Send(ctx context.Context, d askback.Delivery, about askback.Ask, address string) error {
	if p := askback.CallbackProblem(address); p != "" {
		return &askback.SendError{Err: errors.New(p), Final: true}
	}
	body, err := bodyOf(d, about)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return &askback.SendError{Err: errors.New("this is not an address"), Final: true}
	}
	now := c.now()
	if err := c.sign(r.Header, d.ID, now, body); err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("X-Agent-Session", d.SessionID)
	reply, err := c.client.Do(r)
	if err != nil {
		return noReply(err)
	}
	_, _ = io.CopyN(io.Discard, reply.Body, maxReply) // so that the connection can be used again
	_ = reply.Body.Close()
	return replyError(reply, now)
}

// bodyOf returns the body of a delivery about an ask or, with d.Session, about a session.
func bodyOf(d askback.Delivery, about askback.Ask) ([]byte, error) {
	if d.Session != nil {
		return json.Marshal(compat.SessionCallbackOf(d.Event, *d.Session))
	}
	content, err := compat.CallbackOf(d.Event, about)
	if err != nil {
		return nil, err
	}
	return json.Marshal(content)
}

// noReply returns the error of a request without a reply. Its text is one of a few: the
// cause may have the address, or text of the receiver, such as the names in its certificate
// or the first line of another protocol.
func noReply(err error) error {
	var (
		timeout     net.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		host        x509.HostnameError
		notTLS      tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, ErrAddress):
		return ErrAddress
	case errors.Is(err, context.Canceled):
		return errors.New("no reply: this server stopped")
	case errors.As(err, &name):
		return errors.New("no reply: the name of the host cannot be looked up")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no reply in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("no reply: the connection was refused")
	case errors.As(err, &host):
		return errors.New("no reply: the certificate of the receiver is for another name")
	case errors.As(err, &certificate):
		return errors.New("no reply: the certificate of the receiver is not trusted or has expired")
	case errors.As(err, &notTLS):
		return errors.New("no reply: the receiver does not use TLS")
	}
	return errors.New("no reply: the connection failed, or the reply was not HTTP")
}

// replyError returns nil if the receiver has accepted a message, and else an
// [askback.SendError].
func replyError(reply *http.Response, now time.Time) error {
	status := reply.StatusCode
	if status/100 == 2 {
		return nil
	}
	e := &askback.SendError{RetryAfter: retryAfter(reply.Header.Get("Retry-After"), now), Final: status == http.StatusGone}
	if status/100 == 3 {
		e.Err = fmt.Errorf("the reply was a redirect (%d), which is not followed", status)
	} else {
		e.Err = errors.New(strings.TrimSpace(fmt.Sprintf("the reply was %d %s", status, http.StatusText(status))))
	}
	return e
}

// retryAfter returns the value of a Retry-After header: seconds, or a date. For any other
// value it returns 0.
func retryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
