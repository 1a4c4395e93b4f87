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

// A regular follows with the client of Askback, which comes back by itself. It
// knows one address; who serves there changes, and its connections are cut.
type regular struct {
	*record
	line  *line
	token string
	rand  *rand.Rand
}

// live follows until ctx ends.
func (r *regular) live(ctx context.Context) {
	way := &http.Client{Transport: &changing{line: r.line, rand: r.rand}}
	client := httpapi.NewClient("http://askback.invalid", r.token, way)
	for e, err := range client.Events(ctx, "", "") {
		if err != nil {
			if ctx.Err() == nil {
				r.mu.Lock()
				r.wrong(failed, "was left alone: %v", err)
				r.mu.Unlock()
			}
			return
		}
		data, err := e.MarshalJSON()
		if err != nil {
			data = []byte(err.Error())
		}
		r.hear(string(e.Cursor), string(e.Type), data)
	}
}

// changing goes to whoever serves now, and cuts what comes back somewhere.
type changing struct {
	line *line

	mu   sync.Mutex
	rand *rand.Rand
}

// RoundTrip implements [http.RoundTripper].
func (c *changing) RoundTrip(r *http.Request) (*http.Response, error) {
	s, way, err := c.line.find(r.Context())
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
	res, err := way.Transport.RoundTrip(r)
	if err != nil {
		c.line.lose(s)
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	res.Body = &cutBody{res.Body, io.LimitReader(res.Body, 1+c.rand.Int64N(4*longestRead))}
	return res, nil
}

// cutBody ends before its time.
type cutBody struct {
	io.Closer
	io.Reader
}
