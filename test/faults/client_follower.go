package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"

	"github.com/askback/askback/httpapi"
)

// A clientFollower follows the events of all sessions with [httpapi.Client], which
// reconnects by itself. The client has one address; the transport sends its requests to
// the current server and truncates the responses.
type clientFollower struct {
	*record
	conn  *connection
	token string
	rand  *rand.Rand
}

// run follows the stream until ctx is done. An earlier end of the stream is a violation.
func (r *clientFollower) run(ctx context.Context) {
	httpClient := &http.Client{Transport: &reconnectingTransport{conn: r.conn, rand: r.rand}}
	client := httpapi.NewClient("http://askback.invalid", r.token, httpClient)
	for e, err := range client.Events(ctx, "", "") {
		if err != nil {
			if ctx.Err() == nil {
				r.mu.Lock()
				r.violate(failed, "stopped: %v", err)
				r.mu.Unlock()
			}
			return
		}
		data, err := e.MarshalJSON()
		if err != nil {
			data = []byte(err.Error())
		}
		r.add(string(e.Cursor), string(e.Type), data)
	}
}

// A reconnectingTransport sends requests to the current server, and truncates the responses.
type reconnectingTransport struct {
	conn *connection

	mu   sync.Mutex
	rand *rand.Rand
}

// RoundTrip implements [http.RoundTripper].
func (c *reconnectingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s, httpClient, err := c.conn.connect(r.Context())
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
	res, err := httpClient.Transport.RoundTrip(r)
	if err != nil {
		c.conn.reset(s)
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	res.Body = &truncatedBody{res.Body, io.LimitReader(res.Body, 1+c.rand.Int64N(4*maxRead))}
	return res, nil
}

// A truncatedBody is a response body that ends early.
type truncatedBody struct {
	io.Closer
	io.Reader
}
