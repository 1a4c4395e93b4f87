package httpapi

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A request describes an HTTP request of a [Client].
type request struct {
	method string
	path   string
	query  string // encoded
	body   any    // nil if the request has no body
	key    string
	trace  string        // the position in a trace, or ""
	long   bool          // the reply may be long, and a proxy may compress it
	wait   time.Duration // maximum time of the server in addition to replyTime
}

// A sender creates and sends the HTTP requests of a [Client].
type sender struct {
	url string
	// start is a request to url, to which a path can be added. If start is nil, url is parsed together with
	// the path.
	start *http.Request
	http  *http.Client
	// direct is the transport of http. It is nil if requests may need TLS, cookies or the timeout of http.
	direct *http.Transport
	// The headers for requests without and with a body. Requests share these headers, so no code may change
	// them.
	header, bodyHeader http.Header
}

func newSender(address, token string, c *http.Client) sender {
	if c == nil {
		c = &http.Client{Transport: defaultTransport()}
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := sender{url: strings.TrimRight(address, "/"), http: &own, header: http.Header{
		"Authorization":   {"Bearer " + token},
		"Accept-Encoding": {"identity"}, // otherwise the transport allocates another header
	}}
	s.bodyHeader = maps.Clone(s.header)
	s.bodyHeader["Content-Type"] = jsonType
	start, err := http.NewRequest(http.MethodGet, s.url, nil)
	if err != nil {
		return s // each call returns the error
	}
	if u := start.URL; *u == (url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path}) {
		s.start = start
	}
	if start.URL.Scheme == "http" && own.Jar == nil && own.Timeout == 0 {
		s.direct, _ = own.Transport.(*http.Transport)
	}
	return s
}

// defaultTransport returns a copy of [http.DefaultTransport] that keeps all idle connections for a while. The
// original keeps two idle connections for each host, so many concurrent calls would reconnect. If a program
// has replaced the original by another type, defaultTransport returns the replacement.
var defaultTransport = sync.OnceValue(func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, math.MaxInt
	return t
})

// request returns the HTTP request for r.
func (s *sender) request(ctx context.Context, r request) (*http.Request, error) {
	in, err := s.address(ctx, r)
	if err != nil {
		return nil, err
	}
	in.Header = s.header
	if r.body != nil {
		in.Header = s.bodyHeader
		if err := setBody(in, r.body); err != nil {
			return nil, err
		}
	}
	if s.direct == nil || r.key != "" || r.long {
		in.Header = maps.Clone(in.Header)
	}
	if r.key != "" {
		in.Header["Idempotency-Key"] = []string{r.key}
	}
	if r.trace != "" { // a request with a trace has a key, so the header is a copy
		in.Header[traceHeader] = []string{r.trace}
	}
	if r.long {
		delete(in.Header, "Accept-Encoding")
	}
	return in, nil
}

// address returns a request with the method and the address of r. If s.start is nil or the path has escaped
// characters, it parses the address.
func (s *sender) address(ctx context.Context, r request) (*http.Request, error) {
	if s.start == nil || strings.Contains(r.path, "%") {
		address := s.url + r.path
		if r.query != "" {
			address += "?" + r.query
		}
		return http.NewRequestWithContext(ctx, r.method, address, nil)
	}
	in, u := s.start.WithContext(ctx), *s.start.URL
	u.Path += r.path
	u.RawQuery = r.query
	in.Method, in.URL = r.method, &u
	return in, nil
}

// setBody sets the body of in to the JSON of v.
func setBody(in *http.Request, v any) error {
	b := newBuffer()
	defer b.release()
	raw, err := appendJSON(b.bytes, v)
	if err != nil {
		return err
	}
	b.bytes = raw
	raw = bytes.Clone(raw) // the transport may still read the bytes after the reply has arrived
	in.ContentLength = int64(len(raw))
	// The transport sends a body of this type in one write with the header. It does not do so for other
	// types.
	in.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	in.Body, err = in.GetBody()
	return err
}

// send sends in and does not follow redirects. If s.direct is not nil, it skips [http.Client.Do], which
// copies each request for redirects and cookies.
func (s *sender) send(in *http.Request) (*http.Response, error) {
	if s.direct != nil {
		return s.direct.RoundTrip(in)
	}
	return s.http.Do(in)
}
