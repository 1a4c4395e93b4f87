package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
)

// stream types a text into the page, with a pause after each key. It returns the longest time in milliseconds
// between two keys.
func (w window) stream(text string, gap time.Duration) (longest float64) {
	w.t.Helper()
	w.Run(chromedp.Evaluate(fmt.Sprintf(`(async () => {
		let longest = 0, last = performance.now();
		for (const key of %q) {
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
			longest = Math.max(longest, performance.now() - last);
			last = performance.now();
			if (%d > 0) await new Promise((done) => setTimeout(done, %d));
		}
		return longest;
	})()`, text, gap.Milliseconds(), gap.Milliseconds()), &longest, awaitPromise))
	return longest
}

// Typing that began before an ask appeared decides nothing, at any speed. After a pause, one key decides.
func TestChromiumTextDecidesNothing(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	for _, gap := range []time.Duration{0, 20, 60, 125, 300, 450, 700} {
		a, other := c.ask(harmless), c.ask(single)
		w.open("/asks/" + other.ID)
		w.waitUntilKeysDecide()
		longest := w.stream("yz", gap*time.Millisecond)
		w.Run(chromedp.Evaluate(`document.querySelector("#row-`+a.ID+` .row-link").click()`, nil))
		w.waitUntil(`document.querySelector("form.ask")?.dataset.ask === "` + a.ID + `"`)
		longest = max(longest, w.stream("yada day a", gap*time.Millisecond))
		if o := c.get(a.ID).Outcome; o != nil && longest < 1900 {
			t.Errorf("a key each %d ms: got %+v", gap, o)
			continue
		}
		w.waitUntil(`document.getElementById("announcer").textContent.startsWith("Keys were ignored")`)
		w.waitUntilKeysDecide()
		w.Run(chromedp.Evaluate(`new Promise((done) => setTimeout(done, 600))`, nil, awaitPromise))
		w.Run(chromedp.KeyEvent("d"))
		w.waitUntil(`document.querySelector("form.ask")?.dataset.ask !== "` + a.ID + `"`)
		if got := c.outcome(a).Decision; got != askback.Deny {
			t.Errorf("after a pause: got %s", got)
		}
		if _, err := c.client(askback.Responder, "ben").Decline(t.Context(), other.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	c.Check(t)
}

// The Enter of an input method sends nothing. Nor does the additional Enter that Safari sends. Keys in a text
// field are text, and a held key decides nothing.
func TestChromiumInputMethodsAndHeldKeysDecideNothing(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	q, call := c.ask(single), c.ask(harmless)
	press := func(selector, event string) {
		t.Helper()
		w.Run(chromedp.Evaluate(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, cancelable: true, %s})) })()`, selector, event), nil))
	}
	w.open("/asks/" + q.ID)
	w.waitUntilKeysDecide()
	w.typeInto("#q1-other", "3 of them")
	for _, event := range []string{
		`key: "Enter", ctrlKey: true, isComposing: true`, `key: "Enter", metaKey: true, keyCode: 229`, `key: "1"`,
		`key: "a"`, `key: "Enter"`,
	} {
		press("#q1-other", event)
	}
	w.open("/asks/" + call.ID)
	w.waitUntilKeysDecide()
	for _, event := range []string{
		`key: "a", keyCode: 229`, `key: "d", isComposing: true`, `key: "a", repeat: true`, `key: "d", repeat: true`,
	} {
		press("body", event)
	}
	var prevented bool
	w.Run(chromedp.Evaluate(`!document.querySelector(".bar .deny").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", repeat: true, bubbles: true, cancelable: true}))`, &prevented))
	if !prevented {
		t.Error("Enter that is held presses a button")
	}
	w.Run(chromedp.Evaluate(`new Promise((done) => setTimeout(done, 500))`, nil, awaitPromise))
	for _, a := range []askback.Ask{q, call} {
		if o := c.get(a.ID).Outcome; o != nil {
			t.Errorf("got %+v", o)
		}
	}
	c.Check(t)
}

// A press decides nothing if the element under the pointer moved, or belongs to another ask, between the
// beginning and the end of the press.
func TestChromiumMovedButtonDecidesNothing(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	for name, change := range map[string]string{
		"grows":         `const above = document.createElement("div"); above.style.height = "14px"; document.querySelector("#list .row").before(above)`,
		"scrolls":       `document.querySelector(".list").style.transform = "translateY(-12px)"`,
		"another ask":   `document.querySelectorAll(".quick").forEach((form) => { form.action += "?x=1" })`,
		"another label": `document.querySelectorAll(".quick .chip-approve").forEach((button) => { button.textContent += " all" })`,
		"nothing":       ``,
	} {
		a := c.ask(mailTo("ben"))
		w.open("/")
		w.waitUntil(
			`document.body.dataset.keys === "ready" && !!document.querySelector("#row-` + a.ID + ` .chip-approve")`,
		)
		var at struct{ X, Y float64 }
		w.Run(chromedp.Evaluate(`(() => { const r = document.querySelector("#row-`+a.ID+` .chip-approve").getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, &at))
		left, once := chromedp.ButtonType(input.Left), chromedp.ClickCount(1)
		w.Run(chromedp.MouseEvent(input.MousePressed, at.X, at.Y, left, once), chromedp.Evaluate(change, nil),
			chromedp.MouseEvent(input.MouseReleased, at.X, at.Y, left, once))
		if name == "nothing" {
			w.waitUntil(`!!document.querySelector(".done-notice")`)
			if !c.outcome(a).Approved() {
				t.Error("a press on what did not move decides nothing")
			}
			continue
		}
		w.waitUntil(hasRefused + ` || !document.getElementById("row-` + a.ID + `")`)
		if o := c.get(a.ID).Outcome; o != nil {
			t.Errorf("%s: got %+v", name, o)
			continue
		}
		if _, err := c.client(askback.Responder, "ben").Decline(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	c.Check(t)
}

// The keys that the inbox lists work as in the inbox of a terminal: own words, a note, a comment, declining,
// reassigning.
func TestChromiumKeysOpenFields(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	for _, x := range []struct {
		ask        askback.Request
		key, field string
	}{
		{single, "o", "q1-other"},
		{single, "n", "q1-notes"},
		{single, "c", "comment"},
		{single, "D", "reason"},
		{harmless, "n", "reason"},
		{harmless, "e", "input"},
		{harmless, "A", "input"},
	} {
		a := c.ask(x.ask)
		w.open("/asks/" + a.ID)
		w.waitUntilKeysDecide()
		w.Run(chromedp.KeyEvent(x.key))
		if x.key == "A" {
			w.waitUntil(`document.querySelector(".standing-approval").open`)
		} else {
			w.waitUntil(`document.activeElement.id === "` + x.field + `"`)
		}
	}
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	w.waitUntilKeysDecide()
	w.Run(chromedp.KeyEvent("r"))
	w.waitAddress(func(at string) bool { return strings.Contains(at, "reassign") })
	c.Check(t)
}
