package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
)

const (
	// gatherTime is how long a receipt waits for others. A server that gives 1000
	// answers a second then writes dozens of receipts at one moment, in a few
	// transactions. It is short, because a crash loses the receipts that wait.
	gatherTime = 50 * time.Millisecond
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

// A tray gathers receipts for a moment, to write them together. Nothing runs while
// none waits. Its zero value is open and empty.
type tray struct {
	under tally // those that wait, and those that are being written

	mu      sync.Mutex
	waiting []receipt
	timer   *time.Timer
	armed   bool // the timer runs: something waits, and nothing is written
	writing bool // what comes now is written as soon as that is done
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
	if len(t.waiting) == trayMost {
		t.under.end()
		return askback.ErrBusy
	}
	t.waiting = append(t.waiting, r)
	switch {
	case t.writing:
	case !t.armed:
		t.timer, t.armed = time.AfterFunc(gatherTime, flush), true
	case len(t.waiting) == trayLimit:
		t.timer.Reset(0)
	}
	return nil
}

// take returns what has to be written now. It gives to one at a time: to the first that
// begins, and then to it alone until nothing is left.
func (t *tray) take(begins bool) []receipt {
	t.mu.Lock()
	defer t.mu.Unlock()
	if begins && t.writing {
		return nil
	}
	if t.armed {
		t.timer.Stop()
	}
	due := t.waiting
	t.waiting, t.armed, t.writing = nil, false, len(due) > 0
	return due
}

// flush writes the receipts of a tray, unless that is being done.
func (s *Server) flush(t *tray) {
	for due := t.take(true); len(due) > 0; due = t.take(false) {
		s.writeAll(due)
	}
}

// receiptTime bounds the writing of what was due together. The end waits for it, on
// stdio too.
const receiptTime = 5 * time.Second

func (s *Server) writeAll(due []receipt) {
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
		_, err = r.who.seat.Ack(ctx, r.id)
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
	go s.flush(t)
	return ended
}
