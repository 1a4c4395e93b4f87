package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/web"
)

// newHoldingServer returns a server whose answers can be undone for five seconds.
func newHoldingServer(t *testing.T) *server {
	h := newServer(t)
	h.engine.Set(engine.Settings{Undo: 5 * time.Second})
	return h
}

// give posts a form, requires a redirect to the next page, and returns its address.
func (b browser) give(path string, form url.Values) string {
	b.t.Helper()
	w := b.do(b.request(http.MethodPost, path, form))
	if w.Code != http.StatusSeeOther {
		b.t.Fatalf("got status %d, want 303:\n%s", w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// A decision can be undone on the next page, without scripts. The ask is pending until the decision is sent.
func TestDecisionCanBeUndone(t *testing.T) {
	h := newHoldingServer(t)
	a := h.ask(harmless)
	ana := h.browser("ana")
	next := ana.give("/asks/"+a.ID, url.Values{"action": {"approve"}, "then": {"list"}})
	page := ana.open(next, http.StatusOK)
	if got := page.one(t, "#held form p").visibleText(); !strings.Contains(got, "Approved") ||
		!strings.Contains(got, "Sent in 5 s") {
		t.Errorf("the bar has %q", got)
	}
	if _, ok := page.one(t, "#held form button").attr["autofocus"]; !ok {
		t.Error("Undo has no focus")
	}
	if h.get(a.ID).Settled() {
		t.Fatal("the decision was sent")
	}
	if ben := h.browser("ben").open("/",
		http.StatusOK); !strings.Contains(ben.one(t, "#row-"+a.ID).visibleText(), "ana has answered") {
		t.Error("other people do not see that ana has answered")
	}
	if row := page.one(t, "#row-"+a.ID); len(row.all(".quick")) > 0 ||
		!strings.Contains(row.visibleText(), "sent in a moment") {
		t.Errorf("the row can be answered again: %s", row.visibleText())
	}
	page = ana.open(ana.give("/undo", url.Values{"ask": {a.ID}}), http.StatusOK)
	if got := page.one(t, ".done-notice").visibleText(); !strings.Contains(got, "nothing was sent") {
		t.Errorf("the page says %q", got)
	}
	if len(page.all("#held form")) > 0 || h.get(a.ID).Settled() {
		t.Error("it was not undone")
	}
	h.now = h.now.Add(time.Minute)
	if _, err := h.client(askback.Responder, "ben").Claim(context.Background(), a.ID); err != nil {
		t.Errorf("after a minute: %v, want a pending ask", err)
	}
}

// after Undo, the form is as it was filled in
func TestUndoneAnswerIsInTheFormAgain(t *testing.T) {
	h := newHoldingServer(t)
	a := h.ask(single)
	ana := h.browser("ana")
	ana.give("/asks/"+a.ID, url.Values{"action": {"answer"}, "q1": {"1"}, "comment": {"because"}})
	page := ana.open(ana.give("/undo", url.Values{"ask": {a.ID}}), http.StatusOK)
	if len(page.all("#q1-1[checked]")) == 0 || page.one(t, "#comment").raw() != "\nbecause" {
		t.Error("the form has lost the answer")
	}
}

// A person reads the reason if the undo was too late, or if another answer was first.
func TestLateUndoShowsTheResult(t *testing.T) {
	h := newHoldingServer(t)
	sent, lost, undone := h.ask(harmless), h.ask(harmless), h.ask(harmless)
	ana := h.browser("ana")
	for _, a := range []askback.Ask{sent, lost, undone} {
		ana.give("/asks/"+a.ID, url.Values{"action": {"approve"}})
	}
	if _, err := h.client(askback.Responder,
		"ben").Answer(t.Context(), lost.ID, askback.Decide(askback.Deny, "no")); err != nil {
		t.Fatal(err)
	}
	elsewhere := h.ask(harmless)
	ana.give("/asks/"+elsewhere.ID, url.Values{"action": {"approve"}})
	if _, err := h.engine.As(askback.Principal{Kind: askback.Responder, Name: "ana"}).Answer(t.Context(), elsewhere.ID,
		askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	if got := ana.open("/held?ask="+elsewhere.ID,
		http.StatusOK).one(t, ".held-end").visibleText(); !strings.HasPrefix(got, "Not sent: it was denied by ana") {
		t.Errorf("got %q", got)
	}
	ana.give("/undo", url.Values{"ask": {undone.ID}})
	h.now = h.now.Add(6 * time.Second)
	if next := ana.give("/undo", url.Values{"ask": {sent.ID}}); !strings.HasSuffix(next, "?undone=late") {
		t.Errorf("got %s, want that it is too late", next)
	}
	page := ana.open("/held?ask="+sent.ID+"&ask="+lost.ID+"&ask="+undone.ID+"&ask=ask_unknown", http.StatusOK)
	var got []string
	for _, n := range page.all(".held-end") {
		got = append(got, n.visibleText())
	}
	want := []string{
		"Sent. View", "Not sent: it was denied by ben", "Undone: nothing was sent. View",
		"Not sent: you may no longer answer it.",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	if page := ana.open("/asks/"+lost.ID, http.StatusOK); !strings.Contains(page.visibleText(), "ben") {
		t.Error("the page does not say that ben was first")
	}
}

// Several decisions can be undone together.
func TestSeveralDecisionsCanBeUndone(t *testing.T) {
	h := newHoldingServer(t)
	form := url.Values{"action": {"approve"}}
	var ids []string
	for _, to := range []string{"ben", "eve", "cem", "dan"} {
		a := h.ask(mailTo(to))
		ids = append(ids, a.ID)
		form.Add("ask", a.ID+" "+a.Confirmation.Digest)
	}
	ana := h.browser("ana")
	page := ana.send("/decide", form, http.StatusOK)
	if got := page.all("#held form"); len(got) != 4 {
		t.Fatalf("the bar has %d forms, want 3 and one for all", len(got))
	}
	ana.give("/undo", url.Values{"ask": ids})
	h.now = h.now.Add(time.Minute)
	for _, id := range ids {
		if got, err := h.client(askback.Responder, "ben").Claim(t.Context(), id); err != nil {
			t.Errorf("%s: %v, want a pending ask, got %s", id, err, got.Status)
		}
	}
}

// newHoldingChromium returns a server in real time whose timer runs.
func newHoldingChromium(t *testing.T, undo time.Duration) *chromium {
	c := newChromium(t)
	c.engine = engine.New(memstore.New(), &engine.Options{Settings: engine.Settings{Undo: undo}})
	c.handler = web.New(c.engine, c.engine, c.engine, nil)
	done := make(chan struct{})
	go func() { defer close(done); _ = c.engine.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	return c
}

const undoHasFocus = `document.activeElement?.textContent === "Undo"`

// A key decides, and Undo gets the focus. A second window of the same person shows the answer and undoes it,
// and the first window shows the result.
func TestChromiumDecisionIsUndoneInAnotherWindow(t *testing.T) {
	c := newHoldingChromium(t, limits.MaxUndo)
	w, other := c.window(desktop), c.window(phone)
	w.login("ana")
	other.login("ana")
	a := c.ask(harmless)
	other.open("/")
	w.open("/asks/" + a.ID)
	w.waitUntilKeysDecide()
	w.typeKey("a")
	w.waitUntil(undoHasFocus)
	w.waitText("Approved", "Sent in")
	w.waitUntil(`document.getElementById("announcer").textContent.includes("Undo")`)
	other.waitText("Sent in", "sent in a moment")
	other.checkWidth()
	// The bar is loaded again while the form is sent, and arrives after the next page.
	other.Run(chromedp.Evaluate(`{ const now = fetch; fetch = (at, init) => String(at).startsWith("/held") ? new Promise((go) => setTimeout(go, 500)).then(() => now(at, init)) : now(at, init) }`, nil))
	other.Press("#held button")
	other.waitText("nothing was sent")
	other.Run(chromedp.Evaluate(`new Promise((done) => setTimeout(done, 1500))`, nil, awaitPromise))
	w.waitUntil(`document.getElementById("held").textContent.includes("nothing was sent")`)
	if n := strings.Count(other.Text(), "nothing was sent"); n != 1 {
		t.Errorf("the window of Undo says %d times that nothing was sent, want once", n)
	}
	if c.get(a.ID).Settled() {
		t.Error("it was sent")
	}
	c.Check(t)
}

// The key that decided undoes nothing while it is still pressed. A later press of u does.
func TestChromiumKeyThatDecidedDoesNotUndo(t *testing.T) {
	c := newHoldingChromium(t, limits.MaxUndo)
	w := c.window(desktop)
	w.login("ana")
	a := c.ask(harmless)
	w.open("/asks/" + a.ID)
	w.waitUntilKeysDecide()
	w.typeKey("a")
	w.waitUntil(undoHasFocus)
	w.Run(chromedp.Evaluate(`document.activeElement.click(); document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "u", bubbles: true}))`, nil))
	if _, held := held(c.get(a.ID)); !held {
		t.Error("the same press undid it")
	}
	w.Run(chromedp.KeyEvent("\x1b")) // Esc undoes nothing
	w.Run(chromedp.Evaluate(`new Promise((done) => setTimeout(done, 600))`, nil, awaitPromise))
	if _, held := held(c.get(a.ID)); !held {
		t.Error("Esc undid it")
	}
	w.typeKey("u")
	w.waitText("nothing was sent")
	if c.get(a.ID).Settled() {
		t.Error("it was sent")
	}
	c.Check(t)
}

// held returns ana's answer that is not sent yet. It reports false if there is no such answer.
func held(a askback.Ask) (askback.Held, bool) { return a.HeldBy("ana") }

// Without Undo, the answer is sent, and the bar confirms it. A closed page changes nothing.
func TestChromiumDecisionIsSentWithoutUndo(t *testing.T) {
	c := newHoldingChromium(t, time.Second)
	w := c.window(desktop)
	w.login("ana")
	a, b := c.ask(harmless), c.ask(mailTo("ben"))
	w.open("/asks/" + a.ID)
	w.waitUntilKeysDecide()
	w.typeKey("a")
	w.waitUntil(`document.getElementById("announcer").textContent.includes("Sent.")`)
	if o := c.outcome(a); !o.Approved() {
		t.Errorf("got %+v, want approved", o)
	}
	w.open("/asks/" + b.ID)
	w.waitUntilKeysDecide()
	w.typeKey("d")
	w.waitUntil(`!document.querySelector("form.ask[data-ask='` + b.ID + `']")`)
	w.Run(chromedp.Navigate("about:blank"))
	agent := c.client(askback.Agent, "bot")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := agent.Wait(ctx, b.ID); err != nil || got.Outcome.Decision != askback.Deny {
		t.Errorf("got %+v, %v, want denied", got.Outcome, err)
	}
	c.Check(t)
}
