package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/terminal"
)

// A slowClient is a client that replies after a delay.
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

// A connection without a reply is reported as lost. As soon as there is a reply, the list is read again
// (F11). Many events in a short time cause one read.
func TestMissingReplyIsReportedAsALostConnection(t *testing.T) {
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

// A list of 1 001 asks is read page by page as the person moves through it. It stays in order, has each ask
// once, and follows changes on every page (B6, F11).
func TestInboxReadsFurtherPages(t *testing.T) {
	f := newInboxFixture(t)
	f.height = 20
	var ids []string
	for n := range 1000 {
		ids = append(ids, f.ask("a", questionRequest(fmt.Sprintf("Question %d?", n))))
	}
	counted := &countingClient{Client: f.ana}
	f.open(counted, 80)
	f.shows(80, "more than 200 open")
	if counted.lists != 1 {
		t.Errorf("%d pages were read first, want 1", counted.lists)
	}
	f.press("pgdown")
	f.shows(80, "more than 200 open")
	for range 5 {
		f.press("end")
	}
	ids = append(ids, f.ask("b", questionRequest("The last?")))
	f.Load()
	f.shows(80, `(?s)1001 open.*> .*Question 999\?.*1 more below`)
	if got := f.IDs(); !slices.Equal(got, ids) {
		t.Errorf("the list has %d asks, in another order than the pages", len(got))
	}
	if _, err := f.ben.Decline(t.Context(), ids[998], ""); err != nil {
		t.Fatal(err)
	}
	f.Load()
	f.shows(80, `(?s)1000 open.*Declined by ben.*> .*Question 999`)
	f.press("/", "Question", "enter")
	f.shows(80, `more than \d+ found`)
	f.press("esc")
	f.shows(80, "1000 open")
	f.press("home")
	f.shows(80, `> .*Question 0\?`)
}

// A countingClient counts the pages that are read.
type countingClient struct {
	askback.Client
	lists int
}

func (c *countingClient) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	c.lists++
	return c.Client.List(ctx, q)
}
