package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/askback/askback"
)

const eventStream = "text/event-stream"

const (
	// heartbeatTime is the time between two heartbeats of a stream. Proxies close a
	// connection without traffic after a minute. A heartbeat also checks the token.
	heartbeatTime = 15 * time.Second
	// firstHeartbeat is when the header of a reply is sent if there is no event. It is
	// delayed so that errors, as for a bad cursor, are sent with their status.
	firstHeartbeat = 500 * time.Millisecond
	// frameTime is how long a client may take to read a frame. A slower one is
	// disconnected and reconnects with its cursor.
	frameTime = 10 * time.Second
)

// retryFrame contains the time in milliseconds after which a client reconnects.
const retryFrame = "retry: 1000\n\n"

// events streams the events of one or all sessions (docs/wire.md §4). A stream holds
// one goroutine and a timer, and no event.
func (c *call) events() error {
	leave, err := c.h.streams.join(c.who, c.h.options.MaxStreams)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	after := c.r.Header.Get("Last-Event-ID") // a browser that reconnects sends both, and the header is newer
	if after == "" {
		after = c.r.URL.Query().Get("after")
	}
	s := c.newSender(cancel)
	defer s.stop()
	for ev, err := range c.seat.Events(ctx, c.r.PathValue("id"), askback.Cursor(after)) {
		if err != nil {
			return s.end(err)
		}
		if !s.send(ctx, ev) {
			break
		}
	}
	return s.end(nil)
}

// sender writes the reply of a stream. Events and heartbeats are written on different
// goroutines, under its lock.
type sender struct {
	call   *call
	cancel context.CancelFunc // ends the stream

	mu       sync.Mutex
	timer    *time.Timer
	headSent bool // the head of the reply is out
	ended    bool
	why      error // why the client may receive no more events
}

func (c *call) newSender(cancel context.CancelFunc) *sender {
	s := &sender{call: c, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(min(firstHeartbeat, c.h.heartbeatTime), s.heartbeat)
	return s
}

// heartbeat writes a comment frame. It ends the stream if the token is no longer
// valid, or if that cannot be checked.
func (s *sender) heartbeat() {
	c := s.call
	_, err := c.h.gate.Authenticate(c.r.Context(), c.secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.why = err; err != nil || !s.write([]byte(":\n\n")) {
		s.cancel()
		return
	}
	s.timer.Reset(c.h.heartbeatTime)
}

// send writes an event as one frame. It returns false, and writes nothing, if the token
// is no longer valid or that cannot be checked. The frame needs no escaping: JSON
// is one line, and cursors and types have no line breaks.
func (s *sender) send(ctx context.Context, ev askback.Event) bool {
	data, err := ev.MarshalJSON()
	if err != nil {
		s.call.h.log.Error("an event cannot be told", "type", ev.Type, "error", err)
		return false
	}
	if _, err := s.call.h.gate.Authenticate(ctx, s.call.secret); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.why = err
		return false
	}
	var b bytes.Buffer
	b.Grow(len(data) + 128)
	b.WriteString("id: " + string(ev.Cursor) + "\nevent: " + string(ev.Type) + "\ndata: ")
	b.Write(bytes.TrimSpace(data))
	b.WriteString("\n\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(b.Bytes())
}

// write sends a frame, and the header of the reply before the first one. It returns
// false if the client is gone or sent a HEAD request.
func (s *sender) write(frame []byte) bool {
	c := s.call
	control := http.NewResponseController(c.w)
	// The error is ignored because an httptest.ResponseRecorder has no deadlines. A
	// deadline that passes between frames would end an HTTP/2 stream, so it is removed.
	_ = control.SetWriteDeadline(time.Now().Add(c.h.frameTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if !s.headSent {
		s.headSent = true
		head := c.w.Header()
		head.Set("Content-Type", eventStream)
		head.Set("X-Accel-Buffering", "no") // else nginx buffers frames
		c.w.WriteHeader(http.StatusOK)
	}
	if c.r.Method == http.MethodHead {
		return false
	}
	_, err := c.w.Write(frame)
	return err == nil && control.Flush() == nil
}

// end ends the reply. It returns an error if the header was not sent yet. Else the
// client reconnects and gets the error then.
func (s *sender) end(err error) error {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	stopping := s.call.h.stopping.Err() != nil
	switch {
	case s.headSent:
		s.write([]byte(retryFrame))
		return nil
	case stopping:
		return askback.ErrStopping
	case s.why != nil:
		return s.why
	}
	return err
}

// stop stops the timer; it may be called again.
func (s *sender) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
	s.ended = true
}

// streams counts the event streams of each principal.
type streams struct {
	mu   sync.Mutex
	open map[askback.Principal]int
}

// join counts one more stream of p, or returns [askback.ErrTooMany] if it has limit
// streams; 0 is no limit. The caller calls leave at the end of the stream.
func (s *streams) join(p askback.Principal, limit int) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && s.open[p] >= limit {
		return nil, askback.ErrTooMany
	}
	if s.open == nil {
		s.open = map[askback.Principal]int{}
	}
	s.open[p]++
	return func() { s.leave(p) }, nil
}

func (s *streams) leave(p askback.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[p]--; s.open[p] == 0 {
		delete(s.open, p)
	}
}
