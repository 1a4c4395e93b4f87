package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/store/memstore"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/web"
)

// wantRows opens a list, requires that its rows are the wanted asks in order, and returns the page.
func (b browser) wantRows(path string, want ...askback.Ask) *node {
	b.t.Helper()
	page := b.open(path, http.StatusOK)
	var got, ids []string
	for _, row := range page.all(".row") {
		got = append(got, row.attr["data-ask"])
	}
	for _, a := range want {
		ids = append(ids, a.ID)
	}
	if strings.Join(got, " ") != strings.Join(ids, " ") {
		b.t.Errorf("%s: got rows %q, want %q", path, got, ids)
	}
	return page
}

// A snoozed ask leaves the inbox of its person only. It is in the list of snoozed asks, and comes back with a
// mark, all without scripts (E6).
func TestSnoozedAskLeavesTheInbox(t *testing.T) {
	h := newServer(t)
	ana, ben := h.browser("ana"), h.browser("ben")
	one := h.ask(single)
	h.now = h.now.Add(time.Minute)
	two := h.ask(harmless)
	w := ana.do(ana.request(http.MethodPost, "/asks/"+one.ID+"/snooze",
		url.Values{"until": {"tomorrow"}, "then": {"next"}}))
	if got, want := w.Header().Get("Location"), "/asks/"+two.ID+"?done="+one.ID; w.Code != http.StatusSeeOther ||
		got != want {
		t.Fatalf("got status %d to %q, want 303 to %q", w.Code, got, want)
	}
	if got := ana.open("/asks/"+two.ID+"?done="+one.ID,
		http.StatusOK).one(t, ".done-notice").visibleText(); !strings.Contains(got, "Snoozed until tomorrow 09:00") {
		t.Errorf("the notice is %q", got)
	}
	page := ana.wantRows("/", two)
	if got := page.one(t, ".snoozed-link").visibleText(); got != "Snoozed (1)" {
		t.Errorf("the link is %q", got)
	}
	page = ana.wantRows("/?snoozed=only", one)
	if got := page.one(t, ".snooze-mark").visibleText(); got != "Snoozed until tomorrow 09:00 UTC" {
		t.Errorf("the mark is %q", got)
	}
	if page = ben.wantRows("/", one, two); strings.Contains(page.visibleText(), "Snoozed") {
		t.Error("another person learns of the snooze")
	}
	if got := ana.open("/asks/"+one.ID,
		http.StatusOK).one(t, ".snoozed-now").visibleText(); !strings.Contains(got, "Snoozed until tomorrow 09:00") {
		t.Errorf("the page of the ask has %q", got)
	}
	h.now = time.Date(2026, 11, 4, 9, 0, 0, 0, time.UTC)
	page = ana.wantRows("/", one, two)
	if got := page.one(t, ".snooze-mark").visibleText(); got != "Back since 09:00 UTC" ||
		len(page.all(".snoozed-link")) > 0 {
		t.Errorf("the mark is %q, and there are %d links to snoozed asks", got, len(page.all(".snoozed-link")))
	}
	ana.send("/asks/"+one.ID+"/snooze", url.Values{"until": {"own"}, "at": {"2026-11-04T10:00"}}, http.StatusSeeOther)
	ana.wantRows("/", two)
	ana.send("/asks/"+one.ID+"/snooze?snoozed=only", url.Values{"until": {"end"}, "then": {"list"}},
		http.StatusSeeOther)
	if page = ana.wantRows("/", one, two); len(page.all(".snooze-mark")) > 0 {
		t.Error("an ask that the person shows again has a mark")
	}
}

// A form with an invalid time changes nothing. A settled ask is not snoozed. Its page shows who settled it.
func TestInvalidSnoozesAreExplained(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	a := h.ask(single)
	for _, form := range []url.Values{
		{"until": {"own"}, "at": {""}},
		{"until": {"own"}, "at": {"2026-11-03T18:00"}},
		{"until": {"own"}, "at": {"2028-01-01T18:00"}},
		{"until": {"soon"}},
		{},
	} {
		page := ana.send("/asks/"+a.ID+"/snooze", form, http.StatusUnprocessableEntity)
		if !strings.Contains(page.visibleText(), "Choose a time in the future") {
			t.Errorf("%v: got page %q", form, page.visibleText())
		}
	}
	ana.wantRows("/", a)
	if _, err := h.client(askback.Responder, "ben").Decline(t.Context(), a.ID, ""); err != nil {
		t.Fatal(err)
	}
	w := ana.do(ana.request(http.MethodPost, "/asks/"+a.ID+"/snooze", url.Values{"until": {"1h"}}))
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/asks/"+a.ID {
		t.Errorf("settled: got status %d to %q, want 303 to the ask", w.Code, got)
	}
	ana.send("/asks/ask_unknown/snooze", url.Values{"until": {"1h"}}, http.StatusNotFound)
}

// A lockedRecorder records a reply, and can be read while the reply is written.
type lockedRecorder struct {
	mu       sync.Mutex
	response *httptest.ResponseRecorder
}

func (w *lockedRecorder) Header() http.Header { return w.response.Header() }

func (w *lockedRecorder) WriteHeader(status int) { w.response.WriteHeader(status) }

func (w *lockedRecorder) Flush() {}

func (w *lockedRecorder) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.response.Write(b)
}

func (w *lockedRecorder) body() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.response.Body.String()
}

// The row of a snoozed ask comes back on an open page without a reload, with its mark, even if the page
// reconnects later. The message with the row has no id, so the position of the stream does not change (E6,
// F11).
func TestLivePageShowsAskAfterItsSnooze(t *testing.T) {
	for _, late := range []time.Duration{-1, 0, 2 * time.Hour} { // -1 if the ask is snoozed while the page is open
		synctest.Test(t, func(t *testing.T) {
			e := engine.New(memstore.New(), nil)
			h := &server{t: t, engine: e, handler: web.New(e, e, e, nil)}
			ana := h.browser("ana")
			a := h.ask(single)
			snooze := func() {
				if _, err := h.client(askback.Responder,
					"ana").Snooze(t.Context(), a.ID, time.Now().Add(time.Hour)); err != nil {
					t.Error(err)
				}
			}
			if late >= 0 {
				snooze()
			}
			live := ana.open("/", http.StatusOK).one(t, "[hx-swap=none]").attr["connect"]
			<-time.After(late)
			ctx, stop := context.WithCancel(t.Context())
			r := ana.request(http.MethodGet, live, nil).WithContext(ctx)
			w := &lockedRecorder{response: httptest.NewRecorder()}
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.handler.ServeHTTP(w, r)
			}()
			if late < 0 {
				synctest.Wait()
				snooze()
			}
			<-time.After(time.Hour - time.Second)
			synctest.Wait()
			if early := w.body(); late <= 0 && strings.Contains(early, "row-"+a.ID) {
				t.Errorf("the row is sent early: %s", early)
			}
			<-time.After(2 * time.Second)
			synctest.Wait()
			stop()
			<-done
			if got := w.body(); strings.Count(got, `id="row-`+a.ID) != 1 || !strings.Contains(got, "snooze-mark") ||
				strings.Contains(got, "id: \n") {
				t.Errorf("got stream %s, want the row of the ask once, with a mark and without an id", got)
			}
		})
	}
}

// A list of snoozed asks gets the row of an ask that is snoozed after the page was rendered and before its
// stream begins.
func TestSnoozedListShowsAsksSnoozedBeforeItConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(memstore.New(), nil)
		h := &server{t: t, engine: e, handler: web.New(e, e, e, nil)}
		ana := h.browser("ana")
		known, missed := h.ask(single), h.ask(single)
		snooze := func(a askback.Ask) {
			if _, err := h.client(askback.Responder,
				"ana").Snooze(t.Context(), a.ID, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		snooze(known)
		live := func() string {
			return ana.open("/?snoozed=only", http.StatusOK).one(t, "[hx-swap=none]").attr["connect"]
		}
		stream := func(path string) string {
			ctx, stop := context.WithCancel(t.Context())
			w := &lockedRecorder{response: httptest.NewRecorder()}
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.handler.ServeHTTP(w, ana.request(http.MethodGet, path, nil).WithContext(ctx))
			}()
			synctest.Wait()
			stop()
			<-done
			return w.body()
		}
		before := live()
		if got := stream(before); strings.Contains(got, "row-") {
			t.Errorf("a page that has all gets %s", got)
		}
		snooze(missed)
		if got := stream(before); !strings.Contains(got, `id="row-`+missed.ID) {
			t.Errorf("got stream %s, want the row of the ask that the page does not have", got)
		}
	})
}

// An ask that is snoozed elsewhere leaves an open list immediately, and comes back when the snooze is ended.
// The link to the snoozed asks is updated. An open ask stays.
func TestChromiumSnoozeElsewhereIsLive(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	one, two := inOrder(c.ask(single), c.ask(single))
	w.open("/")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 2`)
	// the page is not loaded again
	w.Run(chromedp.Evaluate(`document.querySelector("#list").dataset.same = "true"`, nil))
	ana, ctx := c.client(askback.Responder, "ana"), context.Background()
	snooze := func(a askback.Ask, until time.Time) {
		t.Helper()
		if _, err := ana.Snooze(ctx, a.ID, until); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.client(askback.Responder, "ben").Snooze(ctx, two.ID, c.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	snooze(one, c.now.Add(time.Hour))
	w.waitGone("#row-" + one.ID)
	w.waitText("Snoozed (1)")
	w.waitTitle("(1) Inbox · Askback")
	w.waitUntil(`!!document.querySelector("#row-` + two.ID + `")`)
	if err := ana.Unsnooze(ctx, one.ID); err != nil {
		t.Fatal(err)
	}
	w.waitUntil(`document.querySelector("#list > .row").id === "row-` + one.ID +
		`" && !document.querySelector(".snoozed-link")`)
	w.waitUntil(`document.querySelector("#list").dataset.same === "true"`)
	w.open("/?snoozed=only")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 0`)
	snooze(two, c.now.Add(time.Hour))
	w.waitUntil(`!!document.querySelector("#row-` + two.ID + `")`)
	w.open("/asks/" + one.ID)
	snooze(one, c.now.Add(time.Hour))
	w.waitText("Snoozed (2)")
	w.waitUntil(`!!document.querySelector("#row-` + one.ID + `.is-current")`)
	c.Check(t)
}

// An ask that becomes old enough for the filter by age appears on an open page. A newer ask does not.
func TestLivePageShowsAskThatBecomesOldEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(memstore.New(), nil)
		h := &server{t: t, engine: e, handler: web.New(e, e, e, nil)}
		ana := h.browser("ana")
		first := h.ask(single)
		<-time.After(30 * time.Minute)
		second := h.ask(harmless)
		live := ana.open("/?age=1h", http.StatusOK).one(t, "[hx-swap=none]").attr["connect"]
		<-time.After(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		w := &lockedRecorder{response: httptest.NewRecorder()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.handler.ServeHTTP(w, ana.request(http.MethodGet, live, nil).WithContext(ctx))
		}()
		<-time.After(5 * time.Minute)
		third := h.ask(free)
		rows := func(after time.Duration, want ...askback.Ask) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			for _, a := range []askback.Ask{first, second, third} {
				n := 0
				if slices.ContainsFunc(want, func(one askback.Ask) bool { return one.ID == a.ID }) {
					n = 1
				}
				if got := strings.Count(w.body(), `id="row-`+a.ID); got != n {
					t.Errorf("after %s, the row of %s was sent %d times, want %d", after, a.ID, got, n)
				}
			}
		}
		rows(23 * time.Minute)
		rows(2*time.Minute, first)
		rows(28*time.Minute, first)
		rows(3*time.Minute, first, second)
		rows(time.Hour, first, second, third)
		stop()
		<-done
	})
}

// The keys s and Enter snooze the ask and open the next ask.
func TestChromiumAskIsSnoozedWithKeys(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	one, two := inOrder(c.ask(single), c.ask(single))
	w.open("/asks/" + one.ID)
	w.waitUntilKeysDecide()
	w.Run(chromedp.KeyEvent("s"))
	w.waitUntil(`document.activeElement.value === "1h"`)
	w.Run(chromedp.KeyEvent("\r"))
	w.waitAddress(func(address string) bool { return strings.Contains(address, two.ID) })
	w.waitText("Snoozed until", "Snoozed (1)")
	w.waitGone("#row-" + one.ID)
	w.waitTitle("(1) Question · Askback")
	w.Click(".snoozed-link")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 1`)
	w.Click(`#row-` + one.ID + ` button[value="end"]`)
	w.waitGone("#row-" + one.ID)
	w.open("/")
	w.waitText("(token bot)")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 2`)
	c.Check(t)
}
