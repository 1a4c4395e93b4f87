package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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
)

const (
	connectTime = 10 * time.Second
	replyTime   = 15 * time.Second
	// the time limit for a whole request, from the first look-up of a name to the end of the reply
	sendTime = 30 * time.Second
)

// MaxReply is the maximum number of bytes that are read from the body of a reply. The bytes are ignored. They
// are read so that the connection can be used again. MaxReply is also the maximum size of the headers.
const MaxReply = 64 << 10

// NewClient returns a client that connects only to addresses that are public or allowed. It checks each
// address when it connects, follows no redirect and uses no proxy. It looks up host names with names. If
// names is nil, it uses the resolver of the system.
func NewClient(allow []Allowed, names *net.Resolver) *http.Client {
	g := newGuard(allow)
	dialer := &net.Dialer{Timeout: connectTime, Control: g.check, Resolver: names}
	return &http.Client{
		Timeout: sendTime,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, Proxy: nil, // a proxy would connect to any address
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: replyTime,
			MaxIdleConns: 100, MaxIdleConnsPerHost: 16, MaxConnsPerHost: 16, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: MaxReply,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NoReply returns the error for a request that got no reply because of err. The text of the error is a fixed
// sentence. It does not include err, which may contain the address or text of the receiver, such as the names
// in its certificate. If an address could not be used, the error is an [askback.SendError] with the cause for
// operators.
func NoReply(err error) error {
	var (
		timeout     net.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		host        x509.HostnameError
		notTLS      tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, ErrAddress):
		return &askback.SendError{Err: ErrAddress, Cause: refusedAddress(err)}
	case errors.Is(err, context.Canceled):
		return errors.New("no reply: this server stopped")
	case errors.As(err, &name):
		return &askback.SendError{Err: ErrAddress, Cause: name}
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no reply in time")
	case errors.Is(err, syscall.ECONNREFUSED):
		return ErrRefused
	case errors.As(err, &host):
		return errors.New("no reply: the certificate of the receiver is for another name")
	case errors.As(err, &certificate):
		return errors.New("no reply: the certificate of the receiver is not trusted or has expired")
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("no reply: the receiver does not use TLS")
	}
	return errors.New("no reply: the connection failed, or the reply was not HTTP")
}

// refusedAddress returns an error for operators that describes a connection that was not allowed. The error
// has the IP address, even if the request was for a host name.
func refusedAddress(err error) error {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Addr != nil {
		return fmt.Errorf("%v is not public, and no setting allows it", dial.Addr)
	}
	return errors.New("the address is not public, and no setting allows it")
}

// discardTime is how long the rest of a reply is read, so that its connection can be used
// again.
const discardTime = time.Second

// Discard reads and ignores the rest of a reply, for at most discardTime and MaxReply bytes. Then it closes
// the body.
func Discard(reply *http.Response) {
	late := time.AfterFunc(discardTime, func() { _ = reply.Body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, reply.Body, MaxReply)
	_ = reply.Body.Close()
}

// ReplyError returns nil if the status of a reply is 2xx. Otherwise it returns an [askback.SendError] with
// the time in Retry-After. The status 410 means that the receiver is gone, so that the error is final.
func ReplyError(reply *http.Response, now time.Time) error {
	status := reply.StatusCode
	if status/100 == 2 {
		return nil
	}
	e := &askback.SendError{
		RetryAfter: retryAfter(reply.Header.Get("Retry-After"), now), Final: status == http.StatusGone,
		Gone: status == http.StatusGone,
	}
	if status/100 == 3 {
		e.Err = fmt.Errorf("the reply was a redirect (%d), which is not followed", status)
	} else {
		e.Err = errors.New(strings.TrimSpace(fmt.Sprintf("the reply was %d %s", status, http.StatusText(status))))
	}
	return e
}

// retryAfter returns the value of a Retry-After header, which is a number of seconds or a date. For any other
// value or a date in the past it returns 0.
func retryAfter(header string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
