package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/web"
)

// A form that was filled in and not sent is restored when its page is opened again. Each person has a
// separate draft. The word for a dangerous call is never restored.
func TestDraftIsRestoredAndDiscarded(t *testing.T) {
	h := newServer(t)
	ana, ben := h.browser("ana"), h.browser("ben")
	a := h.ask(form)
	values, _ := url.ParseQuery("then=next&q1=own&q1-other=Maria%0D%0ADB&q2=0&q2=2&q1-notes=hm&comment=fine")
	if w := ana.do(ana.request(http.MethodPost, "/asks/"+a.ID+"/draft", values)); w.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	for selector, want := range map[string]string{
		"#q1-other": "\nMaria\nDB", "#q1-notes": "\nhm", "#comment": "\nfine",
		".draft-notice strong": "Draft restored.",
	} {
		if got := page.one(t, selector).raw(); got != want {
			t.Errorf("%s has %q, want %q", selector, got, want)
		}
	}
	if n := len(page.all(".question input[checked]")); n != 3 {
		t.Errorf("%d choices are restored, want 3", n)
	}
	if n := len(ben.open("/asks/"+a.ID, http.StatusOK).all(".draft-notice")); n != 0 {
		t.Error("ben sees the draft of ana")
	}
	ana.send("/asks/"+a.ID+"/draft", url.Values{"discard": {"true"}}, http.StatusSeeOther)
	page = ana.open("/asks/"+a.ID, http.StatusOK)
	if len(page.all(".draft-notice"))+len(page.all(".question input[checked]")) != 0 ||
		page.one(t, "#comment").raw() != "\n" {
		t.Error("the draft is still there")
	}
	dangerous := h.ask(call)
	w := ana.do(ana.request(http.MethodPost, "/asks/"+dangerous.ID+"/draft",
		url.Values{"word": {"approve"}, "action": {"approve"}, "reason": {"because"}, "input": {edited}}))
	page = ana.open("/asks/"+dangerous.ID, http.StatusOK)
	if got := page.one(t, "#word").attr["value"]; w.Code != http.StatusNoContent || got != "" ||
		page.one(t, "#input").raw() != "\n"+edited {
		t.Errorf("status %d, the word is %q", w.Code, got)
	}
	for _, bad := range []string{"q1=7", "q1=-1"} {
		values, _ := url.ParseQuery(bad)
		ana.send("/asks/"+a.ID+"/draft", values, http.StatusBadRequest)
	}
}

// A rejected form is a draft, too. This works without scripts.
func TestRejectedFormIsKeptAsDraft(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	a := h.ask(form)
	ana.send("/asks/"+a.ID, url.Values{"action": {"answer"}, "q1": {"1"}, "comment": {"half done"}},
		http.StatusUnprocessableEntity)
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	if got := page.one(t, "#comment").raw(); got != "\nhalf done" || !has(page.one(t, "#q1-1"), "checked") {
		t.Errorf("the comment is %q", got)
	}
	raw, err := h.client(askback.Responder, "ana").Draft(context.Background(), a.ID)
	if err != nil || !json.Valid(raw) || strings.Contains(string(raw), "action") {
		t.Errorf("the draft is %s, %v", raw, err)
	}
}

// A server is killed while a form is half filled. The page keeps the form and reports it. The next server has
// the draft, even for another browser, and takes the answer.
func TestChromiumKilledServerLosesNothingTyped(t *testing.T) {
	c := newChromium(t)
	records := memstore.New()
	start := func() http.Handler {
		c.engine = engine.New(records, &engine.Options{Now: func() time.Time { return c.now }})
		return web.New(c.engine, c.engine, c.engine, &web.Options{Now: func() time.Time { return c.now }})
	}
	var running atomic.Pointer[http.Handler]
	first := start()
	running.Store(&first)
	c.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := running.Load(); h != nil {
			(*h).ServeHTTP(w, r)
			return
		}
		panic(http.ErrAbortHandler) // the connection breaks, as after a crash of the server
	})
	w := c.window(desktop)
	w.login("ana")
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	w.typeInto("#q1-other", "MariaDB, because")
	w.waitDraft(a, "MariaDB, because")
	running.Store(nil)
	w.typeInto("#q1-other", " we know it")
	w.Click(".bar button[value=answer]")
	w.waitText("Not sent: the server cannot be reached. What you filled in is still here.")
	var typed string
	if w.Run(chromedp.Value("#q1-other", &typed, chromedp.ByQuery)); typed != "MariaDB, because we know it" {
		t.Errorf("the field has %q", typed)
	}
	second := start()
	running.Store(&second)
	w.waitDraft(a, "MariaDB, because we know it") // the draft is saved as soon as a server runs
	other := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: true})
	other.login("ana")
	other.open("/asks/" + a.ID)
	other.wantText("Draft restored.")
	if other.Run(chromedp.Value("#q1-other", &typed, chromedp.ByQuery)); typed != "MariaDB, because we know it" {
		t.Errorf("another browser has %q", typed)
	}
	w.Press(".bar button[value=answer]")
	w.waitText("All clear")
	if got := c.outcome(a).Answers[0].Other; got != "MariaDB, because we know it" {
		t.Errorf("the answer is %q", got)
	}
}

// A draft is saved when a person leaves the page, but not after the draft was discarded or sent.
func TestChromiumDraftIsSavedOnLeaving(t *testing.T) {
	c := newWholeChromium(t)
	w := c.window(desktop)
	w.login("ana")
	one, two := inOrder(c.ask(single), c.ask(free))
	w.open("/asks/" + one.ID)
	w.typeInto("#q1-other", "half a thought")
	w.Run(chromedp.Evaluate(`document.querySelector("#row-`+two.ID+` .row-link").click()`, nil))
	w.waitUntil(`document.querySelector("form.ask")?.dataset.ask === "` + two.ID + `"`)
	w.waitDraft(one, "half a thought")
	w.Run(chromedp.Evaluate(`document.querySelector("#row-`+one.ID+` .row-link").click()`, nil))
	w.waitText("Draft restored.")
	w.Press(".draft-notice button")
	w.waitGone(".draft-notice")
	if raw, err := c.client(askback.Responder,
		"ana").Draft(context.Background(), one.ID); strings.Contains(string(raw), "half") || err != nil {
		t.Errorf("the draft is %s, %v", raw, err)
	}
	w.typeInto("#q1-other", "last words")
	w.open("/history") // leaves the page immediately
	w.waitDraft(one, "last words")
	c.Check(t)
}

// waitDraft waits until the server has a draft with this text.
func (w window) waitDraft(a askback.Ask, text string) {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(20 * time.Millisecond); ; {
			raw, err := w.client(askback.Responder, "ana").Draft(ctx, a.ID)
			if err != nil || strings.Contains(string(raw), `"`+text+`"`) {
				return err
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}))
}
