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
	// pulse is how often a stream shows that it lives: proxies close what is
	// silent for a minute, and a token that was revoked is noticed by then.
	pulse = 15 * time.Second
	// firstPulse is when the head of a reply goes out where nothing happens. Not
	// at once: a cursor that is none, or a session that is not there, is told
	// with its status.
	firstPulse = 500 * time.Millisecond
	// frameTime is how long a frame may take to be read. Who reads slower is cut
	// off, and comes back with a cursor.
	frameTime = 10 * time.Second
)

// comeBack tells a reader when to connect again, in milliseconds.
const comeBack = "retry: 1000\n\n"

// events streams what happens, in a session or in all (wire.md §4). It holds one
// goroutine, a timer and no event.
func (c *call) events() error {
	leave, err := c.h.streams.join(c.who, c.h.options.MaxStreams)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	after := c.r.Header.Get("Last-Event-ID") // a browser that comes back has both, and this is newer
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

// sender is the reply of a stream. Its timer writes as well, so all that is
// written goes through the lock.
type sender struct {
	call   *call
	cancel context.CancelFunc // ends the stream

	mu    sync.Mutex
	timer *time.Timer
	begun bool // the head of the reply is out
	ended bool
	why   error // why the reader may have no more
}

func (c *call) newSender(cancel context.CancelFunc) *sender {
	s := &sender{call: c, cancel: cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(min(firstPulse, c.h.pulse), s.beat)
	return s
}

// beat writes a comment that shows that the stream lives. It ends the stream if the
// reader is not let in any more, or if that cannot be found out.
func (s *sender) beat() {
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
	s.timer.Reset(c.h.pulse)
}

// send writes an event as one frame. The JSON is one line, and its cursor and
// type are words of ours.
//
// Nothing is sent to a reader who is not let in any more, nor while that cannot be
// found out: the reader comes back.
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
	b.WriteString("id: " + string(ev.Cursor) + "\nevent: " + ev.Type + "\ndata: ")
	b.Write(bytes.TrimSpace(data))
	b.WriteString("\n\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(b.Bytes())
}

// write sends a frame, after the head of the reply. It is false where nobody
// reads, or only the head was wanted.
func (s *sender) write(frame []byte) bool {
	c := s.call
	control := http.NewResponseController(c.w)
	// A test's recorder has no deadline. Over HTTP/2 one that passes while
	// nothing is written ends the stream, so it goes with its frame.
	_ = control.SetWriteDeadline(time.Now().Add(c.h.frameTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if !s.begun {
		s.begun = true
		head := c.w.Header()
		head.Set("Content-Type", eventStream)
		head.Set("X-Accel-Buffering", "no") // nginx would keep it until there is more
		c.w.WriteHeader(http.StatusOK)
	}
	if c.r.Method == http.MethodHead {
		return false
	}
	_, err := c.w.Write(frame)
	return err == nil && control.Flush() == nil
}

// end ends the reply. Before its head is out an error has a status; after, the
// reader comes back and learns what is wrong then.
func (s *sender) end(err error) error {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	stopping := s.call.h.stopping.Err() != nil
	switch {
	case s.begun:
		s.write([]byte(comeBack))
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

// streams counts those of each principal.
type streams struct {
	mu   sync.Mutex
	open map[askback.Principal]int
}

// join counts a stream in, or returns [askback.ErrTooMany]. A limit of 0 is none.
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
