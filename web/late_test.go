package web_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
)

// Late answers are on the page of their ask, in the history, and in the timeline of the session. They are
// after the answer that settled the ask. Late answers to asks of other people are not shown (F6).
func TestLateAnswersAreShown(t *testing.T) {
	h := newServer(t)
	agent := h.client(askback.Agent, "bot")
	s, err := agent.Start(t.Context(), askback.SessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	in := func(r askback.Request) askback.Ask {
		r.SessionID = s.ID
		return h.ask(r)
	}
	forBen := single
	forBen.To = []string{"ben"}
	asked, cancelled, secret := in(single), in(harmless), in(forBen)
	settle := func(name string, a askback.Ask, answer askback.Answer, late bool) {
		t.Helper()
		h.now = h.now.Add(time.Minute)
		if _, err := h.client(askback.Responder,
			name).Answer(t.Context(), a.ID, answer); errors.Is(err, askback.ErrSettled) != late || !late && err != nil {
			t.Fatal(err)
		}
	}
	settle("ana", asked, askback.Choose("SQLite"), false)
	answer := askback.Choose("PostgreSQL")
	answer.Comment = "<b>Ask</b> me first"
	settle("ben", asked, answer, true)
	h.now = h.now.Add(time.Minute)
	if _, err := agent.Cancel(t.Context(), cancelled.ID, ""); err != nil {
		t.Fatal(err)
	}
	settle("ben", cancelled, askback.Answer{Decision: askback.Deny, Reason: "not today"}, true)
	settle("ben", secret, askback.Choose("SQLite"), false)
	settle("ben", secret, askback.Choose("PostgreSQL"), true)

	b := h.browser("ana")
	for _, path := range []string{"/asks/" + asked.ID, "/history/" + asked.ID} {
		wantInOrder(t, b.open(path, http.StatusOK).one(t, "#detail"),
			"Answered by ana", "SQLite", "Too late", "did not reach the agent",
			"ben answered too late", "PostgreSQL", "<b>Ask</b> me first")
	}
	page := b.open("/sessions/"+s.ID, http.StatusOK).one(t, "#timeline")
	wantInOrder(t, page, "Answered by ana", "SQLite", "ben answered too late", "PostgreSQL", "<b>Ask</b> me first",
		"Withdrawn by the agent", "ben denied too late", "not today")
	if n := strings.Count(page.visibleText(), "too late"); n != 2 {
		t.Errorf("got %d late answers in the timeline of ana, want 2", n)
	}
	late, more,
		err := h.engine.Reports(askback.Principal{Kind: askback.Responder, Name: "ana"}).LateAnswers(t.Context(), s.ID)
	if err != nil || len(late) != 2 || more {
		t.Errorf("got %+v, %v, %v, want the two that ana may see", late, more, err)
	}
	if page := b.open("/asks/"+cancelled.ID, http.StatusOK).one(t, "#detail").visibleText(); strings.Contains(page,
		"PostgreSQL") || !strings.Contains(page, "ben denied too late") {
		t.Errorf("the page of an ask has not only its own late answer:\n%s", page)
	}
	one := h.ask(single) // asked in a separate session
	settle("ana", one, askback.Choose("SQLite"), false)
	if page := b.open("/asks/"+one.ID, http.StatusOK); len(page.all(".late")) != 0 {
		t.Error("an ask without a late answer shows one")
	}
	settle("ben", one, askback.Choose("PostgreSQL"), true)
	wantInOrder(t, b.open("/asks/"+one.ID, http.StatusOK).one(t, "#detail"), "ben answered too late", "PostgreSQL")
}

// wantInOrder requires texts to be on a page, in this order.
func wantInOrder(t *testing.T, n *node, texts ...string) {
	t.Helper()
	text, at := n.visibleText(), 0
	for _, want := range texts {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in order:\n%s", want, text)
		}
		at += i + len(want)
	}
}
