package web_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// An answer that was given in the list of a phone is confirmed on the screen, and the list
// stays where it is.
func TestChromiumPhoneConfirmsAnAnswerOfTheList(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	for i := range 12 {
		c.ask(mailTo(strconv.Itoa(i)))
	}
	w.open("/")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 12 && document.body.dataset.keys === "ready"`)
	w.Run(chromedp.Evaluate(`scrollTo(0, 300)`, nil))
	w.Press("#list > .row:nth-of-type(6) .chip-approve")
	w.waitUntil(`(() => {
		const r = document.querySelector(".done-notice")?.getBoundingClientRect();
		const hit = r && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		return !!hit?.closest(".done-notice") && r.left >= 0 && r.right <= innerWidth && r.bottom <= document.querySelector(".nav").getBoundingClientRect().top;
	})()`)
	var top float64
	w.Run(chromedp.Evaluate(`scrollY`, &top))
	if top < 100 {
		t.Errorf("the list scrolled from 300 to %v", top)
	}
	c.Check(t)
}

// While the list shows the boxes that select asks, no button decides a single ask.
func TestChromiumPhoneSelectsWithoutDeciding(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	c.ask(mailTo("ben"))
	c.ask(mailTo("eve"))
	w.open("/?select=1")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 2 && document.querySelectorAll(".quick button").length === 4 && [...document.querySelectorAll(".quick button")].every((b) => b.offsetWidth === 0)`)
	c.Check(t)
}

// An emptied search shows all asks again.
func TestChromiumEmptiedSearchShowsAll(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	c.ask(titled("Apples"))
	c.ask(titled("Pears"))
	w.open("/?q=apples")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 1`)
	w.Run(chromedp.Evaluate(`(() => {
		const field = document.querySelector("#search");
		field.value = "";
		field.dispatchEvent(new Event("input", {bubbles: true}));
	})()`, nil))
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 2`)
	c.Check(t)
}

// Text that is typed after a click on "Add a note" goes into the note. Its letters are not keys of the page.
func TestChromiumTypedTextGoesIntoTheOpenedNote(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	a := c.ask(titled("Ask"))
	w.open("/asks/" + a.ID)
	w.Run(chromedp.Evaluate(`document.querySelector(".extras summary").click()`, nil))
	w.waitUntil(`document.activeElement.matches("textarea[id$='-notes']")`)
	w.Run(chromedp.KeyEvent("u"), chromedp.KeyEvent(kb.Escape))
	w.waitUntil(`document.querySelector("textarea[id$='-notes']").value === "u"`)
	c.Check(t)
}

// Text of an agent is marked in the list and on the page of an ask.
func TestChromiumAgentTextIsMarked(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	a := c.ask(mailTo("ben"))
	for _, path := range []string{"/", "/asks/" + a.ID} {
		w.open(path)
		var bare int
		w.Run(chromedp.Evaluate(`[...document.querySelectorAll(".agent-text")].filter((e) => parseFloat(getComputedStyle(e).borderLeftWidth) === 0).length`, &bare))
		if bare > 0 {
			t.Errorf("%s: %d texts without a mark", path, bare)
		}
	}
	c.Check(t)
}
