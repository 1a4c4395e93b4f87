package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
)

// The list reports that there are no open questions only if it has no other pages.
func TestEmptyPageOfInboxLinksToTheNext(t *testing.T) {
	for _, c := range []struct {
		in         pages.Inbox
		want, link string
	}{
		{pages.Inbox{}, "No open questions", ""},
		{pages.Inbox{Next: "ask_1"}, "No question on this page is for you", `href="/?cursor=ask_1"`},
		{
			pages.Inbox{Filter: pages.Filter{Cursor: "ask_0"}, Next: "ask_1"},
			"No question on this page is for you",
			`href="/?cursor=ask_1"`,
		},
		{
			pages.Inbox{Filter: pages.Filter{Cursor: "ask_0"}},
			"No more questions for you",
			`<a href="/">the first page</a>`,
		},
	} {
		var page strings.Builder
		if err := pages.List(pages.Frame{}, c.in).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		if !strings.Contains(text, c.want) || !strings.Contains(text, c.link) {
			t.Errorf("%+v: got\n%s\nwant %q and %q", c.in, text, c.want, c.link)
		}
		if (c.want == "No open questions") != strings.Contains(text, "No open questions") {
			t.Errorf("%+v: got\n%s", c.in, text)
		}
	}
}

// On a phone, a long user name is shortened, and the name of the product is in one line. In a
// window of 800 px, the entries of the header are in one line.
func TestChromiumLongUserNameIsShortened(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("bob.with.a.long.name@example.com")
	w.open("/")
	var lines int
	w.Run(chromedp.Evaluate(`(() => {
		const name = document.createRange();
		name.selectNodeContents(document.querySelector(".brand").lastChild);
		return name.getClientRects().length;
	})()`, &lines))
	if lines != 1 {
		t.Errorf("the name of the product has %d lines, want 1", lines)
	}
	w.checkWidth()
	w.look(800, "light")
	w.waitUntil(`document.querySelector(".nav-menu > summary").getBoundingClientRect().height < 40`)
	w.checkWidth()
	c.Check(t)
}

// The header of a question that can be answered in the list is shown there, too, because it may change the
// meaning of the question.
func TestQuickQuestionShowsItsHeader(t *testing.T) {
	h := newServer(t)
	a := h.ask(askback.Request{Questions: []askback.Question{
		{Header: "Production", Text: "Deploy?", Options: askback.Options("Now", "Later")},
	}})
	row := h.browser("ana").open("/", http.StatusOK).one(t, "#row-"+a.ID)
	if len(row.all(".quick")) != 1 || row.one(t, ".row-text .tag").visibleText() != "Production" {
		t.Errorf("the row is %s", row.visibleText())
	}
}

// While another person looks at an ask, its row has no buttons, because two people would decide it. A row says in few
// words why it has no buttons.
func TestRowWithoutButtonsHasTheReason(t *testing.T) {
	h := newServer(t)
	watched, read := h.ask(harmless), h.ask(call)
	if _, err := h.client(askback.Responder, "ben").Claim(t.Context(), watched.ID); err != nil {
		t.Fatal(err)
	}
	for name, buttons := range map[string]int{"ana": 0, "ben": 2} {
		row := h.browser(name).open("/", http.StatusOK).one(t, "#row-"+watched.ID)
		if got := len(row.all(".quick button")); got != buttons || len(row.all(".on-page")) > 0 ||
			!strings.Contains(row.visibleText(), "ben is looking at it") {
			t.Errorf("%s: got %d buttons, want %d, in %s", name, got, buttons, row.visibleText())
		}
	}
	question := h.ask(free)
	page := h.browser("ana").open("/", http.StatusOK)
	if got := page.one(t, "#row-"+question.ID).one(t, ".on-page").visibleText(); got != "in your own words" {
		t.Errorf("the reason is %q", got)
	}
	if row := page.one(t, "#row-"+read.ID); len(row.all(".quick, .on-page")) > 0 ||
		row.one(t, ".kind").visibleText() != "dangerous" {
		t.Errorf("the row of a dangerous call is %s", row.visibleText())
	}
}
