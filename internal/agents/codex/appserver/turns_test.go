package appserver

import (
	"encoding/json"
	"strings"
	"testing"
)

// The edits of two items with the same id are unknown, even if an item was found when the thread was followed
// (T49).
func TestEditsOfItemsWithTheSameIDAreUnknown(t *testing.T) {
	item := func(diff string) string {
		return `{"type":"fileChange","id":"i","changes":[{"path":"/srv/a","kind":{"type":"add"},"diff":"` + diff +
			`"}]}`
	}
	for _, c := range []struct {
		items []string
		later string // an item that starts afterwards
		known bool
	}{
		{[]string{item("x")}, "", true},
		{[]string{item("x"), item("x")}, "", true},
		{[]string{item("x"), item("y")}, "", false},
		{[]string{item("x"), item("y"), item("x")}, "", false},
		{[]string{item("x")}, item("x"), true},
		{[]string{item("x")}, item("y"), false},
	} {
		s := newSession(&Follower{}, nil, &recording{})
		s.threads["t"] = &thread{
			changes: map[edit]json.RawMessage{}, started: map[edit]json.RawMessage{}, reused: map[edit]bool{},
		}
		s.storeTurns("t", json.RawMessage(`[{"id":"u","items":[`+strings.Join(c.items, ",")+`]}]`))
		if c.later != "" {
			s.notice(t.Context(), "item/started", json.RawMessage(`{"threadId":"t","turnId":"u","item":`+c.later+`}`))
		}
		if _, known := s.threads["t"].changes[edit{"u", "i"}]; known != c.known {
			t.Errorf("%s, then %s: the edits are known: %t, want %t", c.items, c.later, known, c.known)
		}
	}
}
