package view_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/askbacktest"
	"github.com/askback/askback/internal/text/view"
)

// A call that is asked for again after a person changed its arguments names the person and the change.
func TestEarlierChangeOfACallIsFound(t *testing.T) {
	i := askbacktest.New(t)
	bot, ana := i.Agent("bot"), i.Person("ana")
	ask := func(key, tool, input string) askback.Ask {
		t.Helper()
		a, err := bot.Ask(t.Context(), askback.Request{Key: key, Confirmation: &askback.Confirmation{
			ToolName: tool, Input: json.RawMessage(input),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const all, one = `{"to":"all@example.com","text":"hi"}`, `{"to":"ana@example.com","text":"hi"}`
	first := ask("1", "send_mail", all)
	if e := view.FindEarlier(t.Context(), ana, first, "ana"); e != nil {
		t.Errorf("before the change: got %+v", e)
	}
	if _, err := ana.Answer(t.Context(), first.ID, askback.Answer{
		Decision: askback.Approve, Input: json.RawMessage(one),
	}); err != nil {
		t.Fatal(err)
	}
	again := ask("2", "send_mail", ` {"text":"hi", "to":"all@example.com"}`)
	for reader, want := range map[string]string{
		"ana": "You changed this call before approving it, just now. The agent asks for the original again.",
		"ben": "“ana” changed this call before approving it, just now. The agent asks for the original again.",
	} {
		e := view.FindEarlier(t.Context(), ana, again, reader)
		if e == nil || e.Sentence("just now").String() != want || len(e.Changes) == 0 || time.Since(e.At) > time.Hour {
			t.Errorf("%s: got %+v, want %q", reader, e, want)
		}
	}
	same, err := i.Agent("another").Ask(t.Context(), askback.Request{
		Agent: again.Agent, Confirmation: &askback.Confirmation{ToolName: "send_mail", Input: []byte(all)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []askback.Ask{same, ask("3", "send_mail", one), ask("4", "send_sms", all)} {
		if e := view.FindEarlier(t.Context(), ana, other, "ana"); e != nil {
			t.Errorf("%s: got %+v", other.Confirmation.Input, e)
		}
	}
	if _, err := ana.Answer(t.Context(), again.ID, askback.Answer{Decision: askback.Approve}); err != nil {
		t.Fatal(err)
	}
	if e := view.FindEarlier(t.Context(), ana, ask("5", "send_mail", all), "ana"); e != nil {
		t.Errorf("after an approval without a change: got %+v", e)
	}
}
