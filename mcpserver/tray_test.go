package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/mcpserver"
)

// A clerk is a seat that only writes receipts.
type clerk struct {
	askback.Client
	hold           chan struct{} // nil: at once
	err            error
	now, most, all atomic.Int64 // at this moment, at most at one moment, and altogether
}

func (c *clerk) Ack(ctx context.Context, _ string) (askback.Ask, error) {
	c.all.Add(1)
	for now := c.now.Add(1); ; {
		if most := c.most.Load(); most >= now || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer c.now.Add(-1)
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return askback.Ask{}, ctx.Err()
		}
	}
	return askback.Ask{}, c.err
}

// gives replies to so many requests, each of which gives an ask of its own.
func gives(s *mcpserver.Server, c *clerk, from, to int) {
	for n := from; n < to; n++ {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
		s.Give(c, askback.Ask{ID: fmt.Sprint(n)}, httptest.NewRecorder(), r, func(http.ResponseWriter, *http.Request) {})
	}
	synctest.Wait()
}

// pass lets time pass, by the clock of the bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Receipts of replies that come one after the other are written at the same moment,
// so that a store takes them in one transaction, and none waits long for it.
func TestReceiptsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &clerk{hold: make(chan struct{})}
		gives(s, c, 0, 50)
		pass(mcpserver.GatherTime - time.Millisecond)
		gives(s, c, 50, 100)
		if n := c.now.Load(); n != 0 {
			t.Errorf("%d receipts before their time", n)
		}
		pass(time.Millisecond)
		gives(s, c, 100, 101)
		if n := c.now.Load(); n != 100 {
			t.Errorf("%d receipts at one moment, want 100", n)
		}
		close(c.hold)
		synctest.Wait() // what came meanwhile is written at once
		if n := c.all.Load(); n != 101 {
			t.Errorf("%d receipts, want 101", n)
		}
	})
}

// As many are written at one moment as a store puts into one transaction, at the end
// too.
func TestAWaveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const all = 2*mcpserver.WaveSize + 1
		s, c := mcpserver.New(nil), &clerk{hold: make(chan struct{})}
		gives(s, c, 0, all)
		gathered()
		if n := c.now.Load(); n != mcpserver.WaveSize {
			t.Errorf("%d receipts at one moment, want %d", n, mcpserver.WaveSize)
		}
		gives(s, c, all, all+1)
		finished := make(chan struct{})
		go func() { defer close(finished); s.Finish() }()
		synctest.Wait()
		close(c.hold)
		<-finished
		if n, most := c.all.Load(), c.most.Load(); n != all+1 || most != mcpserver.WaveSize {
			t.Errorf("%d receipts, want %d; %d at one moment", n, all+1, most)
		}
	})
}

// Nothing runs, and no timer either, before the first receipt and after the last.
func TestNothingRunsWhileNoReceiptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		s, c := mcpserver.New(nil), &clerk{}
		for n := range 3 {
			if left := runtime.NumGoroutine(); s.Gathers() || left > before {
				t.Fatalf("after %d receipts: a timer runs: %t; %d goroutines, before it %d", n, s.Gathers(), left, before)
			}
			gives(s, c, n, n+1)
			if !s.Gathers() {
				t.Error("no timer runs")
			}
			gathered()
		}
	})
}

// Very many receipts do not wait for their time.
func TestAFullTrayIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &clerk{}
		gives(s, c, 0, mcpserver.TrayLimit-1)
		if n := c.all.Load(); n != 0 {
			t.Errorf("%d receipts before their time", n)
		}
		gives(s, c, 0, 1)
		if n := c.all.Load(); n != mcpserver.TrayLimit {
			t.Errorf("%d receipts at once, want %d", n, mcpserver.TrayLimit)
		}
		gives(s, c, 0, 1)
		if gathered(); c.all.Load() != mcpserver.TrayLimit+1 {
			t.Error("the next one has no receipt")
		}
	})
}

// Where the store hangs, neither receipts nor goroutines grow without a bound, and an
// answer that has no receipt for it is offered again.
func TestAStoreThatHangsFillsNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &clerk{hold: make(chan struct{})}
		gives(s, c, 0, 1)
		gathered() // it hangs
		before := runtime.NumGoroutine()
		const most = mcpserver.TrayMost
		for n := range most / 64 {
			gives(s, c, n*64, n*64+64)
			pass(time.Millisecond)
		}
		gives(s, c, most, most+1)
		if !s.Remembers(fmt.Sprint(most-1)) || s.Remembers(fmt.Sprint(most)) {
			t.Errorf("the last that waits counts as given: %t; and the one after it: %t", s.Remembers(fmt.Sprint(most-1)), s.Remembers(fmt.Sprint(most)))
		}
		if n := runtime.NumGoroutine() - before; n > 3 {
			t.Errorf("%d goroutines more", n)
		}
		close(c.hold)
		synctest.Wait()
		if n := c.all.Load(); n != most+1 {
			t.Errorf("%d receipts, want %d", n, most+1)
		}
	})
}

// A receipt that could not be written is as if the answer had not been given.
func TestAnAnswerWhoseReceiptFailedIsOfferedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &clerk{err: errors.New("disk")}
		gives(s, c, 0, 1)
		if !s.Remembers("0") {
			t.Error("it does not count as given while its receipt waits")
		}
		if gathered(); s.Remembers("0") {
			t.Error("it counts as given")
		}
	})
}

// Where the store hangs, the end of stdio waits a bounded time, however many wait.
func TestReceiptsThatHangEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &clerk{hold: make(chan struct{})}
		gives(s, c, 0, 3*mcpserver.WaveSize)
		gathered()
		if pass(10 * time.Second); s.Remembers("0") || s.Remembers(fmt.Sprint(3*mcpserver.WaveSize-1)) || c.now.Load() != 0 {
			t.Errorf("%d receipts are still being written", c.now.Load())
		}
	})
}

// The end does not wait for the time of the receipts, which are written all the same.
func TestTheEndWritesReceiptsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		one, two := d.answered(t), d.answered(t)
		d.server.Give(d.engine.As(bot), one, httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody), func(http.ResponseWriter, *http.Request) {})
		c := d.terminal(t, io.Discard)
		c.send(t, look(2, two.ID))
		if d.received(t, one.ID) || d.received(t, two.ID) {
			t.Error("there is a receipt before its time")
		}
		begun := time.Now()
		_ = c.in.Close()
		<-c.served
		if took := time.Since(begun); took != 0 || !d.received(t, two.ID) || d.received(t, one.ID) {
			t.Errorf("stdio took %s to end, and its receipt is there: %t; the other: %t", took, d.received(t, two.ID), d.received(t, one.ID))
		}
		d.server.Stop()
		d.server.Finish()
		if took := time.Since(begun); took != 0 || !d.received(t, one.ID) {
			t.Errorf("it took %s to finish, and the receipt is there: %t", took, d.received(t, one.ID))
		}
	})
}

// What waits when Finish has no more time is not written after it: the seats end.
func TestNoReceiptIsWrittenAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		id := d.answered(t).ID
		get, replied := make(chan struct{}), make(chan struct{})
		web := d.through(func(s askback.Client) askback.Client { return sluggish{Client: s, get: get} })
		go func() {
			defer close(replied)
			post(t, web, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
		}()
		synctest.Wait()
		finished, c := make(chan time.Time), &clerk{}
		begun := time.Now()
		go func() { d.server.Finish(); finished <- time.Now() }()
		pass(mcpserver.FinishTime - time.Millisecond)
		gives(d.server, c, 0, 1)
		if took := (<-finished).Sub(begun); took != mcpserver.FinishTime {
			t.Errorf("it took %s", took)
		}
		gives(d.server, c, 1, 2)
		if gathered(); c.all.Load() != 0 {
			t.Errorf("%d receipts were written after the end", c.all.Load())
		}
		close(get)
		<-replied
	})
}

// Replies, cancellations and the end come at once: in the end each answer has its
// receipt, or counts as not given, and no request is kept.
func TestReceiptsAndCancellationsAtOnce(t *testing.T) {
	d := newDesk(t)
	ids := make([]string, 200)
	for n := range ids {
		ids[n] = d.answered(t).ID
	}
	web := d.web("bot")
	say := func(body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {legacy}, "Mcp-Session-Id": {"mine"},
		}
		res, err := web.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	var clients sync.WaitGroup
	for n, id := range ids {
		clients.Go(func() { say(look(n, id)) })
		clients.Go(func() {
			say(fmt.Sprintf(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d}}`, n))
		})
	}
	clients.Wait()
	d.server.Stop()
	begun := time.Now()
	if d.server.Finish(); time.Since(begun) >= mcpserver.FinishTime {
		t.Error("it waited for receipts that nobody writes")
	}
	for _, id := range ids {
		if d.received(t, id) != d.server.Remembers(id) {
			t.Errorf("%s has a receipt: %t, and counts as given: %t", id, d.received(t, id), d.server.Remembers(id))
		}
	}
	if n := d.server.InFlight(); n != 0 {
		t.Errorf("%d requests are kept", n)
	}
}
