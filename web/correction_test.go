package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

// The page of a settled ask explains what a person can do about a wrong answer.
func TestSettledPageExplainsHowToCorrectAnAnswer(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	question, approved := h.ask(single), h.ask(mailTo("ben"))
	ana.settle(question, url.Values{"action": {"answer"}, "q1": {"1"}})
	ana.settle(approved, url.Values{"action": {"approve"}})
	for a, want := range map[string]string{
		question.ID: "An answer cannot be changed. If it is wrong, tell the agent: it can ask again.",
		approved.ID: "An approval cannot be taken back. If it is wrong, stop the agent.",
	} {
		if got := ana.open("/asks/"+a, http.StatusOK).one(t, ".result").visibleText(); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A deadline of one ask can end the session and cancel the other asks. The pages of the other asks do not
// describe the deadline as their own.
func TestAskCancelledWithItsSessionIsNotShownAsExpired(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	short, other := single, single
	short.SessionKey, other.SessionKey = "run", "run"
	short.Timeout, short.OnTimeout = time.Minute, askback.OnTimeoutFail
	a, b := h.ask(other), h.ask(short)
	h.now = h.now.Add(time.Hour)
	ana.send("/asks/"+b.ID, url.Values{"action": {"answer"}, "q1": {"1"}}, http.StatusConflict)
	page := ana.open("/asks/"+a.ID, http.StatusOK).one(t, "#detail").visibleText()
	for _, want := range []string{"Cancelled when its session ended", "Reason no one answered " + b.ID + " in time"} {
		if !strings.Contains(page, want) {
			t.Errorf("got %q, want %q", page, want)
		}
	}
	late := ana.send("/asks/"+a.ID, url.Values{"action": {"answer"}, "q1": {"1"}}, http.StatusConflict)
	if got, want := late.one(t,
		".winner").visibleText(), "The session of the agent ended before your answer arrived"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(page, "Expired") || strings.Contains(page, "deadline") {
		t.Errorf("got %q", page)
	}
}

// Calls of one tool can be told apart by their arguments after they were decided together.
func TestDecidedCallsShowTheirArguments(t *testing.T) {
	h := newServer(t)
	one, two := h.ask(mailTo("ben")), h.ask(mailTo("eve"))
	page := h.browser("ana").send("/decide", url.Values{"action": {"approve"}, "ask": {boxOf(one), boxOf(two)}},
		http.StatusOK)
	for name, a := range map[string]askback.Ask{"ben": one, "eve": two} {
		var text string
		for _, n := range page.all(".bulk-line") {
			if strings.HasSuffix(n.attr["href"], a.ID) {
				text = n.visibleText()
			}
		}
		if !strings.Contains(text, name) {
			t.Errorf("the line of the call for %s is %q", name, text)
		}
	}
}
