package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
)

// skeleton is what of a page is ours, as the browser understood it: every element that
// stands in no frame of the agent's, with its attributes and what our own text says. A
// frame is one word, whatever is in it.
const skeleton = `(() => {
	const out = [];
	const frames = ".says, .prose, .preview, .hidden-badge, .notice-line, bdi, code, pre, textarea, .id";
	const walk = (n, depth) => {
		for (const k of n.childNodes) {
			if (k.nodeType === 3) {
				const words = k.data.trim();
				if (words) out.push(" ".repeat(depth) + JSON.stringify(words));
			} else if (k.nodeType === 1) {
				if (k.matches(".hidden-badge, .notice-line")) continue;
				const attributes = [...k.attributes]
					.filter((a) => !a.value.includes("ask_") && !a.value.includes("grt_") && !["open", "rows", "datetime", "title"].includes(a.name))
					.map((a) => a.name + "=" + a.value).sort().join(" ");
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

// sampled are all naughty strings, or, in short mode, as under the race detector, one of
// so many: what they do is not a matter of what happens at once.
func sampled(each int) (some []string) {
	for i, s := range naughty {
		if !testing.Short() || i%each == 0 {
			some = append(some, s)
		}
	}
	return some
}

// outline also holds that nothing has to be scrolled sideways, with everything unfolded.
func (w window) outline(path string) string {
	w.t.Helper()
	w.open(path)
	var out string
	w.run(chromedp.Evaluate(`for (const d of document.querySelectorAll("details")) d.open = true`, nil), chromedp.Evaluate(skeleton, &out))
	w.fits()
	return out
}

// T6, T7, T9, T10: whatever an agent writes into any field, on a phone, no script
// runs, nothing is loaded from elsewhere, and no element of ours is another than on the
// page of a harmless ask.
func TestChromiumAgentTextDoesNotChangeThePage(t *testing.T) {
	for kind, name := range []string{"questions", "confirmation"} {
		t.Run(name, func(t *testing.T) {
			c := newChromium(t)
			w := c.window(phone)
			w.login("ana")
			want := w.outline("/asks/" + c.ask(hostile("x")[kind]).ID)
			for _, s := range sampled(16) {
				a := c.ask(hostile(s)[kind])
				if d := cmp.Diff(want, w.outline("/asks/"+a.ID)); d != "" {
					t.Errorf("%.80q changes the page: %s", s, d)
				}
			}
			c.quiet()
		})
	}
}

// The same for the list and for standing approvals, which are lists of what agents wrote.
func TestChromiumAgentTextDoesNotChangeTheList(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	fill := func(words []string) {
		ana := c.seat(askback.Responder, "ana")
		for _, s := range words {
			both := hostile(s)
			c.ask(both[0])
			granted := c.ask(both[1])
			answer := askback.Answer{Decision: askback.ApproveAll, Grant: &askback.GrantRequest{Scope: askback.ScopeInput}}
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
		harmless = append(harmless, fmt.Sprint("x", i)) // one grant must not cover the next
	}
	tried := sampled(16)
	for at := 0; at < len(tried); at += rows {
		words := tried[at:min(at+rows, len(tried))]
		c.fresh()
		w.login("ana")
		fill(harmless[:len(words)])
		want := pages()
		c.fresh()
		w.login("ana")
		fill(words)
		if d := cmp.Diff(want, pages()); d != "" {
			t.Errorf("from %d on: %s", at, d)
		}
	}
	c.quiet()
}

// What a person picks is recorded in the agent's own words, whatever they look like.
func TestChromiumRecordsTheOriginalLabel(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	for i, s := range sampled(4) {
		if i%5 != 0 {
			continue
		}
		a := c.ask(hostile(s)[0])
		w.open("/asks/" + a.ID)
		w.click("#q1-0", "#q2-1")
		w.write("#q3-other", "fine")
		w.press("button[value=answer]")
		got := c.outcome(a).Answers
		if got[0].Selected[0] != a.Questions[0].Options[0].Label || got[1].Selected[0] != a.Questions[1].Options[1].Label {
			t.Errorf("%q was recorded as %+v", s, got)
		}
		w.fits()
	}
	c.quiet()
}

// T3: padding pushes nothing out of a person's reach. What it is, is said above; the end
// is on the page, in a row that fits a phone.
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
		w.open("/asks/" + c.ask(askback.Request{Confirmation: &askback.Confirmation{ToolName: "shell", Input: input, Dangerous: true}}).ID)
		w.fits()
		var above, below string
		var seen bool
		w.run(
			chromedp.Evaluate(`[...document.querySelectorAll(".call > .notice-line, .call .label")].map((n) => n.innerText).join(" ")`, &above),
			chromedp.Evaluate(`document.querySelector(".call pre").innerText.slice(-20)`, &below),
			chromedp.Evaluate(`document.querySelector(".call pre").getBoundingClientRect().bottom < document.querySelector(".approve").getBoundingClientRect().top`, &seen),
		)
		if strings.Contains(above, want) == (between == "") || !strings.Contains(below, "&& reboot") || !seen {
			t.Errorf("%s: above stands %.200q, below %q, before Approve: %v", want, above, below, seen)
		}
	}
	c.quiet()
}
