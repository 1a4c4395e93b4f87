package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook"
)

// claudeHook answers a hook of Claude Code, for as long as it keeps the
// connection. What goes wrong has a status that is no decision there: an
// approval and nothing else becomes an allow.
func (c *call) claudeHook() error {
	patience, err := c.patience()
	if err != nil {
		return err
	}
	ev, err := hook.Read(c.body)
	if err != nil {
		return unreadable(err)
	}
	c.body = nil // nothing of it is held while it waits
	ev.Headless = hook.Headless(c.r.Header.Get(hook.EntrypointHeader))
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	if _, defers := hook.Defer(ev); defers && patience > 0 {
		limited, late := context.WithTimeout(ctx, patience)
		defer late()
		ctx = limited
	}
	open := c.keepOpen(cancel)
	out, err := hook.Run(ctx, visit{c.seat, c}, ev)
	if errors.Is(err, hook.ErrUnaskable) {
		err = problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid, Detail: err.Error()}
	}
	return open.end(out, errors.Join(err, c.broken(out)))
}

// patience is how long a call waits that can be deferred; 0 is for as long as
// the connection lives.
func (c *call) patience() (time.Duration, error) {
	s := c.r.URL.Query().Get("defer")
	if s == "" {
		return hook.Patience, nil
	}
	d, err := askback.ParseDuration(s)
	if err != nil {
		return 0, askback.Invalid{{Pointer: "?defer", Detail: err.Error(), Fix: "defer=10s"}}
	}
	return d, nil
}

// unreadable is the problem of a body that is no event.
func unreadable(err error) error {
	if p := describe(err); p.Status != http.StatusInternalServerError {
		return p
	}
	return problem{Status: http.StatusBadRequest, Type: "body", Detail: err.Error()}
}

// broken says why nothing may be told, or that nothing could be found out.
// Where that goes out as a failure, whoever wants a failing hook to block its
// tool can have that.
func (c *call) broken(out []byte) error {
	if _, err := c.h.gate.Authenticate(context.WithoutCancel(c.r.Context()), c.secret); errors.Is(err, askback.ErrUnauthorized) {
		return err
	}
	if out == nil && c.h.stopping.Err() != nil {
		c.w.Header().Set("Connection", "close")
		return askback.ErrStopping
	}
	return nil
}

// visit is the seat of whoever called a hook. What is done there is done, even if
// they are gone meanwhile: only what is known to have been asked can be
// withdrawn, and a session that ends does not wait for its cards.
type visit struct {
	askback.Seat
	call *call
}

// Ask implements [hook.Seat].
func (v visit) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	return v.Seat.Ask(context.WithoutCancel(ctx), r)
}

// List implements [hook.Seat].
func (v visit) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	return v.Seat.List(context.WithoutCancel(ctx), q)
}

// Cancel implements [hook.Seat].
func (v visit) Cancel(ctx context.Context, id, reason string) (askback.Ask, error) {
	return v.Seat.Cancel(context.WithoutCancel(ctx), id, reason)
}

// Wait does not tell an outcome to a token that was revoked meanwhile, so that
// no approval is spent by it.
func (v visit) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := v.Seat.Wait(ctx, id)
	if err == nil {
		_, err = v.call.h.gate.Authenticate(ctx, v.call.secret)
	}
	return a, err
}

// held is a reply that is kept open while people think. Proxies close what is
// silent for a minute, so each pulse sends white space, which JSON may have
// before it begins.
type held struct {
	call   *call
	cancel context.CancelFunc // ends the waiting

	mu    sync.Mutex
	timer *time.Timer
	begun bool // the head of the reply is out
	ended bool
}

func (c *call) keepOpen(cancel context.CancelFunc) *held {
	h := &held{call: c, cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(c.h.pulse, h.beat)
	return h
}

// beat ends the waiting where nobody reads, or whoever does may no longer.
func (h *held) beat() {
	c := h.call
	_, err := c.h.gate.Authenticate(c.r.Context(), c.secret)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	if errors.Is(err, askback.ErrUnauthorized) || !h.write([]byte("\n")) {
		h.cancel()
		return
	}
	h.timer.Reset(c.h.pulse)
}

func (h *held) write(b []byte) bool {
	c := h.call
	control := http.NewResponseController(c.w)
	_ = control.SetWriteDeadline(time.Now().Add(c.h.frameTime))
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	if !h.begun {
		h.begun = true
		c.w.Header().Set("Content-Type", "application/json")
		c.w.Header().Set("X-Accel-Buffering", "no") // nginx would keep it until there is more
		c.w.WriteHeader(http.StatusOK)
	}
	_, err := c.w.Write(b)
	return err == nil && control.Flush() == nil
}

// end replies with a decision, or with none. Once the head is out an error has
// no status any more: then the reply breaks off, which is no decision either.
func (h *held) end(out []byte, err error) error {
	h.timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	switch {
	case err != nil && h.begun:
		h.call.h.log.Debug("a hook breaks off", "error", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		return err
	case out == nil && h.begun:
		out = []byte("{}")
	case out == nil:
		h.call.w.WriteHeader(http.StatusNoContent)
		return nil
	case !h.begun:
		return h.call.reply(http.StatusOK, json.RawMessage(out))
	}
	if !h.write(append(out, '\n')) {
		h.call.h.log.Debug("a decision did not arrive")
	}
	return nil
}
