package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// How long a call waits. Most clients give up after 60 s, so 45 s leave a reply
// its way; those that are known to wait longer are in programs.
const (
	shortWait  = 45 * time.Second
	glanceWait = 10 * time.Second // before an ask that cannot be waited for is read again
	beat       = 10 * time.Second // between two notes of progress
)

// patience is how long the client of a call is known to wait for a result.
// Claude Code ends a call on stdio after 30 silent min and one over a network
// after 60 s without a byte, which progress is; Codex after 300 s, Gemini CLI after 10 min.
func (c *call) patience() time.Duration {
	p := programOf(c.client())
	if p.claudeCode() && (c.who.stdio || c.req.Params.GetProgressToken() != nil) {
		return 25 * time.Minute
	}
	return cmp.Or(p.wait, shortWait)
}

// claudeCode reports whether the client is Claude Code.
func (c *call) claudeCode() bool { return programOf(c.client()).claudeCode() }

// wait waits for an ask until so long after the call began, and returns it as it
// then is. The server bounds the wait itself: the context of a call does not end
// when its client goes away.
func (c *call) wait(ctx context.Context, ask askback.Ask, begun time.Time, most time.Duration) (askback.Ask, error) {
	if ask.Settled() {
		return ask, nil
	}
	ctx, cancel := context.WithDeadline(ctx, begun.Add(most))
	defer cancel()
	defer context.AfterFunc(c.who.live, cancel)()
	defer context.AfterFunc(c.stopping, cancel)()
	defer c.progress(ctx, cancel, ask, begun)()
	for {
		now, err := c.who.seat.Wait(ctx, ask.ID)
		switch {
		case err == nil, now.Settled():
			return c.linked(now), nil
		case ctx.Err() != nil:
			return ask, nil // it is kept and still open, as far as anybody knows
		case !keeps(err):
			return askback.Ask{}, err
		}
		now, ok := c.glance(ctx, ask.ID)
		switch {
		case ok:
			return c.linked(now), nil
		case ctx.Err() != nil:
			return ask, nil
		}
	}
}

// glance looks for an answer in a while, where nobody may wait for it now. A
// result at once would have models come back at once, and again.
func (c *call) glance(ctx context.Context, id string) (askback.Ask, bool) {
	select {
	case <-ctx.Done():
		return askback.Ask{}, false
	case <-time.After(glanceWait):
	}
	ask, err := c.who.seat.Get(ctx, id)
	return ask, err == nil && ask.Settled()
}

// keeps says whether an error of waiting leaves the ask as it is, so that it can
// be waited for later.
func keeps(err error) bool {
	for _, passing := range []error{
		askback.ErrStopping, askback.ErrUnreachable, askback.ErrBusy, askback.ErrFull, askback.ErrTooMany,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// progress tells the client now and then that the call lives, if it wants to
// know, until the function it returns is called. When that fails nobody is there
// any more, and the wait ends. What is told grows with the call: it may wait twice.
func (c *call) progress(ctx context.Context, cancel context.CancelFunc, ask askback.Ask, begun time.Time) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		note := &mcp.ProgressNotificationParams{ProgressToken: token, Message: "Waiting for a person. " + ask.PageURL}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			sent := *note
			sent.Progress = time.Since(begun).Round(time.Millisecond).Seconds()
			if c.req.Session.NotifyProgress(ctx, &sent) != nil {
				cancel()
				return
			}
		}
	}()
	return func() { end(); <-done }
}
