package mcptools

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// newHTTPClient returns a client that sends the headers of the settings only to the origin of the endpoint,
// and follows redirects only there. It calls end if the endpoint leaves too many results of its requests
// unread.
func newHTTPClient(s *Server, end func(error)) *http.Client {
	endpoint, _ := url.Parse(s.o.URL) // New has checked it
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.TLSHandshakeTimeout = 10 * time.Second
	return &http.Client{
		Transport: &transport{base: base, endpoint: endpoint, headers: s.o.Headers, end: end},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case !sameOrigin(req.URL, endpoint):
				return errors.New("it redirects to another server; write the address of that server")
			case len(via) > 3:
				return errors.New("it redirects again and again")
			}
			return nil
		},
	}
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

type transport struct {
	base     *http.Transport
	endpoint *url.URL
	headers  map[string]string
	end      func(error)
	results  atomic.Int32 // the number of results that are being sent
}

// CloseIdleConnections makes [http.Client.CloseIdleConnections] work.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// RoundTrip implements [http.RoundTripper]. It limits the size of each reply except a stream of events, whose
// reader limits the size of an event. It returns an error if too many results are being sent.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if sameOrigin(req.URL, t.endpoint) {
		for name, value := range t.headers {
			req.Header.Set(name, value)
		}
	}
	if isResult(req) {
		defer t.results.Add(-1)
		if t.results.Add(1) > maxWaitingHTTP {
			t.end(errWaiting)
			return nil, errWaiting
		}
	}
	reply, err := deliver(req, t.base)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if kind != "text/event-stream" || reply.StatusCode < 200 || reply.StatusCode > 299 {
		reply.Body = &limited{reply.Body, maxMessage}
	}
	return reply, nil
}

// limited is a body whose Read fails if the body has more than left bytes.
type limited struct {
	io.ReadCloser
	left int
}

func (b *limited) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		n, b.left = b.left, 0
		return n, fmt.Errorf("the reply has more than %d bytes", maxMessage)
	}
	b.left -= n
	return n, err
}
