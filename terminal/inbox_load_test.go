package terminal_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
)

// A slowClient replies after a time.
type slowClient struct {
	askback.Client
	delay atomic.Int64 // nanoseconds
	fails atomic.Bool
	lists atomic.Int64
}

func (c *slowClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if q.Limit > 1 {
		c.lists.Add(1)
	}
	select {
	case <-ctx.Done():
		return askback.Page{}, ctx.Err()
	case <-time.After(time.Duration(c.delay.Load())):
		if c.fails.Load() {
			return askback.Page{}, errors.New("busy")
		}
		return askback.Page{EventsCursor: "1"}, nil
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
		if got := messages(); client.lists.Load() > 10 || len(got) != int(client.lists.Load()) || got[0] != "loaded" {
			t.Errorf("50 events in half a second were %d reads: %v", client.lists.Load(), got)
		}
		client.delay.Store(int64(time.Minute))
		<-time.After(20 * time.Second)
		if got := messages(); len(got) == 0 || got[len(got)-1] != "lost" {
			t.Errorf("without a reply: got %v, want lost", got)
		}
		client.delay.Store(0)
		<-time.After(2 * time.Minute)
		if got := messages(); len(got) == 0 || got[0] != "loaded" {
			t.Errorf("with a reply again: got %v, want loaded", got)
		}
		client.fails.Store(true)
		<-time.After(time.Minute)
		if got := messages(); len(got) == 0 || got[len(got)-1] != "failed" {
			t.Errorf("with an error: got %v, want failed", got)
		}
	})
}
