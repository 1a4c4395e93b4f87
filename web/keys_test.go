package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
)

// Ctrl+Enter and Command+Enter send an answer from its text fields. They do not decide a call, whatever field
// has the focus.
func TestChromiumControlEnterSendsTheAnswer(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	for _, x := range []struct {
		ask   askback.Request
		field string
		with  input.Modifier
		want  askback.Status
	}{
		{free, "#q1-other", input.ModifierCtrl, askback.Answered},
		{single, "#q1-other", input.ModifierMeta, askback.Answered},
		{harmless, "#reason", input.ModifierCtrl, ""},
		{harmless, "#input", input.ModifierCtrl, ""},
	} {
		a := c.ask(x.ask)
		w.open("/asks/" + a.ID)
		w.waitUntilKeysDecide()
		w.Run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true })`, nil))
		w.typeInto(x.field, " ")
		w.typeInto(x.field, "mine")
		w.Run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(x.with)))
		if x.want != "" {
			w.waitUntil(`!document.querySelector("form.ask[data-ask='` + a.ID + `']")`)
			if o := c.outcome(a); o.Status != x.want {
				t.Errorf("%s: got %s, want %s", x.field, o.Status, x.want)
			}
			continue
		}
		w.Run(chromedp.Evaluate(`new Promise((done) => setTimeout(done, 300))`, nil, awaitPromise))
		if c.get(a.ID).Outcome != nil {
			t.Errorf("%s of a call: the key decided it", x.field)
		}
		if _, err := c.client(askback.Responder, "ben").Decline(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	c.Check(t)
}

// The button that decides the selected asks is enabled only if some asks are selected, and shows their
// number. The confirmation of a decision is shown once and removed from the address of the list.
func TestChromiumDecideButtonRequiresASelection(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	c.ask(mailTo("ben"))
	c.ask(mailTo("eve"))
	w.open("/?select=1")
	w.waitUntil(`(() => { const b = document.querySelector("#decide button"); return b.disabled && b.textContent === "Select what to decide" })()`)
	w.Click("#list > .row .row-select input")
	w.waitUntil(`(() => { const b = document.querySelector("#decide button"); return !b.disabled && b.textContent === "Decide 1…" })()`)
	w.Click("#list > .row .row-select input")
	w.waitUntil(`document.querySelector("#decide button").disabled`)
	w.open("/")
	w.waitUntil(`document.body.dataset.keys === "ready"`)
	w.Press("#list > .row .chip-approve")
	w.waitUntil(`!!document.querySelector(".done-notice") && location.search === ""`)
	w.waitGone(".done-notice")
	c.Check(t)
}

// The circle of Other is aligned with the circles of the options.
func TestChromiumRadioButtonsAreAligned(t *testing.T) {
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	w.open("/asks/" + c.ask(single).ID)
	var lefts []float64
	w.Run(chromedp.Evaluate(`[...document.querySelectorAll(".choice input[type=radio]")].map((e) => e.getBoundingClientRect().left)`, &lefts))
	for _, left := range lefts {
		if len(lefts) < 3 || left != lefts[0] {
			t.Errorf("the circles begin at %v", lefts)
		}
	}
	c.Check(t)
}
