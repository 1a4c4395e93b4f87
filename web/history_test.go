package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/web"
)

// settledAsks makes asks with all kinds of outcome, and returns them by name. Ben settled two of the asks two
// days ago. The others are settled now, the oldest ask last.
func (h *server) settledAsks() map[string]askback.Ask {
	h.t.Helper()
	ctx, now := context.Background(), h.now
	ana, ben := h.client(askback.Responder, "ana"), h.client(askback.Responder, "ben")
	must := func(a askback.Ask, err error) askback.Ask {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
		return a
	}
	tagged := harmless
	tagged.Tags = []string{"prod"}
	planner := single
	planner.Agent = "planner"
	h.now = now.AddDate(0, 0, -3)
	asks := map[string]askback.Ask{"approved": h.ask(tagged)}
	h.now = now.AddDate(0, 0, -2)
	asks["denied"], asks["declined"] = h.ask(call), h.ask(multi)
	asks["denied"] = must(ben.Answer(ctx, asks["denied"].ID, askback.Answer{Decision: askback.Deny}))
	asks["declined"] = must(ben.Decline(ctx, asks["declined"].ID, "not mine"))
	h.now = now.Add(-time.Hour)
	asks["answered"], asks["cancelled"] = h.ask(planner), h.ask(free)
	h.now = now
	h.ask(free)
	asks["answered"] = must(ana.Answer(ctx, asks["answered"].ID, askback.Choose("SQLite")))
	asks["cancelled"] = must(h.client(askback.Agent, "bot").Cancel(ctx, asks["cancelled"].ID, ""))
	asks["approved"] = must(ana.Answer(ctx, asks["approved"].ID, askback.Answer{Decision: askback.Approve}))
	return asks
}

// rowsOf returns the names of the asks in the list of a page, in order.
func rowsOf(page *node, asks map[string]askback.Ask) (names []string) {
	for _, row := range page.all("li.row") {
		for name, a := range asks {
			if row.attr["data-ask"] == a.ID {
				names = append(names, name)
			}
		}
	}
	return names
}

// The history has the settled asks with their outcome, and each filter selects some of them (E6).
func TestHistoryIsFiltered(t *testing.T) {
	h := newServer(t)
	asks, b := h.settledAsks(), h.browser("ana")
	for query, want := range map[string][]string{
		"":                               {"answered", "approved", "cancelled", "declined", "denied"},
		"outcome=approved":               {"approved"},
		"outcome=denied":                 {"denied"},
		"outcome=declined":               {"declined"},
		"outcome=cancelled":              {"cancelled"},
		"outcome=expired":                nil,
		"agent=planner":                  {"answered"},
		"person=ben":                     {"declined", "denied"},
		"tool=db.migrate":                {"denied"},
		"tag=prod":                       {"approved"},
		"q=which+data":                   {"answered"},
		"from=2026-11-01&to=2026-11-01":  {"declined", "denied"},
		"to=2026-10-31":                  nil,
		"to=2026-11-02&q=drop":           {"denied"},
		"from=2026-11-02&person=ana":     {"answered", "approved"},
		"person=ana&outcome=denied":      nil,
		"agent=&outcome=&person=&q=&to=": {"answered", "approved", "cancelled", "declined", "denied"},
	} {
		got := slices.Sorted(slices.Values(rowsOf(b.open("/history?"+query, http.StatusOK), asks)))
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"outcome=maybe", "outcome=pending", "from=yesterday", "to=2026-02-31", "cursor=x"} {
		b.open("/history?"+query, http.StatusNotFound)
	}
}

// The history, a search in the history and an export begin with the most recently settled ask. This holds
// even if the agent has acknowledged another ask since.
func TestHistoryListsTheLastSettledAskFirst(t *testing.T) {
	h := newServer(t)
	asks, b := h.settledAsks(), h.browser("ana")
	if _, err := h.client(askback.Agent, "bot").Ack(t.Context(), asks["denied"].ID); err != nil {
		t.Fatal(err)
	}
	want := []string{"approved", "cancelled", "answered", "declined", "denied"}
	if got := rowsOf(b.open("/history", http.StatusOK), asks); !slices.Equal(got, want) {
		t.Errorf("history: got %q, want %q", got, want)
	}
	if got, want := rowsOf(b.open("/history?q=bot", http.StatusOK),
		asks), []string{"approved", "cancelled", "declined", "denied"}; !slices.Equal(got, want) {
		t.Errorf("search: got %q, want %q", got, want)
	}
	var exported []string
	for line := range strings.Lines(b.do(b.request(http.MethodGet, "/history/export?format=csv", nil)).Body.String()) {
		for name, a := range asks {
			if strings.HasPrefix(line, a.ID) {
				exported = append(exported, name)
			}
		}
	}
	if !slices.Equal(exported, want) {
		t.Errorf("export: got %q, want %q", exported, want)
	}
}

// A row of the history has the answer, its author, the channel, and how long the answer took. The rows are
// grouped by day.
func TestHistoryRowShowsTheOutcome(t *testing.T) {
	h := newServer(t)
	asks := h.settledAsks()
	page := h.browser("ana").open("/history", http.StatusOK)
	row := page.one(t, "#row-"+asks["answered"].ID).visibleText()
	for _, want := range []string{
		"planner", "Which database should we use?", "SQLite", "Answered by ana in the browser", "after 1 h", "18:30",
	} {
		if !strings.Contains(row, want) {
			t.Errorf("the row does not contain %q:\n%s", want, row)
		}
	}
	var days []string
	for _, d := range page.all(".day") {
		days = append(days, strings.TrimSpace(d.visibleText()))
	}
	if want := []string{"Settled today", "Settled on Sunday, 1 November 2026"}; !slices.Equal(days, want) {
		t.Errorf("days: got %q, want %q", days, want)
	}
}

// The days and the times of the history are in the time zone of the pages.
func TestHistoryUsesTheTimeZone(t *testing.T) {
	h := newServer(t)
	asks := h.settledAsks()
	h.handler = web.New(h.engine, h.engine, h.engine,
		&web.Options{Now: func() time.Time { return h.now }, Zone: time.FixedZone("", 6*60*60)})
	b := h.browser("ana")
	if got := rowsOf(b.open("/history?from=2026-11-02&to=2026-11-02", http.StatusOK),
		asks); !slices.Equal(got, []string{"declined", "denied"}) {
		t.Errorf("got %q, want those settled at 18:30 UTC on the day before", got)
	}
	page := b.open("/history", http.StatusOK)
	var days []string
	for _, d := range page.all(".day") {
		days = append(days, strings.TrimSpace(d.visibleText()))
	}
	if want := []string{"Settled today", "Settled on Monday, 2 November 2026"}; !slices.Equal(days, want) {
		t.Errorf("days: got %q, want %q", days, want)
	}
	if row := page.one(t, "#row-"+asks["answered"].ID).visibleText(); !strings.Contains(row, "00:30") {
		t.Errorf("the row does not contain the time in the zone:\n%s", row)
	}
}

// The page of an ask in the history keeps the filters in all its links. An open ask has a separate page.
func TestAskInTheHistoryKeepsTheFilter(t *testing.T) {
	h := newServer(t)
	asks, b := h.settledAsks(), h.browser("ana")
	path := "/history/" + asks["denied"].ID
	page := b.open(path+"?person=ben&q=", http.StatusOK)
	if got := page.one(t, ".back a").attr["href"]; got != "/history?person=ben" {
		t.Errorf("back: got %q", got)
	}
	row := page.one(t, "#row-"+asks["declined"].ID)
	if got := row.one(t, ".row-link").attr["href"]; got != "/history/"+asks["declined"].ID+"?person=ben" {
		t.Errorf("another ask: got %q", got)
	}
	chip := page.one(t, ".filter-chips")
	if got := chip.one(t, "a").attr["href"]; got != "/history" {
		t.Errorf("the link that removes the filter: got %q", got)
	}
	page.one(t, "section.result")
	open := h.ask(single)
	if w := b.do(b.request(http.MethodGet, "/history/"+open.ID, nil)); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != "/asks/"+open.ID {
		t.Errorf("an open ask: got %d to %q", w.Code, w.Header().Get("Location"))
	}
}

// The history shows only asks that the person may see (T20).
func TestHistoryOmitsAsksOfOthers(t *testing.T) {
	h := newServer(t)
	private := single
	private.To = []string{"ben"}
	a := h.ask(private)
	if _, err := h.client(askback.Responder, "ben").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	b := h.browser("ana")
	for _, path := range []string{"/history", "/history?q=database", "/history?q=database&person=ben"} {
		b.wantRows(path)
		h.browser("ben").wantRows(path, a)
	}
	b.open("/history/"+a.ID, http.StatusNotFound)
}

// Each page of the history links to the next page, with the filters.
func TestPageOfHistoryLinksToTheNext(t *testing.T) {
	h := newServer(t)
	for i := range 60 {
		r := single
		r.Title = "Ask " + strconv.Itoa(i)
		a := h.ask(r)
		if _, err := h.client(askback.Responder,
			"ana").Answer(t.Context(), a.ID, askback.Choose("SQLite")); err != nil {
			t.Fatal(err)
		}
	}
	b := h.browser("ana")
	first := b.open("/history?person=ana", http.StatusOK)
	next, err := url.Parse(first.one(t, ".list-next a").attr["href"])
	if err != nil || next.Query().Get("person") != "ana" {
		t.Fatalf("next page: got %v, %v", next, err)
	}
	second := b.open(next.String(), http.StatusOK)
	if got := len(first.all("li.row")) + len(second.all("li.row")); got != 60 || len(second.all(".list-next")) != 0 {
		t.Errorf("got %d rows on two pages, want 60 and no third page", got)
	}
	link := second.all("li.row")[0].one(t, ".row-link").attr["href"]
	if !strings.Contains(link, "cursor=") {
		t.Errorf("the link of a row does not keep the page: %q", link)
	}
}

// In the history, j and k open one ask after the other next to the list (E6).
func TestChromiumKeysOpenAsksOfTheHistory(t *testing.T) {
	c := newChromium(t)
	asks := c.settledAsks()
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/history?person=ben")
	first, second := asks["declined"], asks["denied"]
	at := func(a askback.Ask) func(string) bool {
		return func(path string) bool { return strings.HasSuffix(path, "/history/"+a.ID+"?person=ben") }
	}
	w.Run(chromedp.KeyEvent("j"))
	w.waitAddress(at(first))
	w.Run(chromedp.KeyEvent("j"))
	w.waitAddress(at(second))
	w.waitUntil(`document.querySelector(".row.is-current").dataset.ask === "` + second.ID +
		`" && !!document.querySelector("#detail .result")`)
	w.Run(chromedp.KeyEvent("k"))
	w.waitAddress(at(first))
	w.Run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true })`, nil))
	w.checkAccessibility("history with an open ask")
	c.Check(t)
}

// On a phone, the history and its filters are usable with the keyboard and without scripts.
func TestChromiumHistoryWorksOnAPhone(t *testing.T) {
	c := newChromium(t)
	asks := c.settledAsks()
	w := c.window(phone)
	w.login("ana")
	w.open("/history")
	w.Click("#filters summary")
	w.typeInto(`[name="person"]`, "ben")
	w.Press(".filter-fields button")
	w.waitUntil(`document.querySelectorAll(".row").length === 2`)
	w.checkWidth()
	w.Click("#row-" + asks["denied"].ID + " .row-link")
	w.waitText("Denied by ben in the browser")
	w.waitText("‹ History")
	w.checkWidth()
	c.Check(t)
}

// A search marks the words that it found. Words of the agent are marked in the agent's block, and words of a
// person below the block. The search also finds text that the list does not show (E6).
func TestHistorySearchMarksTheFoundWords(t *testing.T) {
	h := newServer(t)
	asks, b := h.settledAsks(), h.browser("ana")
	page := b.open("/history?q=drop+tab", http.StatusOK)
	if got := rowsOf(page, asks); !slices.Equal(got, []string{"denied"}) {
		t.Fatalf("got %q, want the denied call", got)
	}
	found := page.one(t, ".snippet.agent-text")
	var marks []string
	for _, m := range found.all("mark") {
		marks = append(marks, m.raw())
	}
	if want := []string{"drop", "table"}; !slices.Equal(marks, want) {
		t.Errorf("marks: got %q, want %q", marks, want)
	}
	if got := strings.TrimSpace(found.raw()); !strings.Contains(got, `"drop table orders;`) {
		t.Errorf("got the snippet %q", got)
	}
	page = b.open("/history?q=mine", http.StatusOK)
	if got := strings.TrimSpace(page.one(t, ".snippet.plain-text").raw()); got != "not mine" ||
		len(page.all(".snippet.agent-text")) != 0 {
		t.Errorf("a reason: got the snippet %q", got)
	}
}
