package appserver

import (
	"context"
	"encoding/json"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
)

// An openDialog is a request of the app-server that has no answer yet.
type openDialog struct {
	question
	id      string          // the id of the request
	changes json.RawMessage // the edits in question, if any
}

// request asks people about m, a request of the app-server, as soon as its thread is followed. A request that
// people cannot be asked about is left to the terminal.
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
	case t == nil:
		return
	case !t.followed:
		t.waiting = append(t.waiting, m)
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
	if open := s.dialogs.Open(ctx, id, openDialog{d, id, shown}); open != nil {
		s.dialogs.Ask(open, func(ctx context.Context) { s.ask(ctx, open) })
	}
}

// ask asks people and, if they are first, answers the request. It adds the reason of a denial to the turn.
func (s *session) ask(ctx context.Context, open *dialog.Dialog[openDialog]) {
	d := open.About
	s.asker.Ask(ctx, d.ask, func(ask askback.Ask) bool {
		result, ok := d.result(ask)
		if !s.dialogs.Close(open) || !ok {
			return false
		}
		if isDenial(ask) {
			s.explain(d, ask)
		}
		return s.send(map[string]any{"id": json.RawMessage(d.id), "result": result}) == nil
	})
	s.dialogs.Close(open)
}

// explain adds the text of a denial with its reason to the turn, because the answer to a request cannot contain a
// text. If the turn is over, the app-server rejects the addition.
func (s *session) explain(d openDialog, ask askback.Ask) {
	text, _, _ := asktool.Result(ask)
	s.call("turn/steer", map[string]any{
		"threadId": d.thread, "expectedTurnId": d.turn, "input": []any{map[string]any{"type": "text", "text": text}},
	}, func(_, _ json.RawMessage) {})
}
