package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/askback/askback"
)

// A wait waits for the end of a run and calls an Answerer for the asks of the run.
type wait struct {
	client  askback.PersonClient
	session string
	answer  Answerer
	family  map[string]bool // whether a session belongs to the run, by session id

	known   map[string]bool // the ids of the asks found so far; each ask is answered once
	asks    []askback.Ask   // the asks to answer after the present one
	present string          // the id of the ask that is being answered, or ""
	settled context.CancelFunc
	done    chan error // receives the error of the present answer
}

// An input is an event, or the error with which the events end.
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

// run answers the asks of the run until the turn of the run ends, and returns the session. If an answer or
// the stream of events fails, or ctx ends, it returns the error.
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

// ending returns err if it is not nil. Otherwise it returns the session of the run.
func (w *wait) ending(ctx context.Context, err error) (askback.Session, error) {
	if err != nil {
		return askback.Session{}, err
	}
	return w.client.Session(ctx, w.session)
}

// read sends the events of all sessions after a cursor to the channel to. It returns when ctx or the stream
// ends.
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
	case t == askback.EventSnapshot: // the events before the snapshot were deleted
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

// findAsks adds the open asks of the run.
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

// add adds an ask of the run to the asks to answer. It ignores asks of other runs, and asks that were added
// before.
func (w *wait) add(ctx context.Context, a askback.Ask) error {
	if ours, err := w.isOurs(ctx, a.SessionID); err != nil || !ours || w.known[a.ID] {
		return err
	}
	w.known[a.ID] = true
	w.asks = append(w.asks, a)
	return nil
}

// isOurs reports whether the session with this id is the session of the run, or was started by the run or its
// sub-agents.
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
		if ctx.Err() != nil { // the ask was settled in another way, or the wait ends
			err = nil
		}
		w.done <- err
	}()
}
