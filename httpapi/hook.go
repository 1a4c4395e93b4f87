package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
)

// claudeHook replies to a hook of Claude Code. It waits for as long as the client keeps the connection. A
// call that can be deferred waits at most for the time in the parameter "defer", unless the time is 0. An
// A call of a sub-agent waits at most for the time in the parameter "subagents". An
// event of another program gets status 204. Claude Code treats the status of an error as no decision: only an
// approval allows a tool.
func (c *call) claudeHook() error {
	// 0 means that the wait has no limit.
	wait, err := c.durationParam("defer", claudecode.DefaultWait, "10s")
	if err != nil {
		return err
	}
	subagents, err := c.durationParam("subagents", claudecode.DefaultSubagentWait, "60s")
	if err != nil {
		return err
	}
	ev, err := c.event()
	if errors.Is(err, claudecode.ErrForeign) {
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	job, err := claudecode.Handle(ev)
	if err != nil {
		return problem{Status: http.StatusUnprocessableEntity, Type: typeInvalid, Detail: err.Error()}
	}
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.h.stopping, cancel)()
	if job.Call == nil || job.Call.Deferred == nil {
		wait = 0
	}
	if job.Call != nil && ev.BlocksDialog() {
		wait = subagents
	}
	if wait > 0 {
		limited, late := context.WithTimeout(ctx, wait)
		defer late()
		ctx = limited
	}
	w := c.newHeartbeatWriter("application/json", "\n", c.h.heartbeatTime, cancel) // white space may precede JSON
	defer w.stop()
	reply, err := c.h.hooks.Do(ctx, c.principal.Name, hookClient{c.client, c}, job)
	if err == nil {
		err = c.reauthenticate(context.WithoutCancel(ctx)) // the token may have been revoked since the last check
	}
	arrived, err := c.endHook(w, reply.Output, err)
	if arrived {
		reply.Ack(ctx)
	}
	return err
}

// At most maxLarge events of more than largeEvent bytes are parsed at a time. Further events wait for up to
// largeTime and then get [askback.ErrBusy].
const (
	largeEvent = 1 << 20
	maxLarge   = 2
	largeTime  = 5 * time.Second
)

// event parses the body as an event and releases the body, so that its memory is not held while the call
// waits for an answer. Too many large events get [askback.ErrBusy].
func (c *call) event() (claudecode.Event, error) {
	if len(c.body) > largeEvent {
		late := time.NewTimer(largeTime)
		defer late.Stop()
		select {
		case c.h.large <- struct{}{}:
			defer func() { <-c.h.large }()
		case <-late.C:
			return claudecode.Event{}, askback.ErrBusy
		case <-c.r.Context().Done():
			return claudecode.Event{}, askback.ErrBusy
		}
	}
	ev, err := claudecode.Read(c.body, c.r.Header.Get(claudecode.EntrypointHeader))
	c.body = nil
	if err != nil && !errors.Is(err, claudecode.ErrForeign) {
		err = unreadable(err)
	}
	return ev, err
}

// unreadable returns the problem for a body that could not be parsed as an event.
func unreadable(err error) error {
	if p := problemOf(err); p.Status != http.StatusInternalServerError {
		return p
	}
	return problem{Status: http.StatusBadRequest, Type: "body", Detail: err.Error()}
}

// A hookClient is the client of the caller of a hook. Its Ask is not cancelled when the caller disconnects,
// because an ask whose id is unknown could not be cancelled.
type hookClient struct {
	askback.AgentClient
	call *call
}

// Ask implements [hook.Client].
func (v hookClient) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	return v.AgentClient.Ask(context.WithoutCancel(ctx), r)
}

// Wait implements [hook.Client]. It returns an error if the token was revoked during the wait, so that no
// approval is consumed for a revoked token.
func (v hookClient) Wait(ctx context.Context, id string) (askback.Ask, error) {
	a, err := v.AgentClient.Wait(ctx, id)
	if err == nil {
		err = v.call.reauthenticate(ctx)
	}
	return a, err
}

// endHook replies with the decision out. If out is nil, it replies without a decision. arrived reports
// whether a decision was written completely. If the server stops before the decision, the error is
// [askback.ErrStopping]. If the header was sent before an error, endHook aborts the reply, which Claude Code
// treats as no decision.
func (c *call) endHook(w *heartbeatWriter, out []byte, err error) (arrived bool, _ error) {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.err
	}
	if err == nil && out == nil && c.h.stopping.Err() != nil {
		// Return an error, because Claude Code can be configured to block the tool if a hook fails.
		c.w.Header().Set("Connection", "close")
		err = askback.ErrStopping
	}
	switch {
	case err != nil && w.begun:
		c.h.log.Debug("the reply to a hook was aborted", "error", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		return false, err
	case out == nil && w.begun:
		w.write([]byte("{}\n"))
		return false, nil
	case out == nil:
		c.w.WriteHeader(http.StatusNoContent)
		return false, nil
	case !w.begun:
		c.w.Header().Set("Content-Length", strconv.Itoa(len(out)+1))
	}
	if !w.write(append(out, '\n')) || c.r.Context().Err() != nil {
		c.h.log.Debug("a decision did not arrive")
		return false, nil
	}
	return true, nil
}
