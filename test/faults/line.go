package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/instance"
)

// retryPause is how long a caller waits before it tries again.
const retryPause = 2 * time.Millisecond

// A line leads to whoever serves a database now. Every connection is proved
// before a token is sent on it.
type line struct {
	place instance.Place
	wrap  func(http.RoundTripper) http.RoundTripper // what stands in between; nil: nothing

	mu     sync.Mutex
	server instance.Server
	http   *http.Client // nil: not known who serves
}

// find returns the server, and looks for it first if it is not known. Whoever
// comes while somebody looks waits for what that finds.
func (l *line) find(ctx context.Context) (instance.Server, *http.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.http != nil {
		return l.server, l.http, nil
	}
	s, err := l.place.Find(ctx, readyTime)
	if err != nil {
		return s, nil, err
	}
	var way http.RoundTripper = &http.Transport{DialContext: s.Dial, MaxIdleConnsPerHost: 2 * agentCount, IdleConnTimeout: time.Minute}
	if l.wrap != nil {
		way = l.wrap(way)
	}
	l.server, l.http = s, &http.Client{Transport: way}
	return l.server, l.http, nil
}

// lose forgets a server that did not answer.
func (l *line) lose(s instance.Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.http != nil && l.server == s {
		l.http.CloseIdleConnections()
		l.http = nil
	}
}

// call makes a call until a server answers it, or ctx ends. It says whether an
// earlier try got lost on the way, and may have been heard.
func call[T any](ctx context.Context, l *line, token string, what func(context.Context, *httpapi.Client) (T, error)) (out T, again bool, err error) {
	for {
		s, way, err := l.find(ctx)
		if err == nil {
			out, err = what(ctx, httpapi.NewClient(s.URL, token, way))
		}
		switch {
		case ctx.Err() != nil:
			return out, again, context.Cause(ctx)
		case errors.Is(err, askback.ErrUnreachable):
			l.lose(s)
			again = true
		case errors.Is(err, instance.ErrNobody), errors.Is(err, askback.ErrFull), errors.Is(err, askback.ErrBusy):
		default:
			return out, again, err
		}
		if err := instance.Pause(ctx, retryPause); err != nil {
			return out, again, err
		}
	}
}
