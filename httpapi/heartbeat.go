package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// A heartbeatWriter writes a reply that stays open for a long time. It sends heartbeats, because proxies
// close a connection without traffic after a minute. Before each write it authenticates the client again. If
// the client is gone at a heartbeat, or its token is not valid or cannot be checked, the heartbeatWriter
// cancels the work for the reply.
type heartbeatWriter struct {
	call        *call
	contentType string
	heartbeat   []byte
	cancel      context.CancelFunc // ends the work for the reply

	mu      sync.Mutex // held while writing
	timer   *time.Timer
	begun   bool // the header was sent
	stopped bool
	err     error // the reason why nothing more may be sent
}

// newHeartbeatWriter returns a writer that sends the first heartbeat after the time first. The caller calls
// stop before the handler returns.
func (c *call) newHeartbeatWriter(
	contentType, heartbeat string, first time.Duration, cancel context.CancelFunc,
) *heartbeatWriter {
	w := &heartbeatWriter{call: c, contentType: contentType, heartbeat: []byte(heartbeat), cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(first, w.beat)
	return w
}

// beat authenticates the client again, sends a heartbeat and schedules the next heartbeat. If the client is
// gone or not authenticated, it cancels the work instead.
func (w *heartbeatWriter) beat() {
	err := w.call.reauthenticate(w.call.r.Context())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if err != nil {
		w.err = err
	}
	if err != nil || !w.write(w.heartbeat) {
		w.cancel()
		return
	}
	w.timer.Reset(w.call.h.heartbeatTime)
}

// send authenticates the client again and writes b. It reports whether both succeeded.
func (w *heartbeatWriter) send(ctx context.Context, b []byte) bool {
	err := w.call.reauthenticate(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.err = err
		return false
	}
	return w.write(b)
}

// write writes b, and the header before the first bytes. It returns false if the client is gone or sent a
// HEAD request. The caller holds the mutex.
func (w *heartbeatWriter) write(b []byte) bool {
	c := w.call
	control := http.NewResponseController(c.w)
	// The error is ignored because an httptest.ResponseRecorder has no deadlines. A
	// deadline that passes between writes would end an HTTP/2 stream, so it is removed.
	_ = control.SetWriteDeadline(time.Now().Add(c.h.frameTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if !w.begun {
		w.begun = true
		c.w.Header().Set("Content-Type", w.contentType)
		if !w.stopped {
			c.w.Header().Set("X-Accel-Buffering", "no") // else nginx buffers heartbeats
		}
		c.w.WriteHeader(http.StatusOK)
	}
	if c.r.Method == http.MethodHead {
		return false
	}
	_, err := c.w.Write(b)
	return err == nil && control.Flush() == nil
}

// stop ends the heartbeats. After stop, only the caller writes.
func (w *heartbeatWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.stopped = true
}
