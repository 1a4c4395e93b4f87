package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/askback/askback"
)

// An answer that was not delivered is listed, even after many later answers (F6).
func TestUndeliveredAnswerIsListedAfterManyLaterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		client := f.engine.As(bot)
		ask := func() string {
			a, err := client.Ask(t.Context(), askback.Request{Questions: []askback.Question{{Text: "Which name?"}}})
			if err != nil {
				t.Fatal(err)
			}
			f.answer(a.ID, askback.Choose("neither"))
			return a.ID
		}
		first := ask()
		for range 120 {
			if _, err := client.Ack(t.Context(), ask()); err != nil {
				t.Fatal(err)
			}
		}
		got := callTool(t.Context(), f.connectHTTP("bot", "program", stateless, nil), "list_open_questions", "{}")
		if settled, _ := got.structured(t)["settled"].([]any); len(settled) != 1 ||
			!strings.Contains(got.text(t), first) {
			t.Errorf("got %v, %q; want %s", settled, got.text(t), first)
		}
	})
}

// Each ask is on one page of the list, and no page is large.
func TestListIsSplitIntoPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		client, want := f.engine.As(bot), map[string]bool{}
		for n := range 120 {
			r := askback.Request{Questions: []askback.Question{{Text: "Which name?"}}}
			if n%20 == 0 {
				r = askback.Request{Confirmation: &askback.Confirmation{
					ToolName: "write", Input: json.RawMessage(`{"text":"` + strings.Repeat("\\\"", 200_000) + `"}`),
				}}
			}
			a, err := client.Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if n%2 == 1 {
				f.answer(a.ID, askback.Choose("neither"))
			}
			want[a.ID] = true
		}
		cs, cursor := f.connectHTTP("bot", "program", stateless, nil), ""
		for pages := 0; pages == 0 || cursor != ""; pages++ {
			got := callTool(t.Context(), cs, "list_open_questions", `{"cursor": "`+cursor+`"}`)
			raw, err := json.Marshal(got.CallToolResult)
			if err != nil || len(raw) > 100_000 || pages > 9 {
				t.Fatalf("page %d has %d bytes, %v", pages, len(raw), err)
			}
			for _, list := range []string{"questions", "settled"} {
				rows, _ := got.structured(t)[list].([]any)
				for _, row := range rows {
					id := fmt.Sprint(row.(map[string]any)["question_id"])
					if !want[id] || !strings.Contains(got.text(t), id) {
						t.Errorf("page %d: %s is listed twice, unknown, or not in the text", pages, id)
					}
					delete(want, id)
				}
			}
			cursor, _ = got.structured(t)["next_cursor"].(string)
		}
		if len(want) > 0 {
			t.Errorf("%d asks are in no list", len(want))
		}
		if got := callTool(t.Context(), cs, "list_open_questions", `{"cursor": "x"}`); !got.IsError {
			t.Errorf("got %q", got.text(t))
		}
	})
}
