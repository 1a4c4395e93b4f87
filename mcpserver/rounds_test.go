package mcpserver_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// counting is a store that counts how often an ask is looked for by its key.
type counting struct {
	engine.Store
	reads atomic.Int64
}

func (c *counting) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	c.reads.Add(1)
	return c.Store.ReadKey(ctx, kind, key)
}

func newCountingDesk(t *testing.T) (*desk, *counting) {
	t.Helper()
	d, kept := newDesk(t), &counting{Store: memstore.New()}
	d.store = kept
	d.tokens = map[string]string{}
	d.restart()
	return d, kept
}

// rounds has the same call asked and answered so many times.
func (d *desk) rounds(cs *mcp.ClientSession, n int, tool, args string, answer askback.Answer) {
	d.t.Helper()
	for i := range n {
		done := start(d.t.Context(), cs, tool, args)
		d.answer(d.only().ID, answer)
		if r := <-done; r.err != nil || r.IsError {
			d.t.Fatalf("call %d: %v %s", i, r.err, r.text(d.t))
		}
		synctest.Wait()
		<-time.After(2 * time.Second) // by the clock of the bubble, for the limit of asks in a minute
	}
}

// However often the same was asked before, it can be asked once more, and found
// after a restart by a few reads. Nothing is asked on the way (B7).
func TestTheSameWordsCanAlwaysBeAskedAgain(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, kept := newCountingDesk(t)
				cs := d.http("bot", "program", version, nil)
				asked := 0
				for _, upto := range []int{7, 8, 9, 40, 1030} {
					d.rounds(cs, upto-asked, "ask_user_question", database, askback.Choose("SQLite"))
					asked = upto
					d.restart()
					before := kept.reads.Load()
					start(t.Context(), cs, "ask_user_question", database)
					if reads := kept.reads.Load() - before; reads > 50 {
						t.Errorf("after %d: %d reads", asked, reads)
					}
					id := d.only().ID
					d.restart() // and it is found, not made a second time
					done := start(t.Context(), cs, "ask_user_question", database)
					if again := d.only().ID; again != id {
						t.Errorf("after %d: got %s, want %s", asked, again, id)
					}
					d.answer(id, askback.Choose("PostgreSQL"))
					if got := (<-done).text(t); !strings.Contains(got, "PostgreSQL") {
						t.Errorf("after %d: got %q", asked, got)
					}
					asked++
					synctest.Wait()
					<-time.After(2 * time.Second)
				}
			})
		})
	}
}

// So can a tool be permitted, whose approvals a new process does not know to be
// used up.
func TestAToolCanAlwaysBePermittedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, kept := newCountingDesk(t)
		cs := d.http("bot", "claude-code", modern, nil)
		d.rounds(cs, 300, "permission_prompt", bash, askback.Decide(askback.Approve, ""))
		d.restart()
		before := kept.reads.Load()
		done := start(t.Context(), cs, "permission_prompt", bash)
		if reads := kept.reads.Load() - before; reads > 60 {
			t.Errorf("%d reads", reads)
		}
		d.answer(d.only().ID, askback.Decide(askback.Deny, ""))
		if got := decided(t, <-done); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
	})
}

// Two processes that find the last ask of a call at a time find the same one.
func TestTwoProcessesFindTheSameAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := newCountingDesk(t)
		cs := d.http("bot", "program", modern, nil)
		d.rounds(cs, 50, "ask_user_question", database, askback.Choose("SQLite"))
		var both []<-chan reply
		for range 2 {
			d.restart()
			for range 3 {
				both = append(both, start(t.Context(), cs, "ask_user_question", database))
			}
		}
		d.answer(d.only().ID, askback.Choose("PostgreSQL"))
		// The first process is another engine, which looks now and then.
		for _, done := range both {
			if got := (<-done); !strings.Contains(got.text(t), "PostgreSQL") && got.structured(t)["status"] != "pending" {
				t.Errorf("got %q", got.text(t))
			}
		}
	})
}

// A decision that a process does not remember giving counts for a prompt within the
// hour, and no longer: Claude Code tries again within minutes. What a process knows
// that it did not give waits, however long (D1).
func TestHowLongADecisionWaitsForItsPrompt(t *testing.T) {
	for _, test := range []struct {
		restart bool
		age     time.Duration
		again   bool
	}{
		{true, 59 * time.Minute, false},
		{true, 61 * time.Minute, true},
		{false, 61 * time.Minute, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			cs := d.http("bot", "claude-code", modern, nil)
			call(t.Context(), cs, "permission_prompt", bash)
			d.answer(d.only().ID, askback.Decide(askback.Approve, ""))
			<-time.After(test.age) // by the clock of the bubble
			if test.restart {
				d.restart()
			}
			start(t.Context(), cs, "permission_prompt", bash)
			if got := len(d.open()) == 1; got != test.again {
				t.Errorf("%+v: asked again: %t", test, got)
			}
		})
	}
}

// brokenList is a client whose List fails once broken is set.
type brokenList struct {
	askback.Client
	broken *atomic.Bool
}

func (b brokenList) List(ctx context.Context, q askback.Query) (askback.Page, error) {
	if b.broken.Load() {
		return askback.Page{}, askback.ErrUnreachable
	}
	return b.Client.List(ctx, q)
}

// A call whose last ask cannot be found is an error. It neither asks twice nor returns
// an older answer.
func TestFailedSearchForTheLastAskIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, broken := newDesk(t), &atomic.Bool{}
		d.seat = func(s askback.Client) askback.Client { return brokenList{s, broken} }
		cs := d.stdio("program", modern, nil)
		d.rounds(cs, 8, "ask_user_question", database, askback.Choose("SQLite"))
		d.server.ForgetDeliveries() // as another process
		broken.Store(true)
		got := <-start(t.Context(), cs, "ask_user_question", database)
		if asks := d.open(); len(asks) != 0 || !got.IsError || strings.Contains(got.text(t), "SQLite") {
			t.Errorf("%d asks are open; got %q", len(asks), got.text(t))
		}
	})
}
