package terminal_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
)

// A slowClient replies after a time.
type slowClient struct {
	askback.Client
	delay time.Duration
	err   error
	lists int
}

func (c *slowClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if q.Limit > 1 {
		c.lists++
	}
	select {
	case <-ctx.Done():
		return askback.Page{}, ctx.Err()
	case <-time.After(c.delay):
		return askback.Page{EventsCursor: "1"}, c.err
	}
}

func (c *slowClient) Events(ctx context.Context, _ string, after askback.Cursor) iter.Seq2[askback.Event, error] {
	return func(yield func(askback.Event, error) bool) {
		for n := range 50 {
			<-time.After(10 * time.Millisecond)
			if !yield(askback.Event{Cursor: after, Seq: int64(n), Type: askback.EventQuestionPending}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(askback.Event{}, ctx.Err())
	}
}

// A connection without a reply is reported as lost, and as soon as there is one, the list is
// read again (F11). Many events at once are one read.
func TestInboxNoticesALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &slowClient{}
		messages := terminal.RunTestLoader(t.Context(), client)
		<-time.After(time.Second)
		if got := messages(); client.lists > 10 || len(got) != client.lists || got[0] != "loaded" {
			t.Errorf("50 events in half a second were %d reads: %v", client.lists, got)
		}
		client.delay = time.Minute
		<-time.After(20 * time.Second)
		if got := messages(); len(got) == 0 || got[len(got)-1] != "lost" {
			t.Errorf("without a reply: got %v, want lost", got)
		}
		client.delay = 0
		<-time.After(2 * time.Minute)
		if got := messages(); len(got) == 0 || got[0] != "loaded" {
			t.Errorf("with a reply again: got %v, want loaded", got)
		}
		client.err = errors.New("busy")
		<-time.After(time.Minute)
		if got := messages(); len(got) == 0 || got[len(got)-1] != "failed" {
			t.Errorf("with an error: got %v, want failed", got)
		}
	})
}
