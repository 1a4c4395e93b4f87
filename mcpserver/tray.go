package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
)

const (
	// gatherTime is how long a receipt waits at least; it is twice that at most. A
	// server that gives 1000 answers a second then writes hundreds of receipts at one
	// moment, dozens in each transaction, where each would have one of its own. It is
	// also how late a client may take a request back: a reply and a cancellation
	// cross within one round trip of the network, which is shorter. It is no longer
	// than that, since the TypeScript SDK 1.x cancels calls too whose reply it had
	// seconds before, and since a crash loses the receipts that wait.
	gatherTime = 250 * time.Millisecond
	// trayLimit is how many receipts wait at most before they are written at once.
	trayLimit = 1024
	// trayMost is how many wait at most while those before them are being written. There
	// are as many only when the store hangs: then a receipt more is lost, which
	// costs less than the memory.
	trayMost = 4 * trayLimit
	// waveSize is how many receipts are written at the same moment: as many changes as
	// the store puts into one transaction at most, and no more goroutines than that.
	waveSize = 256
)

// A tray gathers receipts for a moment, to write them together. While one waits, it
// can be taken back. Nothing runs while none waits. Its zero value is open and empty.
type tray struct {
	under tally // those that wait, and those that are being written

	mu      sync.Mutex
	fresh   []receipt // came after the timer last went off
	ripe    []receipt // came before that
	timer   *time.Timer
	armed   bool // the timer runs: something waits, and nothing is written
	writing bool // whoever writes looks for more when that is done
	ending  bool // nothing waits any longer
}

// A receipt is one that is to be written.
type receipt struct {
	who *caller
	gift
}

// put leaves a receipt here, and starts the time to flush. The error is ErrStopping
// when the seats end, and ErrBusy when there is no place.
func (t *tray) put(r receipt, flush func()) error {
	if !t.under.begin() {
		return askback.ErrStopping
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.fresh) + len(t.ripe)
	if n == trayMost {
		t.under.end()
		return askback.ErrBusy
	}
	t.fresh = append(t.fresh, r)
	switch {
	case t.writing:
	case t.timer == nil:
		t.timer, t.armed = time.AfterFunc(gatherTime, flush), true
	case !t.armed:
		t.timer.Reset(gatherTime)
		t.armed = true
	case n+1 == trayLimit:
		t.timer.Reset(0)
	}
	return nil
}

// take returns what has to be written now. It gives to one at a time: to whoever
// begins while nobody writes, and then to whoever wrote what it was given. Each receipt
// is passed over once, so that the last to come waits as long as promised.
func (t *tray) take(begins bool) (due []receipt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if begins && t.writing {
		return nil
	}
	if begins {
		due, t.ripe, t.fresh = t.ripe, t.fresh, nil
	}
	if t.ending || len(due)+len(t.ripe)+len(t.fresh) >= trayLimit {
		due, t.ripe, t.fresh = slices.Concat(due, t.ripe, t.fresh), nil, nil
	}
	t.writing = len(due) > 0
	t.armed = !t.writing && len(t.ripe)+len(t.fresh) > 0
	switch {
	case t.armed:
		t.timer.Reset(gatherTime)
	case t.timer != nil:
		t.timer.Stop()
	}
	return due
}

// takeBack returns the receipts of a request that still wait. They are not written.
func (t *tray) takeBack(w *caller) (back []receipt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	its := func(r receipt) bool {
		if r.who != w {
			return false
		}
		t.under.end()
		back = append(back, r)
		return true
	}
	t.fresh, t.ripe = slices.DeleteFunc(t.fresh, its), slices.DeleteFunc(t.ripe, its)
	return back
}

// flush writes the receipts of a tray whose time has come, unless that is being done.
func (s *Server) flush(t *tray) {
	for due := t.take(true); len(due) > 0; due = t.take(false) {
		s.writeAll(due)
	}
}

// receiptTime bounds the writing of what was due together.
const receiptTime = 10 * time.Second

func (s *Server) writeAll(due []receipt) {
	for _, r := range due {
		s.inFlight.end(r.who) // too late to take it back
	}
	ctx, cancel := context.WithTimeout(s.receiving, receiptTime)
	defer cancel()
	for wave := range slices.Chunk(due, waveSize) {
		var written sync.WaitGroup
		for _, r := range wave {
			written.Go(func() { s.write(ctx, r) })
		}
		written.Wait()
	}
}

// write writes a receipt. One that is lost costs nothing: the answer is offered once
// more.
func (s *Server) write(ctx context.Context, r receipt) {
	defer r.who.receipts.under.end()
	err := ctx.Err() // the seats may have ended
	if err == nil {
		_, err = r.who.seat.Receive(ctx, r.id)
	}
	if err != nil {
		s.lost(r.gift, err)
	}
}

// lost notes that there is no receipt for what was given.
func (s *Server) lost(g gift, err error) {
	s.memory.forget(g.mark)
	s.log.Warn("there is no receipt for an answer", "ask", g.id, "error", err)
}

// end writes what waits, and lets nothing come any more. What it returns ends with
// the last that was written.
func (s *Server) end(t *tray) <-chan struct{} {
	ended := t.under.close()
	t.mu.Lock()
	t.ending = true
	t.mu.Unlock()
	go s.flush(t)
	return ended
}
