package mcpserver_test

import (
	"context"
	"errors"
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

// stricter is a seat that finds another problem in a request whose deadline is past.
type stricter struct {
	askback.Client
	pointers []string
}

func (s stricter) Ask(ctx context.Context, r askback.Request) (askback.Ask, error) {
	ask, err := s.Client.Ask(ctx, r)
	if _, absent := errors.AsType[askback.Invalid](err); !absent {
		return ask, err
	}
	var bad askback.Invalid
	for _, pointer := range s.pointers {
		bad = append(bad, askback.Problem{Pointer: pointer, Detail: "is wrong", Fix: "mend it"})
	}
	return ask, bad
}

// An ask counts as absent only if its deadline is the one problem. With any other, the
// call is an error: it neither asks twice nor is answered from an older answer.
func TestAnotherProblemIsNoAbsence(t *testing.T) {
	for _, pointers := range [][]string{{"/deadline"}, {"/deadline", "/context"}, {"/context"}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t)
			d.seat = func(s askback.Client) askback.Client { return stricter{s, pointers} }
			cs := d.stdio("program", modern, nil)
			d.rounds(cs, 8, "ask_user_question", database, askback.Choose("SQLite"))
			d.server.ForgetRounds() // as another process
			done := start(t.Context(), cs, "ask_user_question", database)
			asks := d.open()
			if len(pointers) == 1 && pointers[0] == "/deadline" {
				if len(asks) != 1 {
					t.Fatalf("%d asks are open, want 1", len(asks))
				}
				d.answer(asks[0].ID, askback.Choose("PostgreSQL"))
				if got := (<-done).text(t); !strings.Contains(got, "PostgreSQL") {
					t.Errorf("got %q", got)
				}
				return
			}
			if got := <-done; len(asks) != 0 || !got.IsError || strings.Contains(got.text(t), "SQLite") {
				t.Errorf("%v: %d asks are open; got %q", pointers, len(asks), got.text(t))
			}
		})
	}
}
