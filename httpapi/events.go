package httpapi

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/askback/askback"
)

const eventStream = "text/event-stream"

const (
	// heartbeatTime is the time between two heartbeats of a reply.
	heartbeatTime = 15 * time.Second
	// firstHeartbeat is the time after which the header of an event stream is sent if there is no event. The
	// delay allows errors, such as an invalid cursor, to be sent with their status.
	firstHeartbeat = 500 * time.Millisecond
	// frameTime is how long a client may take to read a frame. A slower client is disconnected and reconnects
	// with its cursor.
	frameTime = 10 * time.Second
)

// retryFrame contains the time in milliseconds after which a client reconnects.
const retryFrame = "retry: 1000\n\n"

// events streams the events of one or all sessions (docs/wire.md §4). An idle stream uses
// one goroutine and a timer, and keeps no event in memory.
func (c *call) events() error {
	leave, err := c.h.streams.join(c.principal, c.h.options.MaxStreams)
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
	w := c.newHeartbeatWriter(eventStream, ":\n\n", min(firstHeartbeat, c.h.heartbeatTime), cancel)
	defer w.stop()
	for ev, err := range c.client.Events(ctx, c.r.PathValue("id"), askback.Cursor(after)) {
		if err != nil {
			return c.endEvents(w, err)
		}
		if !c.sendEvent(ctx, w, ev) {
			break
		}
	}
	return c.endEvents(w, nil)
}

// sendEvent writes ev and reports whether ev was written. It encodes and writes on a separate goroutine,
// because both steps need twice the stack of other steps. The handler would keep that stack while it waits.
func (c *call) sendEvent(ctx context.Context, w *heartbeatWriter, ev askback.Event) (sent bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				c.h.log.Error("the writing of an event panicked", "panic", r, "stack", string(debug.Stack()))
				sent = false
			}
		}()
		sent = c.encodeAndSend(ctx, w, &ev)
	}()
	<-done
	return sent
}

// encodeAndSend encodes and writes ev. It reports whether ev was written.
func (c *call) encodeAndSend(ctx context.Context, w *heartbeatWriter, ev *askback.Event) bool {
	frame, err := c.h.frames.of(*ev)
	if err != nil {
		c.h.log.Error("an event cannot be encoded", "type", ev.Type, "error", err)
		return false
	}
	return w.send(ctx, frame)
}

// endEvents ends a stream. If the header was not sent yet, it returns the error that ended the stream.
// Otherwise it sends the retry time and returns nil. The client then reconnects and gets the error.
func (c *call) endEvents(w *heartbeatWriter, err error) error {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.begun:
		w.write([]byte(retryFrame))
		return nil
	case c.h.stopping.Err() != nil:
		return askback.ErrStopping
	case w.err != nil:
		return w.err
	}
	return err
}

// streams counts the open event streams of each principal.
type streams struct {
	mu   sync.Mutex
	open map[askback.Principal]int
}

// join counts a new stream of p. It returns [askback.ErrTooMany] if p already has limit streams. If limit is
// 0, there is no limit. The caller calls leave at the end of the stream.
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
