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
)

// Events implements [askback.Feed]. When the connection is lost it comes back
// with the last cursor, until ctx ends or the server says that there is nothing
// to come back to.
func (c *Client) Events(ctx context.Context, sessionID string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		s := stream{client: c, session: sessionID, at: after}
		for {
			more, err := s.follow(ctx, yield)
			if !more {
				return
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if ctx.Err() == nil && !final(err) {
				err = s.rest(ctx, err)
			}
			if err != nil {
				yield(askback.Event{}, fmt.Errorf("events: %w", err))
				return
			}
		}
	}
}

// final says whether coming back would be in vain.
func final(err error) bool {
	var invalid askback.Invalid
	return errors.Is(err, askback.ErrUnauthorized) || errors.Is(err, askback.ErrForbidden) ||
		errors.Is(err, askback.ErrNotFound) || errors.As(err, &invalid)
}

// stream is one reader of events across its connections.
type stream struct {
	client  *Client
	session string
	at      askback.Cursor
	retry   time.Duration // what the server said last
	failed  int           // how often in a row nothing came
}

// The pauses between two connections.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 15 * time.Second
)

// rest waits before it comes back: longer each time that it was in vain, and
// never as long as the others; and not before the time that the server gave when it
// refused.
func (s *stream) rest(ctx context.Context, why error) error {
	longest := max(s.client.pause, s.retry) << min(s.failed, 6)
	s.failed++
	pause := rand.N(min(longest, lastPause)) + time.Millisecond
	if refused, ok := errors.AsType[*askback.RetryError](why); ok {
		pause += refused.After
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// silence is how long a server may say nothing; it says something every
// [pulse].
const silence = 3 * pulse

// follow reads one connection to its end. more is false when whoever reads has
// had enough.
func (s *stream) follow(ctx context.Context, yield func(askback.Event, error) bool) (more bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	res, err := s.open(ctx)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	for {
		frame, err := readFrame(in, func() { dead.Reset(silence) })
		if err != nil {
			return true, err
		}
		if frame.retry > 0 {
			s.retry = frame.retry
		} else {
			s.failed = 0 // it lives
		}
		if len(frame.data) == 0 {
			continue
		}
		var ev askback.Event
		if err := ev.UnmarshalJSON(frame.data); err != nil {
			return true, fmt.Errorf("read an event: %w: %v", askback.ErrUnreachable, err)
		}
		ev.Cursor = askback.Cursor(frame.id)
		s.at = ev.Cursor
		if !yield(ev, nil) {
			return false, nil
		}
	}
}

// open asks for the stream, and returns a reply that is one.
func (s *stream) open(ctx context.Context) (*http.Response, error) {
	path := base + "/events"
	if s.session != "" {
		path = base + onSession(s.session, "events")
	}
	in, err := s.client.request(ctx, request{method: "GET", path: path})
	if err != nil {
		return nil, err
	}
	in.Header.Set("Accept", eventStream)
	if s.at != "" {
		in.Header.Set("Last-Event-ID", string(s.at))
	}
	endless := *s.client.http
	endless.Timeout = 0
	res, err := endless.Do(in)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	_, err = parseProblem(res, raw).read()
	return nil, err
}

// frame is one block of an event stream; a comment and a retry are frames
// without data.
type frame struct {
	id    string
	data  []byte
	retry time.Duration
}

// readFrame reads up to the next empty line. What breaks off before it never
// was. heard is told of each line.
func readFrame(in *bufio.Reader, heard func()) (frame, error) {
	var out frame
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return frame{}, err
		}
		heard()
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return out, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		out.set(string(name), bytes.TrimPrefix(value, []byte(" ")))
	}
}

// set takes a field; of those it does not know a stream may have more.
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
