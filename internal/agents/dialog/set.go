package dialog

import (
	"context"
	"sync"
)

// A Set contains the open dialogs of a program. T is the data about each dialog. The zero value is ready to
// use.
type Set[T any] struct {
	asking sync.WaitGroup

	mu    sync.Mutex
	open  map[string]*Dialog[T] // keyed by the id of the request
	ended bool
}

// A Dialog is a request of a program that has no answer yet.
type Dialog[T any] struct {
	About  T
	id     string
	muted  bool // only the program itself asks
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Open adds a dialog. It returns nil if the dialog is already open, or if all dialogs have ended.
func (s *Set[T]) Open(ctx context.Context, id string, about T) *Dialog[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.open[id] != nil {
		return nil
	}
	d := &Dialog[T]{About: about, id: id}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	if s.open == nil {
		s.open = map[string]*Dialog[T]{}
	}
	s.open[id] = d
	return d
}

// Ask calls ask in a goroutine, with a context that ends with the dialog. It does nothing if the dialog has
// ended or was muted.
func (s *Set[T]) Ask(d *Dialog[T], ask func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asks(d) {
		return
	}
	s.asking.Go(func() {
		defer d.cancel(nil)
		ask(d.ctx)
	})
}

// asks reports whether a dialog is open and not muted. s.mu must be held.
func (s *Set[T]) asks(d *Dialog[T]) bool { return s.open[d.id] == d && !d.muted }

// Close removes a dialog, because Askback answers it. It returns false if the dialog has ended or was muted.
// The program must then get no answer.
func (s *Set[T]) Close(d *Dialog[T]) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asks(d) {
		return false
	}
	delete(s.open, d.id)
	return true
}

// End ends the matching dialogs. The cause is the reason that people see.
func (s *Set[T]) End(cause error, matches func(T) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range s.open {
		if matches(d.About) {
			delete(s.open, id)
			d.cancel(cause)
		}
	}
}

// EndAll ends all dialogs. No dialog can be opened afterwards.
func (s *Set[T]) EndAll(cause error) {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.End(cause, func(T) bool { return true })
}

// MuteAmbiguous ends the asks of the matching dialogs if there are several. The dialogs stay open in the
// program.
func (s *Set[T]) MuteAmbiguous(cause error, matches func(T) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Dialog[T]
	for _, d := range s.open {
		if matches(d.About) {
			found = append(found, d)
		}
	}
	if len(found) < 2 {
		return
	}
	for _, d := range found {
		d.muted = true
		d.cancel(cause)
	}
}

// Wait waits until no ask is open.
func (s *Set[T]) Wait() { s.asking.Wait() }
