package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// Runs and sessions of one agent are told apart in the inbox, on the page that decides, in the history and in the
// list of sessions: by the title of the session, or by the end of its id.
func TestListsTellSessionsApart(t *testing.T) {
	h := newServer(t)
	bot, first := h.externalSession("first")
	_, second := h.externalSession("second")
	third := askback.SessionRequest{Key: "third", Agent: "deploy-bot", Title: "Release 4.2"}
	titled, err := bot.Start(t.Context(), third)
	if err != nil {
		t.Fatal(err)
	}
	end := func(s askback.Session) string { return "session " + s.ID[len(s.ID)-6:] }
	ana := h.browser("ana")
	var asks []askback.Ask
	for _, s := range []askback.Session{first, second, titled} {
		asks = append(asks, h.askIn(s, single))
	}
	h.ask(single) // an ask of its own names no session
	check := func(path string) {
		t.Helper()
		var got []string
		for _, n := range ana.open(path, http.StatusOK).all(".origin") {
			got = append(got, n.visibleText())
		}
		for _, want := range []string{end(first), end(second), "Release 4.2"} {
			if n := strings.Count(strings.Join(got, "\n"), want); n != 1 {
				t.Errorf("%s: %q is there %d times: %q", path, want, n, got)
			}
		}
		if len(got) != 3 {
			t.Errorf("%s: got %q", path, got)
		}
	}
	check("/")
	check("/decide?ask=" + asks[0].ID + "&ask=" + asks[1].ID + "&ask=" + asks[2].ID)
	for _, a := range asks {
		ana.settle(a, url.Values{"action": {"answer"}, "q1": {"1"}})
	}
	check("/history")
	page := ana.main("/sessions")
	for _, want := range []string{end(first), end(second), "Release 4.2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list of sessions lacks %q: %s", want, page)
		}
	}
	if strings.Contains(page, end(titled)) {
		t.Errorf("the id of a session with a title is there: %s", page)
	}
}
