package web_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// The icon of the tab shows the number of open asks, even without scripts. Each icon is a file of the server,
// as the policy requires.
func TestIconShowsTheNumberOfOpenAsks(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	for n := range 12 {
		want := map[int]string{0: "icon", 10: "icon-many", 11: "icon-many"}[n]
		if want == "" {
			want = "icon-" + strconv.Itoa(n)
		}
		icon := ana.open("/", http.StatusOK).one(t, "link#icon").attr
		if got := strings.TrimPrefix(icon["href"], "/assets/"); !strings.HasPrefix(got, want+".") {
			t.Errorf("with %d asks, the icon is %s, want %s", n, got, want)
		}
		w := h.do(ana.request(http.MethodGet, icon["href"], nil))
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" ||
			strings.Contains(w.Body.String(), "</text>") != (n > 0) {
			t.Errorf("with %d asks, the icon is %d %s: %s", n, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		if icon["data-plain"] == "" || !strings.Contains(icon["data-counted"], "icon-NUMBER.") {
			t.Errorf("the script gets %v", icon)
		}
		h.ask(single)
	}
	if got := ana.open("/history",
		http.StatusOK).one(t, "link#icon").attr["href"]; !strings.HasPrefix(got, "/assets/icon.") {
		t.Errorf("the icon of the history is %s", got)
	}
}

// A new ask appears in the list of an open page. An ask that is answered elsewhere leaves the list, without a
// reload (A5, B6, F11).
func TestChromiumInboxIsLive(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	w.open("/")
	w.waitText("No open questions")
	first, second := c.ask(single), c.ask(harmless)
	w.waitText("Which database should we use?", "mail.send", "(token bot)")
	w.waitTitle("(2) Inbox · Askback")
	icon := func(number string) {
		w.waitUntil(`/\/assets\/icon` + number + `\.[0-9a-f]+\.svg$/.test(document.getElementById("icon").href)`)
	}
	icon("-2")
	if _, err := c.client(askback.Responder,
		"ben").Answer(context.Background(), first.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	w.waitText("Answered by ben in the browser")
	w.waitTitle("(1) Inbox · Askback")
	w.waitGone("#row-" + first.ID)
	if _, err := c.client(askback.Agent,
		"bot").Cancel(context.Background(), second.ID, "no longer needed"); err != nil {
		t.Fatal(err)
	}
	w.waitTitle("Inbox · Askback")
	w.waitGone("#row-" + second.ID)
	icon("")
	c.Check(t)
}

// An open ask that is answered elsewhere becomes read-only, and keeps the typed text. If the same person
// answered the ask in another window, the page reports that. No part of the text gets into the form of the
// next ask (E10, F4).
func TestChromiumInputStaysInTheFormOfItsAsk(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	one, two := inOrder(c.ask(single), c.ask(single))
	own := c.ask(single)
	w.open("/asks/" + own.ID)
	if _, err := c.client(askback.Responder,
		"ana").Answer(context.Background(), own.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	w.waitText("You answered this in another window.", "Answered by ana in the browser")
	w.open("/asks/" + one.ID)
	w.Click("#q1-1")
	w.typeInto("#q1-other", "my own words")
	w.Run(chromedp.KeyEvent(kb.Escape)) // leaves the field
	w.next("j", two.ID)
	var state string
	w.Run(chromedp.Evaluate(`document.querySelectorAll("#detail input:checked").length + "|" + document.querySelector("#q1-other").value`, &state))
	if state != "0|" {
		t.Errorf("the next ask has %s of the one before", state)
	}
	w.typeInto("#q1-other", "words for two")
	if _, err := c.client(askback.Responder,
		"ben").Answer(context.Background(), two.ID, askback.Choose("SQLite")); err != nil {
		t.Fatal(err)
	}
	w.waitText("What you filled in was not sent", "words for two", "Answered by ben in the browser")
	c.Check(t)
}

// inOrder returns a and b in the order in which the list has them.
func inOrder(a, b askback.Ask) (first, second askback.Ask) {
	if a.ID < b.ID {
		return a, b
	}
	return b, a
}

// Ten mixed asks are cleared with the keyboard alone, including typed text. One ask is dangerous, and another
// has no options.
func TestChromiumThirtyKeysAnswerTenAsks(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	toOption, toSend := []string{"2", kb.Enter}, []string{"o", "v", "2", kb.Tab, kb.Tab, kb.Tab, kb.Enter}
	dangerous, text := c.ask(call), c.ask(free)
	answers := map[string][]string{dangerous.ID: {"d"}, text.ID: toSend}
	for i := range 8 {
		r := []askback.Request{single, harmless, multi}[i%3]
		r.Title = "Ask " + strconv.Itoa(i)
		answers[c.ask(r).ID] = [][]string{toOption, {"a"}, {"1", "3", kb.Enter}}[i%3]
	}
	w.open("/")
	keys := 0
	press := func(key string) {
		keys++
		w.typeKey(key)
	}
	press("j")
	for range answers {
		w.waitUntilKeysDecide()
		var at string
		w.Run(chromedp.Evaluate("location.pathname", &at))
		id := strings.TrimPrefix(at, "/asks/")
		for _, key := range answers[id] {
			press(key)
		}
		w.waitAddress(func(at string) bool { return !strings.Contains(at, "/asks/"+id) })
		if got := c.get(id); got.Status != askback.Answered {
			t.Fatalf("%s is %s after %q", id, got.Status, answers[id])
		}
	}
	w.waitText("All clear")
	if denied, typed := c.outcome(dangerous), c.outcome(text); denied.Decision != askback.Deny ||
		typed.Answers[0].Other != "v2" {
		t.Errorf("got %+v and %+v, want a denial and v2", denied, typed)
	}
	if keys > 30 {
		t.Errorf("%d keys for ten asks, want at most 30", keys)
	}
	t.Logf("%d keys", keys)
	c.Check(t)
}

// A key that decides has no effect for a moment after an ask has appeared, so that a double press does not
// decide the next ask.
func TestChromiumKeyPressedTwiceDecidesOnce(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	one, two := inOrder(c.ask(harmless), c.ask(askback.Request{
		Confirmation: &askback.Confirmation{ToolName: "mail.send", Input: []byte(`{"to":"eve"}`)},
	}))
	w.open("/asks/" + one.ID)
	w.waitUntilKeysDecide()
	w.Run(chromedp.Evaluate(`
		document.addEventListener("htmx:finally:swap", () => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true})));
		document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}))`, nil))
	w.waitAddress(func(at string) bool { return strings.Contains(at, "/asks/"+two.ID) })
	if !c.get(one.ID).Outcome.Approved() || c.get(two.ID).Settled() {
		t.Errorf("got %+v and %+v, want only the first approved", c.get(one.ID).Outcome, c.get(two.ID).Outcome)
	}
	c.Check(t)
}

// A call that can be approved in the list is shown there completely, even on a phone (T3).
func TestChromiumQuickApprovalShowsTheWholeCall(t *testing.T) {
	c := newChromium(t)
	for _, v := range []browsertest.Viewport{phone, {Width: 1400, Height: 900}} {
		w := c.window(v)
		w.login("ana")
		a := c.ask(askback.Request{Confirmation: &askback.Confirmation{
			ToolName: "mail.send", Description: strings.Repeat("Send the report of this week. ", 5),
			Input: []byte(`{"subject":"a report for the whole team","to":"everyone@example.com"}`),
		}})
		w.open("/")
		w.waitUntil(`!!document.querySelector("#row-` + a.ID + ` .chip-approve")`)
		w.waitUntil(`[...document.querySelectorAll("#row-` + a.ID + ` .brief, #row-` + a.ID + ` .clamp")].every((e) => e.scrollWidth <= e.clientWidth + 1 && e.scrollHeight <= e.clientHeight + 1 || getComputedStyle(e).overflowX === "visible" && e.getBoundingClientRect().right <= innerWidth)`)
		var style string
		w.Run(chromedp.Evaluate(`getComputedStyle(document.querySelector("#row-`+a.ID+
			` .brief")).whiteSpaceCollapse + " " + getComputedStyle(document.querySelector("#row-`+a.ID+
			` .brief")).textWrapMode`, &style))
		if style != "preserve wrap" {
			t.Errorf("at %d px the arguments are cut: %s", v.Width, style)
		}
	}
	c.Check(t)
}
