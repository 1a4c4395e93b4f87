package mcpserver

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// How long a call waits. Most clients give up after 60 s, so 45 s leave a reply
// its way; those that are known to wait longer are in patience.
const (
	shortWait   = 45 * time.Second
	minimalWait = 10 * time.Second // a model that asks for 1 s would come back 60 times a minute
	beat        = 10 * time.Second // between two notes of progress
)

// patience is how long the client of a call is known to wait for a result.
// Claude Code ends a silent call on stdio after 30 min and one over a network
// after 60 s without a byte, Codex after 300 s, Gemini CLI after 10 min.
func (c *call) patience() time.Duration {
	switch name := strings.ToLower(c.client()); {
	case c.who.stdio && strings.HasPrefix(name, "claude-code"):
		return 25 * time.Minute
	case strings.HasPrefix(name, "codex"):
		return 240 * time.Second
	case strings.HasPrefix(name, "gemini-cli"):
		return 9 * time.Minute
	}
	return shortWait
}

// wait waits for an ask at most so long, and returns it as it then is. The
// server bounds the wait itself: the context of a call does not end when its
// client goes away.
func (c *call) wait(ctx context.Context, ask askback.Ask, most time.Duration) (askback.Ask, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	defer context.AfterFunc(c.who.live, cancel)()
	defer context.AfterFunc(c.stopping, cancel)()
	defer c.progress(ctx, cancel, ask)()
	now, err := c.who.seat.Wait(ctx, ask.ID)
	switch {
	case err == nil, now.Settled():
		return c.linked(now), nil
	case ctx.Err() != nil, keeps(err):
		return ask, nil // it is kept and still open, as far as anybody knows
	}
	return askback.Ask{}, err
}

// keeps says whether an error of waiting leaves the ask as it is, so that the
// agent can be told to come back.
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
// any more, and the wait ends.
func (c *call) progress(ctx context.Context, cancel context.CancelFunc, ask askback.Ask) (stop func()) {
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
			note.Progress += beat.Seconds()
			sent := *note
			if c.req.Session.NotifyProgress(ctx, &sent) != nil {
				cancel()
				return
			}
		}
	}()
	return func() { end(); <-done }
}
