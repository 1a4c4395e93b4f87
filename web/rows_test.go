package web_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// The rows of a further page come without a page around them. Their links lead to asks of the
// whole list.
func TestRowsAreSentWithoutAPage(t *testing.T) {
	h := newServer(t)
	for range 201 {
		h.ask(single)
	}
	ana := h.browser("ana")
	first := ana.open("/", http.StatusOK)
	_, query, _ := strings.Cut(first.one(t, ".list-next a").attr["href"], "?")
	rest := ana.open("/rows?"+query, http.StatusOK)
	if rows := rest.all("#more-rows .row"); len(rows) != 1 || len(rest.all("html")) != 0 ||
		len(rest.all(".list-next")) != 0 {
		t.Fatalf("got %d rows, in a page or with a link", len(rows))
	}
	if href := rest.one(t, ".row-link").attr["href"]; strings.Contains(href, "?") {
		t.Errorf("a row leads to %s", href)
	}
	browser{h, ""}.open("/rows", http.StatusUnauthorized)
}

// A list of a thousand open asks loads its pages while a person scrolls. Each ask has one row, in order. The
// rows stay when an ask is opened. The number of asks includes new asks on pages that are not loaded.
func TestChromiumThousandAsksAreScrolled(t *testing.T) {
	c := newChromium(t)
	last := ""
	for range 1000 {
		last = c.ask(free).ID
	}
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/")
	w.waitTitle("(200+) Inbox · Askback")
	c.ask(free)
	w.waitTitle("(201+) Inbox · Askback")
	toEnd := `(() => { const pane = document.querySelector(".list-pane"); pane.scrollTop = pane.scrollHeight; return document.querySelectorAll("#list .row").length === 1001; })()`
	w.waitUntil(toEnd)
	w.waitTitle("(1001) Inbox · Askback")
	checkRows := func() {
		t.Helper()
		w.waitUntil(`[...document.querySelectorAll("#list > .row")].every((row) => getComputedStyle(row).contentVisibility === "auto")`)
		var got struct {
			Rows, IDs  int
			Sorted     bool
			Next, More bool
		}
		w.Run(chromedp.Evaluate(`(() => {
			const rows = [...document.querySelectorAll("#list > .row")], places = rows.map((row) => row.dataset.place);
			return {Rows: rows.length, IDs: new Set(rows.map((row) => row.id)).size, Sorted: places.every((p, i) => i === 0 || places[i - 1] < p),
				Next: document.querySelector(".list-next a") !== null, More: document.querySelector("#list").hasAttribute("data-more")};
		})()`, &got))
		if got.Rows != 1001 || got.IDs != 1001 || !got.Sorted || got.Next || got.More {
			t.Errorf("got %+v, want 1001 rows in order, and no further page", got)
		}
	}
	checkRows()
	var heights []float64
	w.Run(chromedp.Evaluate(`(async () => {
		const pane = document.querySelector(".list-pane"), heights = [];
		for (const top of [pane.scrollHeight, 0, pane.scrollHeight / 2, pane.scrollHeight / 2 - 2000, pane.scrollHeight]) {
			pane.scrollTop = top;
			for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
			heights.push(pane.scrollHeight);
		}
		return heights;
	})()`, &heights, awaitPromise))
	if slices.Min(heights) != slices.Max(heights) {
		t.Errorf("the list is %v px high while it is scrolled, want one height", heights)
	}
	w.Run(chromedp.Evaluate(`document.querySelector("#row-`+last+` .row-link").click()`, nil))
	w.waitUntil(`document.querySelector("form.ask")?.dataset.ask === "` + last + `"`)
	w.waitUntil(`document.querySelector("#row-` + last + `").classList.contains("is-current")`)
	checkRows()
	var inView bool
	w.Run(
		chromedp.Evaluate(`document.querySelector("#row-`+last+`").getBoundingClientRect().top < innerHeight`, &inView),
	)
	if !inView {
		t.Error("the row of the open ask is not in view")
	}
	c.Check(t)
}

// The live list applies the filter by age, too: a new ask is not sent to a list of old asks.
func TestLiveListOfOldAsksOmitsNewAsks(t *testing.T) {
	h := newServer(t)
	old := h.ask(single)
	h.now = h.now.Add(2 * time.Hour)
	ana := h.browser("ana")
	address := ana.open("/?age=1h", http.StatusOK).one(t, "[connect]").attr["connect"]
	server := httptest.NewServer(h.handler)
	defer server.Close()
	h.ask(single)
	if _, err := h.client(askback.Responder, "ben").Decline(t.Context(), old.ID, ""); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "askback", Value: ana.secret})
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	for lines := bufio.NewScanner(reply.Body); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), `data-ask="`); ok {
			if id, _, _ := strings.Cut(rest, `"`); id != old.ID {
				t.Errorf("the first row is of %s, want %s", id, old.ID)
			}
			return
		}
	}
	t.Error("the stream has no row")
}

// After an answer, the next ask is the ask below, even on a further page of the list. After the last ask, the
// next ask is the first ask.
func TestNextAskFollowsOnFurtherPages(t *testing.T) {
	h := newServer(t)
	var asks []askback.Ask
	for range 450 {
		asks = append(asks, h.ask(free))
	}
	slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(a.ID, b.ID) })
	ana := h.browser("ana")
	answer := func(n int, then string) string {
		form := url.Values{"action": {"answer"}, "q1-other": {"fine"}, "then": {then}}
		w := ana.do(ana.request(http.MethodPost, "/asks/"+asks[n].ID, form))
		if w.Code != http.StatusSeeOther {
			t.Fatalf("got status %d: %s", w.Code, w.Body)
		}
		return w.Header().Get("Location")
	}
	if _, err := h.client(askback.Responder, "ana").Snooze(t.Context(), asks[7].ID, h.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		n    int
		then string
		next int
	}{
		{3, "next", 4},
		{199, "next", 200},
		{200, "next", 201},
		{420, "next", 421},
		{449, "next", 0},
		{5, asks[300].ID, 300}, // ids that a script sends
		{6, asks[3].ID, 8},
		{9, asks[7].ID, 10},
		{10, "ask_unknown", 11}, // settled, hidden, unknown
	} {
		if got, want := answer(tc.n, tc.then), "/asks/"+asks[tc.next].ID+"?done="+asks[tc.n].ID; got != want {
			t.Errorf("ask %d, then %s: got %s, want ask %d", tc.n, tc.then, got, tc.next)
		}
	}
}

// In a list that is grouped and has several loaded pages, the next ask is in the row below.
func TestChromiumNextAskIsTheRowBelow(t *testing.T) {
	c := newChromium(t)
	for n := range 410 {
		r := free
		r.Agent = []string{"one", "two"}[n%2]
		c.ask(r)
	}
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/?group=agent")
	w.waitUntil(`(() => { const pane = document.querySelector(".list-pane"); pane.scrollTop = pane.scrollHeight; return document.querySelectorAll("#list .row").length === 410; })()`)
	var ids []string
	w.Run(chromedp.Evaluate(
		`[...document.querySelectorAll("#list > .row")].slice(150, 152).map((row) => row.dataset.ask)`, &ids,
	))
	w.Run(chromedp.Evaluate(`document.querySelector("#row-`+ids[0]+` .row-link").click()`, nil))
	w.waitUntil(`document.querySelector("form.ask")?.dataset.ask === "` + ids[0] +
		`" && document.querySelector("#row-` + ids[0] + `").classList.contains("is-current")`)
	w.typeInto("#q1-other", "fine")
	w.waitUntilKeysDecide()
	w.Click("form.ask button[value=answer]")
	w.waitUntil(`document.querySelector("form.ask")?.dataset.ask === "` + ids[1] + `"`)
	c.Check(t)
}
