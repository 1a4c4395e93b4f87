package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

// retryPause is the pause before a call or a check is repeated.
const retryPause = 2 * time.Millisecond

// A connection connects to the current server of a database. The server proves
// its identity before a token is sent.
type connection struct {
	place instance.Place
	wrap  func(http.RoundTripper) http.RoundTripper // wraps the transport, may be nil

	mu     sync.Mutex
	server instance.Server
	http   *http.Client // nil if the server is not known
}

// connect returns the current server and an HTTP client for it. If no server is known,
// connect searches for one. Concurrent calls share one search.
func (l *connection) connect(ctx context.Context) (instance.Server, *http.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.http != nil {
		return l.server, l.http, nil
	}
	s, err := l.place.Find(ctx, readyTime)
	if err != nil {
		return s, nil, err
	}
	var httpClient http.RoundTripper = &http.Transport{
		DialContext: s.Dial, MaxIdleConnsPerHost: 2 * agentCount, IdleConnTimeout: time.Minute,
	}
	if l.wrap != nil {
		httpClient = l.wrap(httpClient)
	}
	l.server, l.http = s, &http.Client{Transport: httpClient}
	return l.server, l.http, nil
}

// reset discards s, which does not respond, so that the next connect searches for a
// server. It does nothing if another server is already known.
func (l *connection) reset(s instance.Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.http != nil && l.server == s {
		l.http.CloseIdleConnections()
		l.http = nil
	}
}

// call calls what until a server responds and is not busy, or ctx is done. retried reports whether an earlier
// attempt was lost, and may have taken effect.
func call[T any](
	ctx context.Context, l *connection, token string, what func(context.Context, *httpapi.Client) (T, error),
) (out T, retried bool, err error) {
	for {
		s, httpClient, err := l.connect(ctx)
		if err == nil {
			out, err = what(ctx, httpapi.NewClient(s.URL, token, httpClient))
		}
		switch {
		case ctx.Err() != nil:
			return out, retried, context.Cause(ctx)
		case errors.Is(err, askback.ErrUnreachable):
			l.reset(s)
			retried = true
		case errors.Is(err, instance.ErrNoReply), errors.Is(err, askback.ErrFull), errors.Is(err, askback.ErrBusy):
		default:
			return out, retried, err
		}
		if err := pause.For(ctx, retryPause); err != nil {
			return out, retried, err
		}
	}
}
