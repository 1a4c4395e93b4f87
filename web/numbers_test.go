package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
)

// fill makes asks with every outcome. Ben answered an ask after ten minutes, and ana declined an ask. An ask
// for ana is open, and a standing approval of ben answered an ask.
func (h *server) fill() {
	h.t.Helper()
	ctx := h.t.Context()
	ben, ana := h.client(askback.Responder, "ben"), h.client(askback.Responder, "ana")
	first, second := h.ask(single), h.ask(single)
	h.now = h.now.Add(10 * time.Minute)
	h.grant(askback.ScopeTool)
	h.ask(harmless)
	open := single
	open.Agent, open.To = "planner", []string{"ana"}
	h.ask(open)
	if _, err := ben.Answer(ctx, first.ID, askback.Choose("SQLite")); err != nil {
		h.t.Fatal(err)
	}
	if _, err := ana.Decline(ctx, second.ID, ""); err != nil {
		h.t.Fatal(err)
	}
	h.now = h.now.Add(20 * time.Minute)
}

// Each agent has its open asks, its waiting time, and links to its asks. An agent with a token is listed
// before its first ask (F16).
func TestAgentsPageShowsHowLongAgentsWait(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	if got := ana.open("/agents",
		http.StatusOK).one(t, ".notice").visibleText(); !strings.Contains(got, "askback init") {
		t.Errorf("the empty page says %q", got)
	}
	h.fill()
	h.secret(askback.Agent, "quiet")
	rows := ana.open("/agents", http.StatusOK).all(".figures")
	want := []string{
		"deploy-bot (token bot ) open 0 asked 4 median wait 5 min last seen 20 minutes ago standing approvals 1 " +
			"Open asks History Standing approvals",
		"planner (token bot ) open 1 asked 1 median wait – last seen 20 minutes ago standing approvals 0 Open asks " +
			"History Standing approvals",
		"quiet open 0 asked 0 median wait – last seen – standing approvals 0 Open asks History Standing approvals",
	}
	if len(rows) != len(want) {
		t.Fatalf("got %d agents, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if got := row.visibleText(); got != want[i] {
			t.Errorf("got %s\nwant %s", got, want[i])
		}
	}
	links := rows[1].all(".figure-links a")
	if n := len(ana.open(links[0].attr["href"], http.StatusOK).all("#list .row")); n != 1 {
		t.Errorf("the link to open asks leads to %d", n)
	}
	for _, l := range links[1:] {
		ana.open(l.attr["href"], http.StatusOK)
	}
}

// The page shows how many asks each person has answered, and how many open asks each person has. A person who
// answered is listed even without a token (F16).
func TestPeoplePageShowsWhoAnswered(t *testing.T) {
	h := newServer(t)
	h.fill()
	ana := h.browser("ana")
	h.secret(askback.Responder, "ben")
	h.ask(free) // an ask for every person
	denied, answered := h.ask(call), h.ask(single)
	h.now = h.now.Add(4 * time.Minute)
	if _, err := h.client(askback.Responder,
		"ana").Answer(t.Context(), denied.ID, askback.Answer{Decision: askback.Deny}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.client(askback.Responder,
		"zoe").Answer(t.Context(), answered.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range ana.open("/people", http.StatusOK).all(".figures") {
		got = append(got, row.visibleText())
	}
	want := []string{
		"ana you has only a token open for them 2 answered 1 approved 0 denied 1 median wait 4 min",
		"ben has only a token open for them 1 answered 2 approved 1 denied 0 median wait 5 min",
		"zoe open for them 0 answered 1 approved 0 denied 0 median wait 4 min",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The page of numbers has tables with all values. Its charts have no text, no styles and no role (F16, A6).
func TestNumbersPageShowsWaitsAndOutcomes(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	if got := ana.open("/numbers", http.StatusOK).visibleText(); !strings.Contains(got, "No answers in this period.") {
		t.Errorf("the empty page says %s", got)
	}
	h.fill()
	page := ana.open("/numbers", http.StatusOK)
	for part, want := range map[string]string{
		".facts": "asked 5 answered by people 2 median time to answer 5 min 90% answered within 10 min",
		"table[aria-labelledby=outcomes] tbody": "answered by a person 2 answered by a standing approval 1 declined " +
			"by a person 1",
		"table[aria-labelledby=agents] tbody": "deploy-bot (token bot ) 2 5 min 10 min",
		"table[aria-labelledby=people] tbody": "ben 2 5 min 10 min",
	} {
		if got := page.one(t, part).visibleText(); got != want {
			t.Errorf("%s: got %s\nwant %s", part, got, want)
		}
	}
	for period, bars := range map[string]int{"": 24, "24h": 24, "7d": 28, "30d": 30, "%00": 24} {
		page := ana.open("/numbers?period="+period, http.StatusOK)
		if n, rows := len(page.all(".chart-waiting rect")),
			len(page.all("table[aria-labelledby=waiting] tbody tr")); n != bars || rows != bars {
			t.Errorf("%s: %d bars and %d rows, want %d", period, n, rows, bars)
		}
	}
	for _, svg := range page.all("svg") {
		if svg.attr["aria-hidden"] != "true" || svg.visibleText() != "" || len(svg.all("[style]")) != 0 {
			t.Errorf("a chart has %v", svg.attr)
		}
	}
}

// A visitor and an agent get none of these pages, and forms change nothing.
func TestFiguresRequireAPerson(t *testing.T) {
	h := newServer(t)
	h.fill()
	for _, path := range []string{"/agents", "/people", "/numbers"} {
		(browser{h, ""}).open(path, http.StatusUnauthorized)
		(browser{h, h.secret(askback.Agent, "bot")}).open(path, http.StatusForbidden)
		if w := h.do(h.browser("ana").request(http.MethodPost, path, url.Values{})); w.Code < 400 {
			t.Errorf("POST %s: status %d", path, w.Code)
		}
	}
}

// The header fits into windows on both sides of each breakpoint.
func TestChromiumNavigationFitsTheWindow(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/")
	for _, width := range []int64{360, 639, 640, 700, 736, 895, 896, 1000} {
		w.look(width, "light")
		w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
	}
	c.Check(t)
}

// In a wide window, the menu of the header opens and closes by keyboard, and leads to pages. These pages fit
// a phone and violate no rule of WCAG 2.2 AA.
func TestChromiumMenuOpensPagesByKeyboard(t *testing.T) {
	c := newChromium(t)
	c.fill()
	w := c.window(desktop)
	w.login("ana")
	w.open("/")
	w.Run(chromedp.Focus(".nav-menu summary", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	w.waitUntil(`document.querySelector(".nav-menu").open`)
	w.Run(chromedp.KeyEvent(kb.Escape))
	w.waitUntil(`!document.querySelector(".nav-menu").open && document.activeElement.matches(".nav-menu summary")`)
	w.Run(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab+kb.Tab+kb.Tab+kb.Tab), chromedp.KeyEvent(kb.Enter))
	w.waitText("90% answered within")
	w.waitUntil(`!document.querySelector(".nav-menu").open && document.querySelector(".nav-menu summary").matches(".is-current")`)
	for _, path := range []string{"/numbers?period=7d", "/agents", "/people", "/more"} {
		w.open(path)
		w.Run(chromedp.Evaluate(`document.querySelectorAll("main details").forEach((d) => { d.open = true })`, nil))
		w.checkAccessibility(path)
		w.look(360, "light")
		w.waitUntil("document.documentElement.scrollWidth <= innerWidth")
		w.look(1100, "light")
	}
	c.Check(t)
}
