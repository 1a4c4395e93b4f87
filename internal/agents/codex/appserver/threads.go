package appserver

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
)

// handle handles a message. Unknown messages are ignored.
func (s *session) handle(ctx context.Context, m jsonrpc2.Message) {
	switch {
	case m.Method == "":
		s.mu.Lock()
		done := s.calls[string(m.ID)]
		delete(s.calls, string(m.ID))
		s.mu.Unlock()
		if done != nil && (m.Result != nil || m.Error != nil) {
			done(m.Result, m.Error)
		}
	case m.ID != nil:
		s.request(ctx, m)
	default:
		s.notice(ctx, m.Method, m.Params)
	}
}

// notice handles a notification.
func (s *session) notice(ctx context.Context, method string, params json.RawMessage) {
	id := jsonrpc2.StringAt(params, "threadId")
	switch method {
	case "thread/started":
		if string(jsonrpc2.At(params, "thread", "ephemeral")) != "true" {
			s.follow(ctx, jsonrpc2.StringAt(params, "thread", "id"))
		}
	case "thread/status/changed":
		if jsonrpc2.StringAt(params, "status", "type") == "active" {
			s.follow(ctx, id)
		}
	case "thread/closed":
		s.dialogs.End(errAnswered, func(d openDialog) bool { return d.thread == id })
		s.mu.Lock()
		if t := s.threads[id]; t != nil && t.leave != nil {
			t.leave()
		}
		delete(s.threads, id)
		s.mu.Unlock()
	case "turn/completed":
		turn := jsonrpc2.StringAt(params, "turn", "id")
		s.dialogs.End(errAnswered, func(d openDialog) bool { return d.thread == id && d.turn == turn })
		s.forgetChanges(id, turn)
	case "serverRequest/resolved":
		request := string(jsonrpc2.CanonicalID(jsonrpc2.At(params, "requestId")))
		s.dialogs.End(errAnswered, func(d openDialog) bool { return d.thread == id && d.id == request })
	case "item/started":
		turn, item := jsonrpc2.StringAt(params, "turnId"), jsonrpc2.At(params, "item")
		s.start(id, turn, item)
		s.storeItem(id, turn, item)
	case "item/fileChange/patchUpdated":
		s.storeChanges(id, jsonrpc2.StringAt(params, "turnId"), jsonrpc2.StringAt(params, "itemId"),
			jsonrpc2.At(params, "changes"))
	}
}

// follow subscribes to a thread, unless the thread is already followed. The app-server then repeats the
// requests that are still open. Following an empty thread fails, so such a thread is followed once it is
// active.
func (s *session) follow(ctx context.Context, id string) {
	s.mu.Lock()
	known := s.threads[id] != nil
	if !known {
		s.threads[id] = &thread{
			changes: map[edit]json.RawMessage{}, started: map[edit]json.RawMessage{}, reused: map[edit]bool{},
		}
	}
	s.mu.Unlock()
	if known {
		return
	}
	s.call("thread/resume", map[string]any{
		"threadId": id, "excludeTurns": true,
		"initialTurnsPage": map[string]any{"limit": 1, "sortDirection": "desc", "itemsView": "full"},
	}, func(result, _ json.RawMessage) {
		s.mu.Lock()
		t := s.threads[id]
		if t == nil || result == nil {
			delete(s.threads, id)
			s.mu.Unlock()
			return
		}
		t.followed, t.folder = true, jsonrpc2.StringAt(result, "thread", "cwd")
		if s.f.Following != nil {
			t.leave = s.f.Following(id)
		}
		waiting := t.waiting
		t.waiting = nil
		s.mu.Unlock()
		s.storeTurns(id, jsonrpc2.At(result, "initialTurnsPage", "data"))
		for _, m := range waiting {
			s.request(ctx, m)
		}
	})
}

// leaveAll stops following all threads.
func (s *session) leaveAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, t := range s.threads {
		if t.leave != nil {
			t.leave()
		}
		delete(s.threads, id)
	}
}

// storeTurns stores the edits in a list of turns.
func (s *session) storeTurns(id string, turns json.RawMessage) {
	var page []json.RawMessage
	_ = json.Unmarshal(turns, &page)
	for _, turn := range page {
		var items []json.RawMessage
		_ = json.Unmarshal(jsonrpc2.At(turn, "items"), &items)
		for _, item := range items {
			s.start(id, jsonrpc2.StringAt(turn, "id"), item)
			s.storeItem(id, jsonrpc2.StringAt(turn, "id"), item)
		}
	}
}

// storeItem stores the edits of an item, if it has any.
func (s *session) storeItem(id, turn string, item json.RawMessage) {
	if jsonrpc2.StringAt(item, "type") == "fileChange" {
		s.storeChanges(id, turn, jsonrpc2.StringAt(item, "id"), jsonrpc2.At(item, "changes"))
	}
}

// start records the edits with which an item started. If an item with the same id started with other edits,
// it marks the id as reused, because people could see the edits of the wrong item.
func (s *session) start(id, turn string, item json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, of, changes := s.threads[id], edit{turn, jsonrpc2.StringAt(item, "id")}, jsonrpc2.At(item, "changes")
	if t == nil || changes == nil {
		return
	}
	before, known := t.started[of]
	t.reused[of] = t.reused[of] || known && string(before) != string(changes)
	t.started[of] = changes
}

// storeChanges stores the edits of an item, or removes them if several items share its id. It ends each
// dialog about other edits of this item.
func (s *session) storeChanges(id, turn, item string, changes json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.threads[id]; t != nil && changes != nil {
		t.changes[edit{turn, item}] = changes
		if t.reused[edit{turn, item}] {
			delete(t.changes, edit{turn, item})
		}
	}
	s.dialogs.End(errChanged, func(d openDialog) bool {
		return d.thread == id && d.turn == turn && d.item == item && d.changes != nil &&
			string(d.changes) != string(changes)
	})
}

// forgetChanges removes the edits of a turn.
func (s *session) forgetChanges(id, turn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.threads[id]; t != nil {
		for e := range t.changes {
			if e.turn == turn {
				delete(t.changes, e)
			}
		}
		maps.DeleteFunc(t.started, func(e edit, _ json.RawMessage) bool { return e.turn == turn })
		maps.DeleteFunc(t.reused, func(e edit, _ bool) bool { return e.turn == turn })
	}
}
