package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// The intervals of waits. Most clients give up after 60 s, so 45 s leave time for the reply. The variable
// programs lists the clients that wait longer.
const (
	defaultWait      = 45 * time.Second
	pollInterval     = 10 * time.Second // between two reads of an ask whose Wait failed
	progressInterval = 10 * time.Second // between two progress notifications
)

// maxWait returns the maximum time for which a call may wait. It is shorter than the time for which its
// client waits for a result. Claude Code ends a call on stdio after 30 minutes without output, and a call
// over HTTP after 60 seconds without a byte. Progress notifications count as output. Codex ends a call after
// 300 seconds, Gemini CLI after 10 minutes. On stdio, a user can set a longer timeout in the client, and a
// longer time in Options.Wait.
func (c *call) maxWait() time.Duration {
	if c.caller.stdio && c.options.Wait > 0 {
		return c.options.Wait
	}
	p := programOf(c.clientName())
	if p.claudeCode() && (c.caller.stdio || c.req.Params.GetProgressToken() != nil) {
		return 25 * time.Minute
	}
	return cmp.Or(p.wait, defaultWait)
}

// claudeCode reports whether the client is Claude Code.
func (c *call) claudeCode() bool { return programOf(c.clientName()).claudeCode() }

// wait returns an ask once it is settled. It returns a pending ask when the limit has passed since the call
// started, the client has disconnected, or the server stops. The context of a call may continue after the
// client has disconnected, so wait watches the connection as well.
func (c *call) wait(ctx context.Context, ask askback.Ask, started time.Time, limit time.Duration) (askback.Ask, error) {
	if ask.Settled() {
		return ask, nil
	}
	ctx, cancel := context.WithDeadline(ctx, started.Add(limit))
	defer cancel()
	defer context.AfterFunc(c.caller.connected, cancel)()
	defer context.AfterFunc(c.stopping, cancel)()
	defer c.progress(ctx, cancel, ask, started)()
	for ctx.Err() == nil {
		now, err := c.caller.client.Wait(ctx, ask.ID)
		switch {
		case err == nil, now.Settled():
			return c.withPageURL(now), nil
		case ctx.Err() == nil && !isTransient(err):
			return askback.Ask{}, err
		}
		if now, ok := c.poll(ctx, ask.ID); ok {
			return c.withPageURL(now), nil
		}
	}
	return ask, nil // still pending, as far as this process knows
}

// poll waits for pollInterval, reads the ask, and reports whether it is settled. It is used after Wait
// failed, because models would repeat the call after an immediate result.
func (c *call) poll(ctx context.Context, id string) (askback.Ask, bool) {
	select {
	case <-ctx.Done():
		return askback.Ask{}, false
	case <-time.After(pollInterval):
	}
	ask, err := c.caller.client.Get(ctx, id)
	return ask, err == nil && ask.Settled()
}

// transient lists the errors after which an ask can still be waited for.
var transient = []error{
	askback.ErrStopping, askback.ErrUnreachable, askback.ErrBusy, askback.ErrFull, askback.ErrTooMany,
}

func isTransient(err error) bool {
	return slices.ContainsFunc(transient, func(t error) bool { return errors.Is(err, t) })
}

// progress sends progress notifications, if the client requested them, until the returned function is called.
// If a notification cannot be sent, the client has disconnected and the wait is cancelled. Progress is the
// time since the call started, so that it grows if the call waits twice.
func (c *call) progress(
	ctx context.Context, cancel context.CancelFunc, ask askback.Ask, started time.Time,
) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		note := &mcp.ProgressNotificationParams{ProgressToken: token, Message: "Waiting for a person. " + ask.PageURL}
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			sent := *note
			sent.Progress = time.Since(started).Round(time.Millisecond).Seconds()
			if c.notify(ctx, &sent) != nil {
				cancel()
				return
			}
		}
	}()
	return func() { end(); <-done }
}
