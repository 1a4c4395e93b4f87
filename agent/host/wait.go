package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/askback/askback"
)

// A wait waits for the end of a run, and has its asks answered.
type wait struct {
	client  askback.PersonClient
	session string
	answer  Answerer
	family  map[string]bool // the ids of the run and of the sessions that it started, and of others with false

	known   map[string]bool // the asks that were found, by id: each is answered once
	asks    []askback.Ask   // the asks to answer after the present one
	present string          // the id of the ask that is being answered, or ""
	settled context.CancelFunc
	done    chan error // gets the error with which the present answer ended
}

// An input is an event, or the error that ends the events.
type input struct {
	event askback.Event
	err   error
}

func newWait(client askback.PersonClient, session string, answer Answerer) *wait {
	return &wait{
		client: client, session: session, answer: answer, family: map[string]bool{"": false, session: true},
		known: map[string]bool{}, done: make(chan error),
	}
}

// run returns the session when its turn has ended.
func (w *wait) run(ctx context.Context) (askback.Session, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		if w.present != "" {
			<-w.done
		}
	}()
	first, err := w.client.List(ctx, askback.Query{Limit: 1})
	if err != nil {
		return askback.Session{}, err
	}
	s, err := w.client.Session(ctx, w.session)
	if err != nil || s.Ended() {
		return s, err
	}
	if err := w.findAsks(ctx); err != nil {
		return s, err
	}
	events := make(chan input)
	go w.read(ctx, first.EventsCursor, events)
	for {
		w.next(ctx)
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case err := <-w.done:
			w.present = ""
			w.settled()
			if err != nil {
				return s, err
			}
		case in := <-events:
			ended, err := w.event(ctx, in)
			if err != nil || ended {
				return w.ending(ctx, err)
			}
		}
	}
}

// ending returns the session when its turn has ended, unless err is set.
func (w *wait) ending(ctx context.Context, err error) (askback.Session, error) {
	if err != nil {
		return askback.Session{}, err
	}
	return w.client.Session(ctx, w.session)
}

// read sends the events after a cursor until ctx ends.
func (w *wait) read(ctx context.Context, after askback.Cursor, to chan<- input) {
	for event, err := range w.client.Events(ctx, "", after) {
		select {
		case to <- input{event, err}:
		case <-ctx.Done():
			return
		}
	}
}

// event handles an event of any session, and reports whether the turn of the run has ended.
func (w *wait) event(ctx context.Context, in input) (ended bool, err error) {
	if in.err != nil {
		return false, in.err
	}
	var data struct {
		ID  string       `json:"question_id"`
		Ask *askback.Ask `json:"ask"`
	}
	if err := json.Unmarshal(in.event.Data, &data); err != nil {
		return false, fmt.Errorf("read the event %s: %w", in.event.Type, err)
	}
	switch t := in.event.Type; {
	case t == askback.EventSnapshot: // events before it were deleted
		s, err := w.client.Session(ctx, w.session)
		if err != nil || s.Ended() {
			return true, err
		}
		return false, w.findAsks(ctx)
	case t.EndsSession() && in.event.SessionID == w.session:
		return true, nil
	case t == askback.EventQuestionPending && data.Ask != nil:
		return false, w.add(ctx, *data.Ask)
	case t.Settles() && data.ID == w.present:
		w.settled()
	case t.Settles():
		w.asks = slices.DeleteFunc(w.asks, func(a askback.Ask) bool { return a.ID == data.ID })
	}
	return false, nil
}

// findAsks adds the asks that are open.
func (w *wait) findAsks(ctx context.Context) error {
	q := askback.Query{Limit: askback.MaxLimit}
	for {
		page, err := w.client.List(ctx, q)
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			if err := w.add(ctx, a); err != nil {
				return err
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}

// add adds an ask to the asks to answer, if it belongs to the run.
func (w *wait) add(ctx context.Context, a askback.Ask) error {
	if ours, err := w.isOurs(ctx, a.SessionID); err != nil || !ours || w.known[a.ID] {
		return err
	}
	w.known[a.ID] = true
	w.asks = append(w.asks, a)
	return nil
}

// isOurs reports whether a session is the session of the run, or was started by the run.
func (w *wait) isOurs(ctx context.Context, id string) (bool, error) {
	ours, known := w.family[id]
	if known {
		return ours, nil
	}
	s, err := w.client.Session(ctx, id)
	if err != nil {
		return false, err
	}
	ours, err = w.isOurs(ctx, s.ParentID)
	w.family[id] = ours && err == nil
	return ours, err
}

// next starts answering the next ask, unless an answer is in progress.
func (w *wait) next(ctx context.Context) {
	if w.answer == nil || w.present != "" || len(w.asks) == 0 {
		return
	}
	a := w.asks[0]
	w.asks = w.asks[1:]
	w.present = a.ID
	ctx, w.settled = context.WithCancel(ctx)
	go func() {
		err := w.answer(ctx, w.client, a)
		if ctx.Err() != nil { // it was settled elsewhere, or the wait ends
			err = nil
		}
		w.done <- err
	}()
}
