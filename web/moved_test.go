package web_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// clickWhereItIs is a script that clicks the place of a button. Whenever the page has changed, the script
// clicks the same place again. So it clicks the element that has moved to that place.
const clickWhereItIs = `(() => {
	const r = document.querySelector(%q).getBoundingClientRect();
	const click = () => document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)?.closest("button")
		?.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true, detail: 1}));
	for (const name of ["htmx:finally:swap", "moved"]) document.addEventListener(name, click);
	if (%t) click();
})()`

// hasRefused is a script that returns whether the page asked the person to press again.
const hasRefused = `document.getElementById("announcer").textContent.includes("Press again")`

// mailTo returns a call that sends a mail. For each name, the page and the row of the call have the same
// shape.
func mailTo(name string) askback.Request {
	return askback.Request{
		Confirmation: &askback.Confirmation{ToolName: "mail.send", Input: fmt.Appendf(nil, `{"to":%q}`, name)},
	}
}

// inRows makes a call for each name, and returns the asks in the order in which the list has them.
func (c *chromium) inRows(names ...string) (all []askback.Ask) {
	for _, name := range names {
		all = append(all, c.ask(mailTo(name)))
	}
	slices.SortFunc(all, func(a, b askback.Ask) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// The second click of a double click does not decide the ask that has taken the place of the first ask. This
// holds on the page of an ask and in the list (T12).
func TestChromiumDoubleClickDecidesOnce(t *testing.T) {
	for name, page := range map[string]struct{ path, button string }{
		"ask":  {"/asks/", ".bar .approve-once"},
		"list": {"/?", ".row .chip-approve"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChromium(t)
			w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
			w.login("ana")
			all := c.inRows("ben", "cem", "eve")
			w.open(page.path + all[0].ID)
			w.Press(page.button) // from now on, each page confirms the action
			w.waitUntil(`document.body.dataset.keys === "ready" && !!document.querySelector(".done-notice")`)
			w.Run(chromedp.Evaluate(fmt.Sprintf(clickWhereItIs, page.button, true), nil))
			w.waitUntil(hasRefused + ` || !document.getElementById("row-` + all[2].ID + `")`)
			if !c.get(all[1].ID).Outcome.Approved() || c.get(all[2].ID).Settled() {
				t.Errorf("got %+v and %+v, want only the first approved", c.get(all[1].ID).Outcome,
					c.get(all[2].ID).Outcome)
			}
			c.Check(t)
		})
	}
}

// An agent withdraws an ask while a person is about to approve another ask. The row below moves up, and is
// not approved instead (T12).
func TestChromiumWithdrawnAskMovesNoButton(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 900})
	w.login("ana")
	all := c.inRows("ada", "ben", "cem", "eve")
	w.open("/")
	w.waitUntil(`document.querySelectorAll(".chip-approve").length === 4 && document.body.dataset.keys === "ready"`)
	w.Run(chromedp.Evaluate(fmt.Sprintf(clickWhereItIs, "#row-"+all[2].ID+" .chip-approve", false), nil))
	w.Run(chromedp.Evaluate(`new MutationObserver(() => document.dispatchEvent(new Event("moved"))).observe(document.getElementById("list"), {childList: true})`, nil))
	if _, err := c.client(askback.Agent,
		"bot").Cancel(context.Background(), all[1].ID, "no longer needed"); err != nil {
		t.Fatal(err)
	}
	w.waitGone("#row-" + all[1].ID)
	w.waitUntil(hasRefused + ` || !document.getElementById("row-` + all[3].ID + `")`)
	for _, a := range []askback.Ask{all[0], all[2], all[3]} {
		if o := c.get(a.ID).Outcome; o != nil {
			t.Errorf("%s is settled: %+v", a.Confirmation.Input, o)
		}
	}
	c.Check(t)
}
