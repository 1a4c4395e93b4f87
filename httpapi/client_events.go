package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// Events implements [askback.Events]. It reconnects with the last cursor when the connection
// is lost, until ctx ends or the server returns a permanent error.
func (c *Client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		s := stream{client: c, session: sessionID, cursor: after}
		for {
			more, err := s.readConnection(ctx, yield)
			if !more {
				return
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if ctx.Err() == nil && !isFinal(err) {
				err = s.backOff(ctx, err)
			}
			if err != nil {
				yield(askback.Event{}, fmt.Errorf("events: %w", err))
				return
			}
		}
	}
}

// isFinal reports whether reconnecting would return the same error.
func isFinal(err error) bool {
	var invalid askback.Invalid
	return errors.Is(err, askback.ErrUnauthorized) || errors.Is(err, askback.ErrForbidden) ||
		errors.Is(err, askback.ErrNotFound) || errors.As(err, &invalid)
}

// A stream reads events over successive connections.
type stream struct {
	client   *Client
	session  string
	cursor   askback.Cursor
	retry    time.Duration // the last retry time that the server sent
	failures int           // consecutive connections without events and heartbeats
}

// The pause before a reconnection is random, up to these limits.
const (
	firstPause = 250 * time.Millisecond // for the first pause, unless the server sent a longer retry time
	lastPause  = 15 * time.Second       // for every pause
)

// backOff waits before the next connection. It waits for a random time, plus the Retry-After time of the
// server. The limit of the random time doubles with each failure, up to lastPause. backOff returns an error
// if ctx ends.
func (s *stream) backOff(ctx context.Context, why error) error {
	longest := max(s.client.pause, s.retry) << min(s.failures, 6)
	s.failures++
	d := rand.N(min(longest, lastPause)) + time.Millisecond
	if retry, ok := errors.AsType[*askback.RetryError](why); ok {
		d += retry.After
	}
	return pause.For(ctx, d)
}

// silenceTime is how long a connection may have no traffic before the client closes the connection. The
// server sends a heartbeat every heartbeatTime.
const silenceTime = 3 * heartbeatTime

// readConnection opens a connection and yields its events until the connection ends. more is false if yield
// returned false. Otherwise err is the reason why the connection ended.
func (s *stream) readConnection(ctx context.Context, yield func(askback.Event, error) bool) (more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silenceTime, cancel)
	defer dead.Stop()
	res, err := s.open(ctx)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	for {
		frame, err := readFrame(in, func() { dead.Reset(silenceTime) })
		if err != nil {
			return true, err
		}
		if frame.retry > 0 {
			s.retry = frame.retry
		} else {
			s.failures = 0
		}
		if len(frame.data) == 0 {
			continue
		}
		var ev askback.Event
		if err := ev.UnmarshalJSON(frame.data); err != nil {
			return true, fmt.Errorf("read an event: %w: %v", askback.ErrUnreachable, err)
		}
		if ev.Cursor = askback.Cursor(frame.id); ev.Cursor != "" {
			s.cursor = ev.Cursor
		}
		if !yield(ev, nil) {
			return false, nil
		}
	}
}

// open sends the request for the stream and returns its response. Any status but 200 is an
// error.
func (s *stream) open(ctx context.Context) (*http.Response, error) {
	path := base + "/events"
	if s.session != "" {
		path = sessionPath(s.session, "/events")
	}
	in, err := s.client.request(ctx, request{method: "GET", path: path, long: true})
	if err != nil {
		return nil, err
	}
	in.Header.Set("Accept", eventStream)
	if s.cursor != "" {
		in.Header.Set("Last-Event-ID", string(s.cursor))
	}
	endless := *s.client.http
	endless.Timeout = 0
	res, err := endless.Do(in)
	if err != nil {
		return nil, unreachableError(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, unreachableError(ctx, err)
	}
	_, err = parseProblem(res, raw).asError()
	return nil, err
}

// A frame is a block of an event stream. If the block has only comments or a retry time, data is empty.
type frame struct {
	id    string
	data  []byte
	retry time.Duration
}

// readFrame reads a frame up to its empty line, and calls onLine for each line. An
// incomplete frame is an error.
func readFrame(in *bufio.Reader, onLine func()) (frame, error) {
	var out frame
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return frame{}, err
		}
		onLine()
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return out, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		out.set(string(name), bytes.TrimPrefix(value, []byte(" ")))
	}
}

// set sets a field of the frame. Unknown fields and invalid retry times are ignored.
func (f *frame) set(name string, value []byte) {
	switch name {
	case "id":
		f.id = string(value)
	case "data":
		if len(f.data) > 0 {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
			f.retry = min(time.Duration(ms)*time.Millisecond, lastPause)
		}
	}
}
