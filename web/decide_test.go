package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/racedetector"
)

// label returns a call that labels a ticket, which is not dangerous.
func label(ticket string) askback.Request {
	return askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "tickets.label", Input: json.RawMessage(`{"ticket":"` + ticket + `"}`),
	}}
}

// boxOf returns the value of the checkbox of a call.
func boxOf(a askback.Ask) string { return a.ID + " " + a.Confirmation.Digest }

// Several calls are approved after their exact arguments were shown. Dangerous calls and questions are never
// decided together with others (D1, F4, T12).
func TestSeveralCallsAreDecidedAfterTheyAreShown(t *testing.T) {
	h := newServer(t)
	one, two, danger, question, settled := h.ask(label("one")), h.ask(label("two")), h.ask(call), h.ask(single),
		h.ask(harmless)
	hidden := h.ask(label("a\u200bb"))
	ana := h.browser("ana")
	ana.settle(settled, url.Values{"action": {"deny"}})
	query := url.Values{}
	for _, a := range []askback.Ask{one, two, danger, question, settled, hidden, one} {
		query.Add("ask", a.ID)
	}
	query.Add("ask", "ask_unknown")
	page := ana.open("/decide?"+query.Encode(), http.StatusOK)
	var got []string
	for _, n := range page.all(".bulk input[name=ask]") {
		got = append(got, n.attr["value"])
	}
	if d := cmp.Diff([]string{boxOf(one), boxOf(two)}, got); d != "" {
		t.Error(d)
	}
	for _, want := range []string{`"ticket": "one"`, "tickets.label", "1 ask of your selection"} {
		if !strings.Contains(page.visibleText(), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	// the Enter key presses the first button of a form, which decides nothing
	first := page.one(t, "form.bulk").all("button")[0]
	if _, disabled := first.attr["disabled"]; !disabled || first.attr["name"] != "" {
		t.Errorf("Enter presses %v", first.attr)
	}
	got = nil
	for _, n := range page.all(".bulk-rest a") {
		got = append(got, n.attr["href"])
	}
	if d := cmp.Diff(
		[]string{"/asks/" + danger.ID, "/asks/" + hidden.ID, "/asks/" + question.ID, "/asks/" + settled.ID}, got,
	); d != "" {
		t.Error(d)
	}
	if _, err := h.client(askback.Responder,
		"ben").Answer(context.Background(), two.ID, askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	page = ana.send("/decide", url.Values{
		"action": {"approve"}, "ask": {boxOf(one), boxOf(two), boxOf(danger), question.ID + " ", boxOf(hidden)},
	}, http.StatusConflict)
	if got, want := page.one(t, "h1").visibleText(), "1 call approved, 4 not"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if text := page.one(t, ".problems").visibleText(); !strings.Contains(text,
		"It was settled before. Denied by ben in the browser.") {
		t.Errorf("the reason is not in %q", text)
	}
	if !h.get(one.ID).Outcome.Approved() || h.get(two.ID).Outcome.Approved() {
		t.Error("the wrong call is approved")
	}
	for _, a := range []askback.Ask{danger, question, hidden} {
		if h.get(a.ID).Settled() {
			t.Errorf("%s is settled", a.ID)
		}
	}
}

// The form names each call by the digest of the shown call. Another digest or a missing digest decides
// nothing (T3).
func TestCallThatWasNotShownIsNotDecided(t *testing.T) {
	h := newServer(t)
	a, other := h.ask(label("one")), h.ask(label("two"))
	ana := h.browser("ana")
	for _, box := range []string{
		a.ID, a.ID + " ", a.ID + " " + other.Confirmation.Digest, " " + a.Confirmation.Digest,
	} {
		ana.send("/decide", url.Values{"action": {"approve"}, "ask": {box}}, http.StatusConflict)
	}
	ana.send("/decide", url.Values{"action": {"approve_all"}, "ask": {boxOf(a)}}, http.StatusBadRequest)
	if h.get(a.ID).Settled() || h.get(other.ID).Settled() {
		t.Error("a call is settled")
	}
	mine := label("three")
	mine.To = []string{"ben"}
	theirs := h.ask(mine)
	ana.send("/decide", url.Values{"action": {"approve"}, "ask": {boxOf(theirs)}}, http.StatusConflict)
	if a, _ := h.client(askback.Responder, "ben").Get(context.Background(), theirs.ID); a.Settled() {
		t.Error("ana decided a call for ben")
	}
}

// Calls with long arguments are decided only if a person checks their box.
func TestLongCallIsNotSelectedByDefault(t *testing.T) {
	h := newServer(t)
	input, _ := json.Marshal(map[string]any{"lines": make([]int, 100)})
	a := h.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "edit", Input: input}})
	page := h.browser("ana").open("/decide?ask="+a.ID, http.StatusOK)
	if _, is := page.one(t, ".bulk input[name=ask]").attr["checked"]; is {
		t.Error("the box is ticked")
	}
}

// Without scripts, a person can decide the calls that are selected with boxes, or all calls of a session.
func TestChromiumSeveralAreDecidedWithoutScripts(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: true})
	w.login("ana")
	one, two := c.ask(label("one")), c.ask(label("two"))
	w.open("/")
	w.Press(".select-mode")
	w.Click("#row-" + one.ID + " .row-select input")
	w.Click("#row-" + two.ID + " .row-select input")
	w.checkWidth()
	w.Press("#decide button")
	w.wantText("Decide 2 calls", "tickets.label")
	w.checkWidth()
	w.Press(".bulk .approve")
	w.wantText("2 calls approved")
	if !c.outcome(one).Approved() || !c.outcome(two).Approved() {
		t.Error("the calls are not approved")
	}
	for i := range 3 {
		r := label(fmt.Sprint("s", i))
		r.SessionKey = "run"
		c.ask(r)
	}
	w.open("/?group=session")
	w.Press(".decide-session")
	w.wantText("Decide 3 calls")
	c.Check(t)
}

// The key x selects, Shift+X selects a range, and D decides. The selection survives changes of the list (C5,
// F11).
func TestChromiumKeysSelectSeveral(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	var asks []askback.Ask
	for i := range 4 {
		asks = append(asks, c.ask(label(fmt.Sprint(i))))
	}
	slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(a.ID, b.ID) })
	w.open("/")
	w.next("j", asks[0].ID)
	w.Run(chromedp.KeyEvent("x"))
	w.next("j", asks[1].ID)
	w.next("j", asks[2].ID)
	w.Run(chromedp.KeyEvent("X"))
	w.waitUntil(`document.querySelectorAll(".row-select input:checked").length === 3 && document.querySelector("#decide button").textContent === "Decide 3…"`)
	last := c.ask(label("later"))
	w.waitUntil(`!!document.getElementById("row-` + last.ID +
		`") && document.querySelectorAll(".row-select input:checked").length === 3`)
	if _, err := c.client(askback.Responder,
		"ben").Answer(context.Background(), asks[1].ID, askback.Decide(askback.Deny, "")); err != nil {
		t.Fatal(err)
	}
	w.waitUntil(`document.querySelector("#decide button").textContent === "Decide 2…"`)
	w.Run(chromedp.KeyEvent("d"))
	w.waitUntil(`location.pathname === "/decide" && document.body.dataset.keys === "ready" && document.querySelector(".bulk .approve")?.textContent === "Approve 2"`)
	w.Press(".bulk .approve")
	w.waitText("2 calls approved")
	for i, want := range []bool{true, false, true} {
		if got := c.outcome(asks[i]).Approved(); got != want {
			t.Errorf("%d: approved is %v, want %v", i, got, want)
		}
	}
	if c.get(asks[3].ID).Settled() || c.get(last.ID).Settled() {
		t.Error("a call that was not selected is settled")
	}
	w.Run(chromedp.KeyEvent("g"), chromedp.KeyEvent("h"))
	w.waitUntil(`location.pathname === "/history"`)
	w.Run(chromedp.KeyEvent("g"), chromedp.KeyEvent("i"))
	w.waitUntil(`location.pathname === "/" && !!document.querySelector("#list .row")`)
	c.Check(t)
}

// While j is held, the mark moves from row to row. The row where the mark stops is opened. Until then, no key
// decides.
func TestChromiumHeldKeyOpensTheRowWhereItStops(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	var asks []askback.Ask
	for i := range 5 {
		asks = append(asks, c.ask(label(fmt.Sprint(i))))
	}
	slices.SortFunc(asks, func(a, b askback.Ask) int { return strings.Compare(a.ID, b.ID) })
	w.open("/asks/" + asks[0].ID)
	w.waitUntilKeysDecide()
	w.Run(chromedp.Evaluate(`
		const hold = (key, repeat) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, repeat, bubbles: true}));
		for (let i = 0; i < 4; i++) hold("j", true);
		hold("a", false)`, nil))
	w.waitUntil(`location.pathname === "/asks/` + asks[4].ID +
		`" && document.querySelector("form.ask")?.dataset.ask === "` + asks[4].ID + `"`)
	w.waitUntilKeysDecide()
	for _, a := range asks {
		if c.get(a.ID).Settled() {
			t.Errorf("%s is settled", a.ID)
		}
	}
	c.Check(t)
}

// Next to the list, the empty pane opens the row that is the first now. Opening is no claim and no answer, and the way
// back leads to the list.
func TestChromiumEmptyPaneOpensTheFirst(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	first, second := c.ask(label("first")), c.ask(label("second"))
	w.open("/")
	if _, err := c.client(askback.Responder, "ana").Decline(t.Context(), first.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.waitUntil(`document.querySelectorAll("#list > .row:not(.is-settled)").length === 1`)
	w.Run(chromedp.Click(".open-first"))
	w.waitUntil(`location.pathname === "/asks/` + second.ID + `" && document.querySelector("form.ask") !== null`)
	if a := c.get(second.ID); a.Settled() || len(a.Claims) > 0 {
		t.Errorf("after opening, got status %s and claims %v", a.Status, a.Claims)
	}
	w.Run(chromedp.Evaluate(`history.back()`, nil))
	w.waitUntil(`location.pathname === "/" && document.querySelector(".open-first") !== null`)
	narrow := c.window(phone)
	narrow.login("ana")
	narrow.open("/")
	narrow.waitUntil(`getComputedStyle(document.querySelector(".empty-detail")).display === "none"`)
	c.Check(t)
}

// The page that decides several calls, and the list with its boxes, are accessible.
func TestChromiumDecidePagesAreAccessible(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	query := url.Values{}
	for _, r := range []askback.Request{label("one"), call, single} {
		query.Add("ask", c.ask(r).ID)
	}
	for _, path := range []string{"/decide?" + query.Encode(), "/?select=1&group=agent&agent=deploy-bot"} {
		w.open(path)
		w.checkAccessibility(path)
	}
	c.Check(t)
}

// The list of keys contains exactly the keys that the scripts handle.
func TestChromiumListOfKeysIsComplete(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/")
	w.Run(chromedp.KeyEvent("?"))
	w.waitUntil(`document.querySelector("#keys").open`)
	var listed, handled []string
	w.Run(
		chromedp.Evaluate(`[...new Set([...document.querySelectorAll("#keys kbd")].map((k) => k.textContent.replace("Shift+", "")))].filter((k) => !["1", "–", "9", "Enter", "Ctrl+Enter", "⌘+Enter"].includes(k)).sort()`, &listed),
		chromedp.Evaluate(`[...new Set([...Object.keys(keys), ...Object.keys(goes)])].sort()`, &handled),
		chromedp.KeyEvent(kb.Escape),
	)
	if d := cmp.Diff(handled, listed); d != "" {
		t.Errorf("handled -, listed +\n%s", d)
	}
	c.Check(t)
}

// Without the typed word, the server does not approve a dangerous call, neither once nor for later calls (C3,
// T12). Denying needs no word.
func TestDangerousApprovalRequiresTheTypedWord(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	for _, action := range []string{"approve", "approve_all"} {
		for _, word := range []string{"", "approv", "deny"} {
			a := h.ask(call)
			page := ana.send("/asks/"+a.ID, url.Values{"action": {action}, "word": {word}},
				http.StatusUnprocessableEntity)
			if got := page.visibleText(); h.get(a.ID).Settled() ||
				!strings.Contains(got, "Type approve to approve this call") {
				t.Errorf("%s with %q: %s is settled, or the page does not say why:\n%s", action, word, a.ID, got)
			}
		}
	}
	denied, approved := h.ask(call), h.ask(call)
	ana.send("/asks/"+denied.ID, url.Values{"action": {"deny"}}, http.StatusSeeOther)
	ana.send("/asks/"+approved.ID, url.Values{"action": {"approve"}, "word": {" Approve "}}, http.StatusSeeOther)
	if h.get(denied.ID).Outcome.Approved() || !h.get(approved.ID).Outcome.Approved() {
		t.Errorf("got %+v and %+v", h.get(denied.ID).Outcome, h.get(approved.ID).Outcome)
	}
}
