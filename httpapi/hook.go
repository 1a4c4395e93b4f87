package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
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
	ev, err := c.event()
	if errors.Is(err, hook.ErrForeign) {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	if _, defers := hook.Defer(ev); defers && patience > 0 {
		limited, late := context.WithTimeout(ctx, patience)
		defer late()
		ctx = limited
	}
	open := c.keepOpen(cancel)
	reply, err := c.h.hooks.Run(ctx, c.who.Name, visit{c.seat, c}, ev)
	if errors.Is(err, hook.ErrUnaskable) {
		err = problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid, Detail: err.Error()}
	}
	arrived, err := open.end(reply.Output, errors.Join(err, c.broken(reply.Output)))
	if arrived {
		reply.Delivered(ctx)
	}
	return err
}

// Of events above largeEvent bytes, maxLarge are read at a time. Others wait for
// largeTime, and then come again.
const (
	largeEvent = 1 << 20
	maxLarge   = 2
	largeTime  = 5 * time.Second
)

// event reads the body. Nothing of it is held afterwards, while people think.
func (c *call) event() (hook.Event, error) {
	if len(c.body) > largeEvent {
		late := time.NewTimer(largeTime)
		defer late.Stop()
		select {
		case c.h.large <- struct{}{}:
			defer func() { <-c.h.large }()
		case <-late.C:
			return hook.Event{}, askback.ErrBusy
		case <-c.r.Context().Done():
			return hook.Event{}, askback.ErrBusy
		}
	}
	ev, err := hook.Read(c.body, c.r.Header.Get(hook.EntrypointHeader))
	c.body = nil
	if err != nil && !errors.Is(err, hook.ErrForeign) {
		err = unreadable(err)
	}
	if err != nil {
		return hook.Event{}, err
	}
	return ev, nil
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
	if _, err := c.h.gate.Authenticate(context.WithoutCancel(c.r.Context()), c.secret); err != nil {
		return err
	}
	if out == nil && c.h.stopping.Err() != nil {
		c.w.Header().Set("Connection", "close")
		return askback.ErrStopping
	}
	return nil
}

// visit is the seat of whoever called a hook. What is asked there is asked, even if
// they are gone meanwhile: only what is known to have been asked can be withdrawn.
type visit struct {
	askback.Seat
	call *call
}

// Ask implements [hook.Seat].
func (v visit) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	return v.Seat.Ask(context.WithoutCancel(ctx), r)
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

// beat ends the waiting if the reader has left or is not let in any more, or if that
// cannot be found out.
func (h *held) beat() {
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
		if !h.ended {
			c.w.Header().Set("X-Accel-Buffering", "no") // nginx would keep it until there is more
		}
		c.w.WriteHeader(http.StatusOK)
	}
	_, err := c.w.Write(b)
	return err == nil && control.Flush() == nil
}

// end replies with a decision, or with none, and says whether a decision arrived,
// as far as can be seen. Once the head is out an error has no status any more: then
// the reply breaks off, which is no decision either.
func (h *held) end(out []byte, err error) (arrived bool, _ error) {
	h.timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	switch {
	case err != nil && h.begun:
		h.call.h.log.Debug("a hook breaks off", "error", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		return false, err
	case out == nil && h.begun:
		h.write([]byte("{}\n"))
		return false, nil
	case out == nil:
		h.call.w.WriteHeader(http.StatusNoContent)
		return false, nil
	case !h.begun:
		h.call.w.Header().Set("Content-Length", strconv.Itoa(len(out)+1))
	}
	if !h.write(append(out, '\n')) || h.call.r.Context().Err() != nil {
		h.call.h.log.Debug("a decision did not arrive")
		return false, nil
	}
	return true, nil
}
