package codexapp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/jsonrpc2"
)

// An openDialog is a dialog without an answer.
type openDialog struct {
	dialog
	id      string          // of the request
	changes json.RawMessage // the edits that it is about, if any
	cancel  context.CancelCauseFunc
}

// request asks people about a request of the app-server. What cannot be asked is left to the
// terminal.
func (s *session) request(ctx context.Context, m jsonrpc2.Message) {
	id, thread := string(m.ID), jsonrpc2.StringAt(m.Params, "threadId")
	if thread == "" {
		return
	}
	s.follow(ctx, thread)
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.threads[thread]
	switch {
	case t == nil || s.over != nil || s.open[id] != nil:
		return
	case !t.followed:
		t.early = append(t.early, m)
		return
	}
	var shown json.RawMessage
	d, ok := readDialog(m.Method, m.ID, m.Params, t.folder, func(turn, item string) json.RawMessage {
		shown = t.changes[edit{turn, item}]
		return shown
	})
	if !ok {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	open := &openDialog{dialog: d, id: id, changes: shown, cancel: cancel}
	s.open[id] = open
	s.asks.Go(func() { s.race(ctx, open) })
}

// race asks people and, if they are first, answers the request.
func (s *session) race(ctx context.Context, d *openDialog) {
	defer d.cancel(nil)
	ask, err := hook.Race(ctx, s.f.Asks, d.ask, func(err error) {
		s.f.note("Askback cannot be reached, so Codex asks only at its terminal: " + err.Error())
	})
	if err != nil {
		if ctx.Err() == nil {
			s.f.note("Not asked, so Codex asks only at its terminal: " + err.Error())
		}
		s.close(d)
		return
	}
	result, ok := d.result(ask)
	if !s.close(d) || !ok {
		return
	}
	if isDenial(ask) {
		s.explain(d, ask)
	}
	s.send(map[string]any{"id": json.RawMessage(d.id), "result": result})
	hook.Delivered(ctx, s.f.Asks, ask)
}

// explain adds the reason of a denial to the turn, because the answer to a request has no
// place for it. If the turn is over, the app-server rejects this.
func (s *session) explain(d *openDialog, ask askback.Ask) {
	if ask.Outcome.Reason == "" {
		return
	}
	text, _, _ := asktool.Result(ask)
	s.call("turn/steer", map[string]any{
		"threadId": d.thread, "expectedTurnId": d.turn, "input": []any{map[string]any{"type": "text", "text": text}},
	}, func(_, _ json.RawMessage) {})
}

// close removes an open dialog. It reports false if the dialog was answered elsewhere.
func (s *session) close(d *openDialog) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.open[d.id] == d
	if was {
		delete(s.open, d.id)
	}
	return was
}

// end ends the open dialogs that which selects, because they were answered at the terminal.
func (s *session) end(which func(*openDialog) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range s.open {
		if which(d) {
			delete(s.open, id)
			d.cancel(errAnswered)
		}
	}
}

// endAll ends all open dialogs. No dialog can be opened afterwards.
func (s *session) endAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = errors.Join(s.over, cause)
	for id, d := range s.open {
		delete(s.open, id)
		d.cancel(cause)
	}
}
