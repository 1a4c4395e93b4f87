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

// An ackCounter is a client that counts calls of Ack.
type ackCounter struct {
	askback.Client
	release              chan struct{} // if not nil, each call waits until release is closed
	err                  error
	running, most, total atomic.Int64
}

func (c *ackCounter) Ack(ctx context.Context, _ string) (askback.Ask, error) {
	c.total.Add(1)
	for running := c.running.Add(1); ; {
		if most := c.most.Load(); most >= running || c.most.CompareAndSwap(most, running) {
			break
		}
	}
	defer c.running.Add(-1)
	if c.release != nil {
		select {
		case <-c.release:
		case <-ctx.Done():
			return askback.Ask{}, ctx.Err()
		}
	}
	return askback.Ask{}, c.err
}

// deliver serves a request for each ask with an id in the range from ≤ id < to. Each reply has the outcome of
// its ask.
func deliver(s *mcpserver.Server, c askback.Client, from, to int) {
	for n := from; n < to; n++ {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{}`))
		s.ServeOutcome(c, askback.Ask{ID: fmt.Sprint(n)}, httptest.NewRecorder(), r,
			func(http.ResponseWriter, *http.Request) {})
	}
	synctest.Wait()
}

// advance advances the clock of the synctest bubble by d.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// nextTick advances the clock by AckTick, after which the outcomes are acknowledged.
func nextTick() { advance(mcpserver.AckTick) }

// Replies do not wait for Ack. The calls of Ack of one tick run at the same moment, so that
// the store commits them together.
func TestAcksOfOneTickRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &ackCounter{release: make(chan struct{})}
		deliver(s, c, 0, 50)
		advance(mcpserver.AckTick - time.Millisecond)
		deliver(s, c, 50, 100)
		if n := c.running.Load(); n != 0 {
			t.Errorf("%d calls of Ack before the tick", n)
		}
		advance(time.Millisecond)
		deliver(s, c, 100, 101)
		if n := c.running.Load(); n != 100 {
			t.Errorf("%d calls of Ack at the tick, want 100", n)
		}
		close(c.release)
		if nextTick(); c.total.Load() != 101 {
			t.Errorf("%d calls of Ack, want 101", c.total.Load())
		}
	})
}

// If the store hangs, the number of goroutines is bounded. An outcome that exceeds the bound
// counts as not delivered.
func TestAcksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		const most = mcpserver.MaxAcks
		s, c := mcpserver.New(nil), &ackCounter{release: make(chan struct{})}
		deliver(s, c, 0, most+2)
		advance(mcpserver.AckTick)
		last, next := s.Delivered(fmt.Sprint(most-1)), s.Delivered(fmt.Sprint(most))
		if n := runtime.NumGoroutine() - before; n > most+3 || c.running.Load() != most || !last || next {
			t.Errorf("%d goroutines, %d calls of Ack, want %d; the last counts as delivered: %t; the next: %t", n,
				c.running.Load(), most, last, next)
		}
		close(c.release)
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > before+3 || c.total.Load() != most {
			t.Errorf("%d goroutines, before it %d; %d calls of Ack, want %d", n, before, c.total.Load(), most)
		}
		deliver(s, c, most, most+1)
		if nextTick(); c.total.Load() != most+1 {
			t.Error("nothing is acknowledged after the store has recovered")
		}
	})
}

func TestOutcomeWhoseAckFailsCountsAsUndelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &ackCounter{err: errors.New("disk")}
		deliver(s, c, 0, 1)
		if !s.Delivered("0") {
			t.Error("the outcome does not count as delivered before the call of Ack")
		}
		if nextTick(); s.Delivered("0") {
			t.Error("the outcome counts as delivered")
		}
	})
}

func TestAckTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := mcpserver.New(nil), &ackCounter{release: make(chan struct{})}
		deliver(s, c, 0, 3)
		advance(mcpserver.AckTick + mcpserver.AckTime)
		if s.Delivered("0") || s.Delivered("2") || c.running.Load() != 0 {
			t.Errorf("%d calls of Ack are running", c.running.Load())
		}
	})
}

// The end of a connection on stdio, and Finish, each wait for their own calls of Ack.
func TestEndOfStdioAndFinishWaitForAcks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		one, two := f.answeredAsk(t), f.answeredAsk(t)
		f.wrap = func(s askback.Client) askback.Client { return slowClient{Client: s, ack: after(time.Second)} }
		c := f.stdioPeer(t, io.Discard)
		c.send(t, getAnswerCall(2, two.ID))
		if f.acked(t, two.ID) {
			t.Error("the outcome is acknowledged before Ack has returned")
		}
		_ = c.in.Close()
		<-c.served
		if !f.acked(t, two.ID) || f.acked(t, one.ID) {
			t.Errorf("after stdio: acknowledged %t, want true; the other %t", f.acked(t, two.ID), f.acked(t, one.ID))
		}
		f.server.ServeOutcome(f.engine.As(bot), one, httptest.NewRecorder(),
			httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody), func(http.ResponseWriter, *http.Request) {})
		f.server.Stop()
		started := time.Now()
		f.server.Finish()
		if took := time.Since(started); took > mcpserver.AckTick || !f.acked(t, one.ID) {
			t.Errorf("Finish took %s, and the outcome is acknowledged: %t", took, f.acked(t, one.ID))
		}
	})
}

// When Finish times out, it cancels the running calls of Ack and starts no further calls.
func TestNoAckAfterFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		id := f.answeredAsk(t).ID
		get, replied := make(chan struct{}), make(chan struct{})
		httpClient := f.wrappedHTTPClient(func(s askback.Client) askback.Client {
			return slowClient{Client: s, get: get}
		})
		go func() {
			defer close(replied)
			post(t, httpClient, "tools/call", "get_answer", toolCall("get_answer", `{"question_id": "`+id+`"}`, `{}`))
		}()
		synctest.Wait()
		finished, running, waiting := make(chan time.Time), &ackCounter{release: make(chan struct{})}, &ackCounter{}
		advance(mcpserver.AckTick / 2) // makes Finish end between two ticks
		started := time.Now()
		go func() { f.server.Finish(); finished <- time.Now() }()
		advance(mcpserver.FinishTime - mcpserver.AckTick)
		deliver(f.server, running, 0, 1)
		advance(mcpserver.AckTick - time.Millisecond)
		deliver(f.server, waiting, 1, 2)
		if running.running.Load() != 1 {
			t.Error("no call of Ack is running")
		}
		if took := (<-finished).Sub(started); took != mcpserver.FinishTime {
			t.Errorf("Finish took %s", took)
		}
		deliver(f.server, waiting, 2, 3)
		if nextTick(); running.running.Load() != 0 || waiting.total.Load() != 0 || f.server.Delivered("0") ||
			f.server.Delivered("1") {
			t.Errorf("%d calls of Ack are running, %d began after Finish", running.running.Load(), waiting.total.Load())
		}
		close(get)
		<-replied
	})
}

// If replies, cancellations and Finish run concurrently, every outcome is acknowledged or counts as not
// delivered. No request stays in memory.
func TestConcurrentCancellationsLoseNoOutcome(t *testing.T) {
	f := newFixture(t)
	ids := make([]string, 200)
	for n := range ids {
		ids[n] = f.answeredAsk(t).ID
	}
	httpClient := f.httpClient("bot")
	send := func(body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
			strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {withSessions}, "Mcp-Session-Id": {"mine"},
		}
		res, err := httpClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	var clients sync.WaitGroup
	for n, id := range ids {
		clients.Go(func() { send(getAnswerCall(n, id)) })
		clients.Go(func() {
			send(fmt.Sprintf(`{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %d}}`, n))
		})
	}
	clients.Wait()
	f.server.Stop()
	started := time.Now()
	if f.server.Finish(); time.Since(started) >= mcpserver.FinishTime {
		t.Error("Finish waited for calls of Ack that do not exist")
	}
	for _, id := range ids {
		if f.acked(t, id) != f.server.Delivered(id) {
			t.Errorf("%s is acknowledged: %t, and counts as delivered: %t", id, f.acked(t, id), f.server.Delivered(id))
		}
	}
	if n := f.server.InFlight(); n != 0 {
		t.Errorf("%d requests are in memory", n)
	}
}
