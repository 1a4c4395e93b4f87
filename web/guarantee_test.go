package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/racedetector"
)

// skeleton is a script that lists the page as the browser built it: every element outside the agent's blocks,
// with its attributes and its text. Each block of the agent is listed as "(frame)", whatever its content.
const skeleton = `(() => {
	const out = [];
	const frames = ".agent-text, .markdown, .preview, .hidden-badge, .notice-line, bdi, code, pre, textarea, .id";
	const walk = (n, depth) => {
		for (const k of n.childNodes) {
			if (k.nodeType === 3) {
				const words = k.data.trim();
				if (words) out.push(" ".repeat(depth) + JSON.stringify(words));
			} else if (k.nodeType === 1) {
				if (k.matches(".hidden-badge, .notice-line, [id^=live-]")) continue;
				const attributes = [...k.attributes]
					.filter((a) => !a.value.includes("ask_") && !a.value.includes("grt_") && !["open", "rows", "datetime", "title", "hx-sse:connect", "data-keys"].includes(a.name))
					// A link that selects what an agent named has the name in its query, escaped.
					.map((a) => a.name + "=" + a.value.replace(/^(\/\w*\?(?:agent|tag)=)[\w%+.~-]+$/, "$1(name)")).sort().join(" ");
				if (k.matches(frames)) {
					out.push(" ".repeat(depth) + "(frame)");
					continue;
				}
				out.push(" ".repeat(depth) + k.localName + " " + attributes);
				walk(k, depth + 1);
			} else {
				out.push(" ".repeat(depth) + "node " + k.nodeType);
			}
		}
	};
	walk(document.documentElement, 0);
	return out.join("\n");
})()`

// sampleInjections returns each step-th injection. With ASKBACK_LONG, as in make prove, it returns all
// injections. TestAgentTextStaysInsideItsBlocks always parses the pages of all injections; a real browser
// takes much longer.
func sampleInjections(step int) (some []string) {
	if os.Getenv("ASKBACK_LONG") != "" {
		step = 1
	}
	for i, s := range injections {
		if i%step == 0 {
			some = append(some, s)
		}
	}
	return some
}

// outline opens a page, unfolds everything on the page, and returns its skeleton. It also checks the width.
func (w window) outline(path string) string {
	w.t.Helper()
	w.open(path)
	// scripts set both marks after the page is loaded
	w.waitUntil(`!!document.querySelector("[data-htmx-powered]") && !document.querySelector("#list > .row:not(.is-measured)")`)
	var out string
	w.Run(chromedp.Evaluate(`for (const d of document.querySelectorAll("details")) d.open = true`, nil),
		chromedp.Evaluate(skeleton, &out))
	w.checkWidth()
	return out
}

// Whatever an agent puts into its fields, no script runs and nothing is loaded from other hosts. Every
// element of Askback is the same as on the page of a harmless ask (T6, T7, T9, T10).
func TestChromiumAgentTextDoesNotChangeThePage(t *testing.T) {
	racedetector.Omit(t)
	for kind, name := range []string{"questions", "confirmation"} {
		t.Run(name, func(t *testing.T) {
			c := newChromium(t)
			w := c.window(phone)
			w.login("ana")
			w.open("/")
			// the list beside the ask has one row, because each ask is withdrawn after its page
			outline := func(s string, then func()) string {
				a := c.ask(hostile(s)[kind])
				out := w.outline("/asks/" + a.ID)
				then()
				if _, err := c.client(askback.Agent, "bot").Cancel(context.Background(), a.ID, ""); err != nil {
					t.Fatal(err)
				}
				return out
			}
			// Approve is disabled for some seconds, which may have passed or not
			var before, after string
			outline("x", func() {
				w.waitUntil(`!document.querySelector("button.approve:disabled")`)
				w.Run(chromedp.Evaluate(skeleton, &after))
				w.Run(chromedp.Evaluate(
					`for (const b of document.querySelectorAll("button.approve")) b.disabled = true`, nil,
				),
					chromedp.Evaluate(skeleton, &before))
			})
			for _, s := range sampleInjections(8) {
				got := outline(s, func() {})
				if d := cmp.Diff(before, got); d != "" && got != after {
					t.Errorf("%.80q changes the page: %s", s, d)
				}
			}
			c.Check(t)
		})
	}
}

// The inbox and the standing approvals list text of agents, too (T6, T7, T9, T10).
func TestChromiumAgentTextDoesNotChangeTheList(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	fill := func(words []string) {
		ana := c.client(askback.Responder, "ana")
		for _, s := range words {
			both := hostile(s)
			c.ask(both[0])
			granted := c.ask(both[1])
			answer := askback.Answer{
				Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput},
			}
			if _, err := ana.Answer(context.Background(), granted.ID, answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	const rows = 40
	pages := func() (out []string) {
		for _, path := range []string{"/", "/grants"} {
			out = append(out, w.outline(path))
		}
		return out
	}
	var harmless []string
	for i := range rows {
		// a grant for one text must not cover the call with the next text
		harmless = append(harmless, fmt.Sprint("x", i))
	}
	tried := sampleInjections(5)
	for at := 0; at < len(tried); at += rows {
		words := tried[at:min(at+rows, len(tried))]
		c.reset()
		w.login("ana")
		w.open("/")
		fill(harmless[:len(words)])
		want := pages()
		c.reset()
		w.login("ana")
		w.open("/")
		fill(words)
		if d := cmp.Diff(want, pages()); d != "" {
			t.Errorf("from %d on: %s", at, d)
		}
	}
	c.Check(t)
}

// The outcome has the label exactly as the agent sent it.
func TestChromiumRecordsTheOriginalLabel(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	for _, s := range sampleInjections(15) {
		r := hostile("x")[0] // pages with s in each field are large
		for i, q := range hostile(s)[0].Questions {
			r.Questions[i].Options = q.Options
		}
		for i := range r.Questions[0].Options {
			r.Questions[0].Options[i].Description, r.Questions[0].Options[i].Preview = "", ""
		}
		a := c.ask(r)
		w.open("/asks/" + a.ID)
		w.Click("#q1-0", "#q2-1")
		w.typeInto("#q3-other", "fine")
		w.Press("button[value=answer]")
		got := c.outcome(a).Answers
		if got[0].Selected[0] != a.Questions[0].Options[0].Label ||
			got[1].Selected[0] != a.Questions[1].Options[1].Label {
			t.Errorf("%q was recorded as %+v", s, got)
		}
		w.checkWidth()
	}
	c.Check(t)
}

// A warning is above padded text. The end of the text is on the page, in a row that fits a phone (T3).
func TestChromiumPaddingDoesNotHideText(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	for want, between := range map[string]string{
		"9999 empty lines in a row":  strings.Repeat("\n", 10_000),
		"spaces in a row":            strings.Repeat(" ", 100_000),
		"a line of ":                 strings.Repeat("x", 1_000_000),
		"the longest line 2":         strings.Repeat(strings.Repeat("y", 200)+"\n", 40),
		"no such warning is in here": "",
	} {
		input, _ := json.Marshal(map[string]string{"command": "ls" + between + "&& reboot"})
		w.open("/asks/" + c.ask(askback.Request{
			Confirmation: &askback.Confirmation{ToolName: "shell", Input: input, Dangerous: true},
		}).ID)
		w.checkWidth()
		var above, below string
		var seen bool
		w.Run(
			chromedp.Evaluate(`[...document.querySelectorAll(".call > .notice-line, .call .label")].map((n) => n.innerText).join(" ")`, &above),
			chromedp.Evaluate(`document.querySelector(".call .tree").innerText.slice(-20)`, &below),
			chromedp.Evaluate(`document.querySelector(".call .tree").getBoundingClientRect().bottom < document.querySelector(".approve").getBoundingClientRect().top`, &seen),
		)
		if strings.Contains(above, want) == (between == "") || !strings.Contains(below, "&& reboot") || !seen {
			t.Errorf("%s: above is %.200q, below %q, before Approve: %v", want, above, below, seen)
		}
	}
	c.Check(t)
}
