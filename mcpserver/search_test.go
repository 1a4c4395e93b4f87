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

// A countingStore counts reads by key.
type countingStore struct {
	engine.Store
	reads atomic.Int64
}

func (c *countingStore) ReadKey(ctx context.Context, kind, key string) (store.Record, error) {
	c.reads.Add(1)
	return c.Store.ReadKey(ctx, kind, key)
}

func newCountingFixture(t *testing.T) (*fixture, *countingStore) {
	t.Helper()
	f, counting := newFixture(t), &countingStore{Store: memstore.New()}
	f.store = counting
	f.tokens = map[string]string{}
	f.restart()
	return f, counting
}

// askRepeatedly makes the same call n times and answers each ask.
func (f *fixture) askRepeatedly(cs *mcp.ClientSession, n int, tool, args string, answer askback.Answer) {
	f.t.Helper()
	for i := range n {
		done := startCall(f.t.Context(), cs, tool, args)
		f.answer(f.pendingAsk().ID, answer)
		if r := <-done; r.err != nil || r.IsError {
			f.t.Fatalf("call %d: %v %s", i, r.err, r.text(f.t))
		}
		synctest.Wait()
		<-time.After(2 * time.Second) // because of the rate limit; takes no real time
	}
}

// The same question can always be asked again, however often it was asked before. After a
// restart its ask is found with few reads (B7).
func TestSameQuestionCanAlwaysBeAskedAgain(t *testing.T) {
	for _, version := range []string{withSessions, stateless} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, counting := newCountingFixture(t)
				cs := f.connectHTTP("bot", "program", version, nil)
				asked := 0
				for _, upto := range []int{7, 8, 9, 40, 1030} {
					f.askRepeatedly(cs, upto-asked, "ask_user_question", database, askback.Choose("SQLite"))
					asked = upto
					f.restart()
					before := counting.reads.Load()
					startCall(t.Context(), cs, "ask_user_question", database)
					if reads := counting.reads.Load() - before; reads > 50 {
						t.Errorf("after %d: %d reads", asked, reads)
					}
					id := f.pendingAsk().ID
					f.restart() // the ask is found, not made again
					done := startCall(t.Context(), cs, "ask_user_question", database)
					if again := f.pendingAsk().ID; again != id {
						t.Errorf("after %d: got %s, want %s", asked, again, id)
					}
					f.answer(id, askback.Choose("PostgreSQL"))
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

func TestToolCanAlwaysBePermittedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, counting := newCountingFixture(t)
		cs := f.connectHTTP("bot", "claude-code", stateless, nil)
		f.askRepeatedly(cs, 300, "permission_prompt", bash, askback.Decide(askback.Approve, ""))
		f.restart()
		before := counting.reads.Load()
		done := startCall(t.Context(), cs, "permission_prompt", bash)
		if reads := counting.reads.Load() - before; reads > 60 {
			t.Errorf("%d reads", reads)
		}
		f.answer(f.pendingAsk().ID, askback.Decide(askback.Deny, ""))
		if got := permissionReply(t, <-done); got["behavior"] != "deny" {
			t.Errorf("got %v", got)
		}
	})
}

func TestTwoProcessesFindTheSameAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newCountingFixture(t)
		cs := f.connectHTTP("bot", "program", stateless, nil)
		f.askRepeatedly(cs, 50, "ask_user_question", database, askback.Choose("SQLite"))
		var both []<-chan reply
		for range 2 {
			f.restart()
			for range 3 {
				both = append(both, startCall(t.Context(), cs, "ask_user_question", database))
			}
		}
		f.answer(f.pendingAsk().ID, askback.Choose("PostgreSQL"))
		// The first process is another engine, which polls.
		for _, done := range both {
			if got := (<-done); !strings.Contains(got.text(t), "PostgreSQL") &&
				got.structured(t)["status"] != "pending" {
				t.Errorf("got %q", got.text(t))
			}
		}
	})
}

// If a process has no record of whether a decision was delivered, a prompt uses the decision for an hour,
// because Claude Code tries again within minutes. If the record shows that the decision was not delivered,
// there is no limit (D1).
func TestPromptUsesOnlyRecentDecisions(t *testing.T) {
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
			f := newFixture(t)
			cs := f.connectHTTP("bot", "claude-code", stateless, nil)
			callTool(t.Context(), cs, "permission_prompt", bash)
			f.answer(f.pendingAsk().ID, askback.Decide(askback.Approve, ""))
			<-time.After(test.age) // takes no real time
			if test.restart {
				f.restart()
			}
			startCall(t.Context(), cs, "permission_prompt", bash)
			if got := len(f.pendingAsks()) == 1; got != test.again {
				t.Errorf("%+v: asked again: %t", test, got)
			}
		})
	}
}

// A brokenList is a client whose List fails once broken is set.
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

// If the search for the last ask of a call fails, the call returns an error. It neither
// asks twice nor returns an older answer.
func TestFailedSearchForTheLastAskIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, broken := newFixture(t), &atomic.Bool{}
		f.wrap = func(s askback.Client) askback.Client { return brokenList{s, broken} }
		cs := f.connectStdio("program", stateless, nil)
		f.askRepeatedly(cs, 8, "ask_user_question", database, askback.Choose("SQLite"))
		f.server.ForgetDeliveries() // another process has an empty set, too
		broken.Store(true)
		got := <-startCall(t.Context(), cs, "ask_user_question", database)
		if asks := f.pendingAsks(); len(asks) != 0 || !got.IsError || strings.Contains(got.text(t), "SQLite") {
			t.Errorf("%d asks are open; got %q", len(asks), got.text(t))
		}
	})
}
