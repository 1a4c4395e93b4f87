package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// titled returns a question with a title.
func titled(title string) askback.Request {
	r := free
	r.Title = title
	return r
}

// listed returns the headings and the titles of a list, in order. Each heading begins with "# ".
func listed(t *testing.T, page *node) (out []string) {
	t.Helper()
	for _, n := range page.one(t, "#list").kids {
		switch {
		case n.is(".group"):
			out = append(out, "# "+n.visibleText())
		case n.is(".row"):
			out = append(out, n.one(t, ".row-title").visibleText())
		}
	}
	return out
}

// Asks with an early deadline are first. The order, the groups and the filters are in the address, so they
// work without scripts (A5, F11).
func TestListIsOrderedGroupedAndFiltered(t *testing.T) {
	h := newServer(t)
	for _, r := range []askback.Request{titled("plain"), titled("tagged"), {
		Title:        "danger",
		Confirmation: &askback.Confirmation{ToolName: "rm", Dangerous: true, Input: json.RawMessage(`{}`)},
	}, titled("late"), titled("soon")} {
		r.Agent = "zeta"
		switch r.Title {
		case "tagged":
			r.Tags, r.Agent = []string{"prod"}, "Alpha"
		case "soon":
			r.Timeout, r.OnTimeout = 30*time.Minute, askback.OnTimeoutDecline
		case "late":
			r.Timeout, r.OnTimeout = 3*time.Hour, askback.OnTimeoutDecline
		}
		h.ask(r)
		h.now = h.now.Add(time.Second)
	}
	ana := h.browser("ana")
	for path, want := range map[string][]string{
		"/": {"# Due soon", "soon", "# Everything else", "plain", "tagged", "danger", "late"},
		"/?order=urgent": {
			"# Due soon", "soon", "# Dangerous", "danger", "# Everything else", "plain", "tagged", "late",
		},
		"/?group=agent": {"# Alpha", "tagged", "# zeta", "soon", "plain", "danger", "late"},
		"/?group=kind": {
			"# Dangerous calls", "danger", "# Questions", "soon", "plain", "tagged", "late",
		},
		"/?group=tag":                  {"# prod", "tagged", "# No tag", "soon", "plain", "danger", "late"},
		"/?group=session":              {"# Without a session", "soon", "plain", "tagged", "danger", "late"},
		"/?tag=prod":                   {"# Everything else", "tagged"},
		"/?kind=dangerous":             {"# Everything else", "danger"},
		"/?agent=Alpha&kind=dangerous": nil,
	} {
		page := ana.open(path, http.StatusOK)
		if d := cmp.Diff(want, listed(t, page)); d != "" {
			t.Errorf("%s: want -, got +\n%s", path, d)
		}
		_, query, _ := strings.Cut(path, "?")
		for _, n := range page.all(".row-link") {
			if _, got, _ := strings.Cut(n.attr["href"], "?"); !sameQuery(got, query) {
				t.Errorf("%s: a row leads to %s", path, n.attr["href"])
			}
		}
	}
	h.now = h.now.Add(time.Hour - 3*time.Second)
	for path, want := range map[string][]string{
		"/?age=1h":               {"# Everything else", "plain", "tagged"},
		"/?age=1h&kind=question": {"# Everything else", "plain", "tagged"},
		"/?age=24h":              nil,
		"/?age=none":             {"# Due soon", "soon", "# Everything else", "plain", "tagged", "danger", "late"},
	} {
		if d := cmp.Diff(want, listed(t, ana.open(path, http.StatusOK))); d != "" {
			t.Errorf("%s: want -, got +\n%s", path, d)
		}
	}
	if got := ana.open("/?age=1h",
		http.StatusOK).one(t, ".filter").visibleText(); got != "asked over an hour ago × , remove this filter" {
		t.Errorf("the filter by age is shown as %q", got)
	}
	page := ana.open("/?order=urgent", http.StatusOK)
	if got, want := page.all(".row-top .agent")[0].attr["href"], "/?agent=zeta&order=urgent"; got != want {
		t.Errorf("the agent leads to %q, want %q", got, want)
	}
	if got := ana.open("/?agent=Alpha&order=urgent",
		http.StatusOK).one(t, ".filter").attr["href"]; got != "/?order=urgent" {
		t.Errorf("the filter is removed by %q", got)
	}
}

func sameQuery(a, b string) bool {
	one, _ := url.ParseQuery(a)
	two, _ := url.ParseQuery(b)
	return one.Encode() == two.Encode()
}

// The page of an ask shows its row in the list, also if the row is far below.
func TestChromiumOpenAskIsInViewInTheList(t *testing.T) {
	c := newChromium(t)
	last := ""
	for range 40 {
		last = c.ask(free).ID
	}
	w := c.window(browsertest.Viewport{Width: 1400, Height: 700})
	w.login("ana")
	w.open("/asks/" + last)
	w.waitUntil(`document.querySelector("#row-` + last + `").getBoundingClientRect().bottom <= innerHeight`)
	c.Check(t)
}

// After an answer, the next ask is the ask below in the displayed list. After the last ask, the next ask is
// the first ask.
func TestNextAskFollowsTheOrderOfTheList(t *testing.T) {
	h := newServer(t)
	var asks []askback.Ask
	for _, r := range []askback.Request{titled("first"), call, titled("second"), call, titled("third")} {
		asks = append(asks, h.ask(r))
		h.now = h.now.Add(time.Second)
	}
	first, urgent, second, urgentToo, third := asks[0].ID, asks[1].ID, asks[2].ID, asks[3].ID, asks[4].ID
	ana := h.browser("ana")
	for _, step := range []struct{ settled, want string }{
		{urgent, urgentToo}, {second, third}, {third, urgentToo}, {urgentToo, first},
	} {
		form := url.Values{"action": {"answer"}, "q1-other": {"x"}, "then": {"next"}}
		if step.settled == urgent || step.settled == urgentToo {
			form.Set("action", "deny")
		}
		w := ana.do(ana.request(http.MethodPost, "/asks/"+step.settled+"?order=urgent", form))
		if got, want := w.Header().Get("Location"), "/asks/"+step.want+"?done="+step.settled+
			"&order=urgent"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A new ask appears in its place in the list. The visible part of the list does not move. A button leads to
// the new ask (F11).
func TestChromiumNewRowDoesNotMoveTheList(t *testing.T) {
	c := newChromium(t)
	w := c.window(browsertest.Viewport{Width: 1400, Height: 700})
	w.login("ana")
	for i := range 20 {
		c.ask(titled("Ask " + strconv.Itoa(i)))
	}
	w.open("/")
	var before, after float64
	const top = `document.querySelectorAll("#list > .row")[%s].getBoundingClientRect().top`
	w.Run(chromedp.Evaluate(`document.querySelector(".list-pane").scrollTop = 600`, nil))
	w.Run(chromedp.Evaluate(strings.Replace(top, "%s", "12", 1), &before))
	urgent := titled("Urgent")
	urgent.Timeout, urgent.OnTimeout = 10*time.Minute, askback.OnTimeoutDecline
	urgent.Agent = "pager"
	a := c.ask(urgent)
	w.waitUntil(`document.querySelectorAll("#list > .row").length === 21 && document.querySelector("#list > .row").id === "row-` + a.ID + `"`)
	w.Run(chromedp.Evaluate(strings.Replace(top, "%s", "13", 1), &after))
	if before-after > 1 || after-before > 1 {
		t.Errorf("a row moved from %v to %v", before, after)
	}
	w.waitUntil(`document.querySelector("#new-rows").textContent === "1 new ↑" && !document.querySelector("#new-rows").hidden`)
	w.waitUntil(`[...document.querySelectorAll(".group")].map((g) => g.innerText).join() === "Due soon,Everything else"`)
	w.Click("#new-rows")
	w.waitUntil(`document.querySelector(".list-pane").scrollTop === 0 && document.querySelector("#new-rows").hidden`)
	c.ask(titled("Last"))
	w.waitUntil(`[...document.querySelectorAll("#list > .row .row-title")].some((n) => n.textContent === "Last")`)
	w.Click(".view-menu summary")
	w.Run(chromedp.SetValue(`select[name="group"]`, "agent"), chromedp.Evaluate(
		`document.querySelector('select[name="group"]').dispatchEvent(new Event("change", {bubbles: true}))`, nil,
	))
	w.waitUntil(`[...document.querySelectorAll(".group")].map((g) => g.innerText).join() === "deploy-bot,pager" && location.search.includes("group=agent")`)
	c.Check(t)
}
