package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

// If a person answers twice, the page of the late answer shows where the first answer was given.
func TestOwnLateAnswerNamesTheChannel(t *testing.T) {
	for via, want := range map[askback.Channel]string{
		askback.ChannelWeb:      "You answered this in another window: SQLite",
		askback.ChannelTerminal: "You answered this at the terminal: SQLite",
		askback.ChannelAPI:      "You answered this over the API: SQLite",
	} {
		h := newServer(t)
		a := h.ask(single)
		p := askback.Principal{Kind: askback.Responder, Name: "ana", Channel: via}
		if _, err := h.engine.As(p).Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
		page := h.browser("ana").send("/asks/"+a.ID, url.Values{"action": {"answer"}, "q1": {"0"}}, http.StatusConflict)
		if got := page.one(t, ".winner").visibleText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := page.one(t, "h1").visibleText(); got != "Already answered" {
			t.Errorf("the heading is %q", got)
		}
		if strings.Contains(page.visibleText(), "Yours did not") {
			t.Error("the page speaks of two people")
		}
	}
}

// If a person answers again after an earlier decision of their own, the page shows where that decision was
// made.
func TestLateAnswerPageNamesTheChannelOfOwnDecision(t *testing.T) {
	for decision, want := range map[askback.Decision]string{
		askback.Approve: "You approved this at the terminal", askback.ApproveAll: "You approved this at the terminal",
		askback.Deny: "You denied this at the terminal",
	} {
		h := newServer(t)
		a := h.ask(call)
		p := askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelTerminal}
		if _, err := h.engine.As(p).Answer(t.Context(), a.ID, askback.Decide(decision, "")); err != nil {
			t.Fatal(err)
		}
		page := h.browser("ana").send("/asks/"+a.ID, url.Values{"action": {"decline"}}, http.StatusConflict)
		if got := page.one(t, ".winner").visibleText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The page of a settled ask shows the question or the arguments unfolded, and does not
// repeat the reason.
func TestSettledPageShowsTheRequest(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	r := free
	r.Timeout = time.Minute
	expired := h.ask(r)
	h.now = h.now.Add(time.Hour)
	if err := errorOf(
		h.client(askback.Responder, "ana").Answer(t.Context(), expired.ID, askback.Answer{}),
	); err == nil {
		t.Fatal("the deadline did not pass")
	}
	page := ana.open("/asks/"+expired.ID, http.StatusOK)
	if got := page.one(t, "h1").visibleText(); got != "Expired" {
		t.Errorf("the heading is %q", got)
	}
	result := page.one(t, ".result").visibleText()
	if !strings.HasPrefix(result, "The deadline passed without an answer") ||
		!strings.Contains(result, "What should it be called?") {
		t.Errorf("the result is %s", result)
	}
	for _, twice := range []string{"Reason", "in time", "timer"} {
		if strings.Contains(result, twice) {
			t.Errorf("%q is in %s", twice, result)
		}
	}
	declined := h.ask(single)
	ana.settle(declined, url.Values{"action": {"decline"}})
	if got := ana.open("/asks/"+declined.ID,
		http.StatusOK).one(t, ".result").visibleText(); !strings.Contains(got, "Which database should we use?") {
		t.Errorf("the question is not in %s", got)
	}
	for action, label := range map[string]string{
		"approve": "Approved, exactly these arguments", "deny": "Not approved: the arguments",
	} {
		a := h.ask(call)
		ana.settle(a, url.Values{"action": {action}})
		got := ana.open("/asks/"+a.ID, http.StatusOK).one(t, ".result").visibleText()
		if !strings.Contains(got, label) || !strings.Contains(got, "drop table orders") {
			t.Errorf("after %s: %s", action, got)
		}
	}
}

// The header of a settled page must not read as if the agent had answered.
func TestSettledPageNamesTheAgentThatAsked(t *testing.T) {
	h := newServer(t)
	a := h.ask(single)
	ana := h.browser("ana")
	ana.settle(a, url.Values{"action": {"answer"}, "q1": {"1"}})
	if got := ana.open("/asks/"+a.ID,
		http.StatusOK).one(t, ".ask-header").visibleText(); !strings.HasPrefix(got, "Answered asked by deploy-bot") {
		t.Errorf("the head is %q", got)
	}
}

// The text at the button explains that declining settles the ask.
func TestDeclineIsExplained(t *testing.T) {
	h := newServer(t)
	for want, r := range map[string]askback.Request{
		"This ends the request without an answer.": single, "This ends the request without approval.": call,
	} {
		page := h.browser("ana").open("/asks/"+h.ask(r).ID, http.StatusOK)
		if got := page.one(t, ".decline").visibleText(); !strings.Contains(got, want) ||
			!strings.HasPrefix(got, "Decline to") {
			t.Errorf("it says %q, want %q", got, want)
		}
		if got := page.visibleText(); strings.Contains(got, "leave it open") || strings.Contains(got, "Neither") {
			t.Errorf("it says %s", got)
		}
	}
}

// The arguments distinguish two calls of the same tool. Long arguments are cut.
func TestListShowsTheArguments(t *testing.T) {
	h := newServer(t)
	long := `{"paths":["` + strings.Repeat("x yz", 2_000) + `"]}`
	for _, input := range []string{`{"to":"ben"}`, `{"to":"\u0065ve"}`, `{"to":"<b>\u202e"}`, long} {
		h.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "mail.send", Input: []byte(input)}})
		h.now = h.now.Add(time.Second)
	}
	var got []string
	for _, row := range h.browser("ana").open("/", http.StatusOK).all(".row .agent-text") {
		got = append(got, row.visibleText())
	}
	want := []string{
		`mail.send to: "ben"`, `mail.send to: "eve"`, `mail.send to: "<b>\u202e"`,
	}
	if len(got) != 4 || strings.Join(got[:3], "\n") != strings.Join(want, "\n") {
		t.Fatalf("got rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// A call that can be approved in the list is shown with its server (T3).
	served := h.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "mail.send", Server: "<b>production", Input: []byte(`{"to":"ben"}`),
	}})
	row := h.browser("ana").open("/", http.StatusOK).one(t, "#row-"+served.ID)
	if text, approves := row.visibleText(), len(row.all(".chip-approve")) == 1; !approves ||
		!strings.Contains(text, `mail.send on <b>production to: "ben"`) {
		t.Errorf("the row of a call of a server is %q, and approves it: %t", text, approves)
	}
	if last := got[3]; len(last) > 150 || !strings.HasSuffix(last, "…") {
		t.Errorf("a long row is %d bytes: %s", len(last), last)
	}
}

// An agent cannot push other asks off the screen with tags: a row shows only a few tags. The page of the ask
// shows all tags.
func TestRowShowsOnlyAFewTags(t *testing.T) {
	h := newServer(t)
	r := single
	for n := range 20 {
		r.Tags = append(r.Tags, "tag"+strconv.Itoa(n))
	}
	a := h.ask(r)
	ana := h.browser("ana")
	row := ana.open("/", http.StatusOK).one(t, "#row-"+a.ID)
	if n := len(row.all(".tag")); n != 4 || !strings.Contains(row.visibleText(), "16 more tags") {
		t.Errorf("the row has %d of 20 tags: %s", n, row.visibleText())
	}
	if page := ana.open("/asks/"+a.ID,
		http.StatusOK).one(t, "#detail").visibleText(); !strings.Contains(page, "tag19") {
		t.Errorf("the page of the ask has not all tags: %s", page)
	}
}

// If a person is logged in, error pages have the name and the log-out button, and /login shows who is logged
// in.
func TestErrorPagesKeepTheHeader(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	for _, path := range []string{"/nowhere", "/asks/ask_none"} {
		head := ana.open(path, http.StatusNotFound).one(t, ".top")
		if got := head.visibleText(); !strings.Contains(got, "ana") || !strings.Contains(got, "Log out") {
			t.Errorf("%s has the header %q", path, got)
		}
	}
	if got := (browser{h, ""}).open("/nowhere", http.StatusNotFound).one(t, ".top").visibleText(); got != "Askback" {
		t.Errorf("a visitor sees %q", got)
	}
	page := ana.open("/login", http.StatusOK)
	if got := page.visibleText(); !strings.Contains(got, "This browser is logged in as ana.") ||
		strings.Contains(got, "not logged in") {
		t.Errorf("/login says %s", got)
	}
	(browser{h, ""}).open("/login", http.StatusUnauthorized)
}
