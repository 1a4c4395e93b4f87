package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
)

// claudeHook replies to a hook of Claude Code. It waits as long as the client keeps the
// connection. An error has a status that Claude Code takes for no decision: only an
// approval becomes an allow.
func (c *call) claudeHook() error {
	patience, err := c.deferParam()
	if err != nil {
		return err
	}
	ev, err := c.event()
	if errors.Is(err, claudehook.ErrForeign) {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	if _, defers := claudehook.Defer(ev); defers && patience > 0 {
		limited, late := context.WithTimeout(ctx, patience)
		defer late()
		ctx = limited
	}
	open := c.newHookReply(cancel)
	reply, err := c.h.hooks.Run(ctx, c.who.Name, hookSeat{c.seat, c}, ev)
	if errors.Is(err, claudehook.ErrCannotAsk) {
		err = problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid, Detail: err.Error()}
	}
	arrived, err := open.end(reply.Output, errors.Join(err, c.hookError(reply.Output)))
	if arrived {
		reply.Ack(ctx)
	}
	return err
}

// At most maxLarge events of more than largeEvent bytes are parsed at a time. Others
// wait for up to largeTime and then get [askback.ErrBusy].
const (
	largeEvent = 1 << 20
	maxLarge   = 2
	largeTime  = 5 * time.Second
)

// event parses the body and releases it, so that its memory is not held while the call
// waits for an answer.
func (c *call) event() (claudehook.Event, error) {
	if len(c.body) > largeEvent {
		late := time.NewTimer(largeTime)
		defer late.Stop()
		select {
		case c.h.large <- struct{}{}:
			defer func() { <-c.h.large }()
		case <-late.C:
			return claudehook.Event{}, askback.ErrBusy
		case <-c.r.Context().Done():
			return claudehook.Event{}, askback.ErrBusy
		}
	}
	ev, err := claudehook.Read(c.body, c.r.Header.Get(claudehook.EntrypointHeader))
	c.body = nil
	if err != nil && !errors.Is(err, claudehook.ErrForeign) {
		err = unreadable(err)
	}
	if err != nil {
		return claudehook.Event{}, err
	}
	return ev, nil
}

// deferParam returns how long a call waits before it defers the decision to Claude
// Code; 0 is as long as the connection is open.
func (c *call) deferParam() (time.Duration, error) {
	s := c.r.URL.Query().Get("defer")
	if s == "" {
		return claudehook.DefaultWait, nil
	}
	d, err := askback.ParseDuration(s)
	if err != nil {
		return 0, askback.Invalid{{Pointer: "?defer", Detail: err.Error(), Fix: "defer=10s"}}
	}
	return d, nil
}

// unreadable returns the problem for a body that is not an event.
func unreadable(err error) error {
	if p := problemOf(err); p.Status != http.StatusInternalServerError {
		return p
	}
	return problem{Status: http.StatusBadRequest, Type: "body", Detail: err.Error()}
}

// hookError returns an error if the token is no longer valid, if that cannot be checked,
// or if the server stops before there is a decision. Claude Code can be configured to
// block the tool on a failed hook.
func (c *call) hookError(out []byte) error {
	if _, err := c.h.gate.Authenticate(context.WithoutCancel(c.r.Context()), c.secret); err != nil {
		return err
	}
	if out == nil && c.h.stopping.Err() != nil {
		c.w.Header().Set("Connection", "close")
		return askback.ErrStopping
	}
	return nil
}

// hookSeat is the seat of the caller of a hook. Its Ask is not cancelled when the caller
// disconnects: an ask whose id is unknown could not be cancelled.
type hookSeat struct {
	askback.Client
	call *call
}

// Ask implements [claudehook.Client].
func (v hookSeat) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	return v.Client.Ask(context.WithoutCancel(ctx), r)
}

// Wait returns an error if the token was revoked during the wait, so that no approval is
// consumed for it.
func (v hookSeat) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := v.Client.Wait(ctx, id)
	if err == nil {
		_, err = v.call.h.gate.Authenticate(ctx, v.call.secret)
	}
	return a, err
}

// hookReply is a reply that is kept open until there is a decision. Proxies close a
// connection without traffic after a minute, so each heartbeat sends white space,
// which is allowed before JSON.
type hookReply struct {
	call   *call
	cancel context.CancelFunc // ends the waiting

	mu       sync.Mutex
	timer    *time.Timer
	headSent bool // the head of the reply is out
	ended    bool
}

func (c *call) newHookReply(cancel context.CancelFunc) *hookReply {
	h := &hookReply{call: c, cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(c.h.heartbeatTime, h.heartbeat)
	return h
}

// heartbeat cancels the wait if the client is gone, if its token is no longer valid, or
// if that cannot be checked.
func (h *hookReply) heartbeat() {
	c := h.call
	_, err := c.h.gate.Authenticate(c.r.Context(), c.secret)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	if err != nil || !h.write([]byte("\n")) {
		h.cancel()
		return
	}
	h.timer.Reset(c.h.heartbeatTime)
}

func (h *hookReply) write(b []byte) bool {
	c := h.call
	control := http.NewResponseController(c.w)
	_ = control.SetWriteDeadline(time.Now().Add(c.h.frameTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if !h.headSent {
		h.headSent = true
		c.w.Header().Set("Content-Type", "application/json")
		if !h.ended {
			c.w.Header().Set("X-Accel-Buffering", "no") // else nginx buffers it
		}
		c.w.WriteHeader(http.StatusOK)
	}
	_, err := c.w.Write(b)
	return err == nil && control.Flush() == nil
}

// end replies with a decision, or without one if out is nil. arrived reports whether a
// decision was written completely. If the header was sent before an error, end aborts
// the reply: Claude Code takes that for no decision.
func (h *hookReply) end(out []byte, err error) (arrived bool, _ error) {
	h.timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	switch {
	case err != nil && h.headSent:
		h.call.h.log.Debug("a hook breaks off", "error", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		return false, err
	case out == nil && h.headSent:
		h.write([]byte("{}\n"))
		return false, nil
	case out == nil:
		h.call.w.WriteHeader(http.StatusNoContent)
		return false, nil
	case !h.headSent:
		h.call.w.Header().Set("Content-Length", strconv.Itoa(len(out)+1))
	}
	if !h.write(append(out, '\n')) || h.call.r.Context().Err() != nil {
		h.call.h.log.Debug("a decision did not arrive")
		return false, nil
	}
	return true, nil
}
