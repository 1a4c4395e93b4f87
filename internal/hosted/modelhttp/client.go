// Package modelhttp has the common parts of the clients of model providers. The key is in no error and goes
// to no other host. A stream ends only where the provider ends it, and errors are readable.
package modelhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/askback/askback/internal/egress"
)

// CheckBaseURL returns an error unless keys may be sent to a base URL. The URL must use https, or http to
// this machine. With allowHTTP, http to other machines is also allowed. The URL must not have a user, a query
// or a fragment.
func CheckBaseURL(base string, allowHTTP bool) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return errors.New("base_url is not a URL such as https://models.example.com/v1")
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("base_url has a user, a query or a fragment; write the key as api_key")
	case u.Scheme == "https", u.Scheme == "http" && (allowHTTP || egress.IsLoopback(u.Host)):
		return nil
	}
	return errors.New("base_url is neither https nor http to this machine")
}

// CheckKey returns an error if key has characters that cannot be sent in a header.
func CheckKey(key string) error {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return errors.New("api_key has a character that keys do not have, such as a space")
		}
	}
	return nil
}

// DefaultIdle is the maximum time without data from a provider. Hosted providers send data every few seconds.
// A model on this machine may first have to be loaded.
const DefaultIdle = 5 * time.Minute

// The maximum sizes of a reply and of the body of an error, in bytes.
const (
	maxReply = 64 << 20
	maxError = 64 << 10
)

// NewClient returns a client for requests whose reply is a stream of events.
//
// Any other reply is an error, which [Error] explains, and so is a reply whose status is not 2xx. Therefore
// no redirect is followed, and the headers with the key go to no other host. At the end of a reply, reading
// returns [io.ErrUnexpectedEOF]. So the reader must stop before, at the end mark of the provider. A request
// ends with an error if the provider sends nothing for the time idle. If idle is 0, this time is
// [DefaultIdle].
func NewClient(idle time.Duration) *http.Client {
	if idle == 0 {
		idle = DefaultIdle
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.DisableCompression = true
	return &http.Client{Transport: &transport{base, idle}}
}

type transport struct {
	base *http.Transport
	idle time.Duration
}

// CloseIdleConnections makes [http.Client.CloseIdleConnections] work.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

var (
	errIdle     = errors.New("idle")
	errTooLarge = errors.New("too large")
	errNoStream = errors.New("no stream")
)

// A statusError is a reply whose status is not 2xx.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// RoundTrip sends a request. A reply that is not a stream of events is an error.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &body{ctx: ctx, cancel: cancel, idle: t.idle, left: maxReply}
	b.timer = time.AfterFunc(t.idle, func() { cancel(errIdle) })
	reply, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = b.cause(err)
		b.stop()
		return nil, err
	}
	b.from = reply.Body
	if reply.StatusCode < 200 || reply.StatusCode > 299 {
		defer b.Close()
		text, _ := io.ReadAll(io.LimitReader(b, maxError))
		return nil, &statusError{reply.StatusCode, reply.Header, text}
	}
	if t, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type")); t != "" &&
		!strings.EqualFold(t, "text/event-stream") {
		b.Close()
		return nil, errNoStream
	}
	reply.Body = b
	return reply, nil
}

// A body is the body of a reply. It ends the request with errIdle if the provider sends nothing for the time
// idle.
type body struct {
	from   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	left   int
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, b.cause(err)
}

// cause returns errIdle if the request ended because the provider sent nothing. Otherwise it returns err.
func (b *body) cause(err error) error {
	if err != nil && context.Cause(b.ctx) == errIdle {
		return errIdle
	}
	return err
}

func (b *body) stop() {
	b.timer.Stop()
	b.cancel(nil)
}

// Close ends the request.
func (b *body) Close() error {
	b.stop()
	return b.from.Close()
}
