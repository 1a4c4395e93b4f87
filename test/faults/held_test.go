package main

import (
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// The check of histories finds each forbidden event of held answers, and nothing in a correct history.
func TestHeldHistoryCheckDetectsForbiddenEvents(t *testing.T) {
	const pending, held, undone, answered, expired = "question_pending", "answer_held", "answer_undone",
		"question_answered", "question_expired"
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"sent":             {[]string{pending, held, answered}, ""},
		"undone":           {[]string{pending, held, undone, held, undone, expired}, ""},
		"late":             {[]string{pending, held, answered, "answer_refused"}, ""},
		"undone and sent":  {[]string{pending, held, answered, undone}, "accepted"},
		"undone twice":     {[]string{pending, held, undone, undone}, "accepted"},
		"held when it was": {[]string{pending, answered, held}, "accepted"},
		"two outcomes":     {[]string{pending, held, answered, expired}, "duplicated"},
	} {
		h := &heldHistory{held: map[string]bool{}}
		var got []string
		for n, typ := range c.events {
			data, err := lifecycle.Event{Type: askback.EventType(typ), By: "ana"}.Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			bad, err := h.apply(store.Event{Seq: int64(n), Subject: "ask_1", Type: typ, Data: data})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range bad {
				got = append(got, v.String())
			}
		}
		if len(got) > 0 != (c.want != "") || !strings.HasPrefix(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
