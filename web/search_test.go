package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
)

// named returns a question with a text.
func named(text string) askback.Request {
	return askback.Request{Questions: []askback.Question{{Text: text}}}
}

// A search applies while it is typed. The field keeps the focus and the caret, the address has the search, an open
// ask stays open with its typed text, and new asks that match still arrive.
func TestChromiumSearchAppliesWhileItIsTyped(t *testing.T) {
	c := newChromium(t)
	open := c.ask(named("Which region?"))
	match := c.ask(named("Apply the terraform plan?"))
	c.ask(named("Which colour?"))
	w := c.window(desktop)
	w.login("ana")
	w.open("/asks/" + open.ID)
	w.typeInto("#q1-other", "eu-central")
	const shown = `[...document.querySelectorAll("#list > .row")].map((row) => row.dataset.ask).join()`
	w.typeInto("#search", "terrraform")
	w.waitUntil(shown + ` === ""`)
	w.Run(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft),
		chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Backspace))
	w.waitUntil(shown + ` === "` + match.ID + `" && location.search === "?q=terraform"`)
	var got struct {
		Focus, Text, Path string
		Caret             int
	}
	w.Run(chromedp.Evaluate(`({
		Focus: document.activeElement.id, Caret: document.activeElement.selectionStart,
		Text: document.querySelector("#q1-other").value, Path: location.pathname,
	})`, &got))
	if got.Focus != "search" || got.Caret != 4 || got.Text != "eu-central" || got.Path != "/asks/"+open.ID {
		t.Errorf("got %+v", got)
	}
	late := c.ask(named("Apply the other terraform plan?"))
	c.ask(named("Which shape?"))
	last := c.ask(named("And terraform again?"))
	w.waitUntil(shown + ` === "` + match.ID + `,` + late.ID + `,` + last.ID + `"`)
	w.Run(chromedp.Evaluate(`document.querySelector("#search").select()`, nil), chromedp.KeyEvent(kb.Backspace))
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 6 && location.search === ""`)
	c.Check(t)
}

// The history is searched in the same way.
func TestChromiumHistoryIsSearchedWhileItIsTyped(t *testing.T) {
	c := newChromium(t)
	for _, text := range []string{"Apply the terraform plan?", "Which colour?"} {
		a := c.ask(named(text))
		c.server.browser("ana").settle(a, url.Values{"action": {"answer"}, "q1-other": {"yes"}})
	}
	w := c.window(desktop)
	w.login("ana")
	w.open("/history")
	w.typeInto("#search", "terra")
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 1 && location.search.includes("q=terra")`)
	w.waitUntil(`document.activeElement.id === "search"`)
	c.Check(t)
}

// Without scripts, Enter searches.
func TestSearchWorksWithoutScripts(t *testing.T) {
	h := newServer(t)
	h.ask(named("Apply the terraform plan?"))
	h.ask(named("Which colour?"))
	page := h.browser("ana").open("/?q=terra", http.StatusOK)
	if n := len(page.all("#list .row")); n != 1 || page.one(t, "#search").attr["value"] != "terra" {
		t.Errorf("got %d rows, and %q in the field", n, page.one(t, "#search").attr["value"])
	}
}
