package web_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/racedetector"
)

// axe is the accessibility checker. See testdata/axe/README.md.
//
//go:embed testdata/axe/axe.min.js
var axe string

// allRules are the rules of WCAG 2.2 at the levels A and AA, and the recommendations of axe. colorRules are
// the rules in allRules that depend on the color scheme.
const (
	allRules   = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], rules: {"target-size": {enabled: true}}`
	colorRules = `["color-contrast", "link-in-text-block"]`
)

// runAxe is a script that checks the page with axe. Its %s is the list of rules.
const runAxe = `axe.run(document, {
	runOnly: %s,
	resultTypes: ["violations"],
}).then((r) => JSON.stringify({passes: r.passes.length, violations: r.violations.map((v) => ({id: v.id, help: v.help,
	nodes: v.nodes.map((n) => n.target.join(" ") + ": " + n.failureSummary)}))}))`

type axeResult struct {
	Passes     int
	Violations []struct {
		ID, Help string
		Nodes    []string
	}
}

// axe returns the violations of rules by the open page.
func (w window) axe(rules string) []string {
	w.t.Helper()
	var loaded bool
	w.Run(chromedp.Evaluate(`typeof axe === "object"`, &loaded))
	if !loaded {
		w.Run(chromedp.Evaluate(axe+"\n;0", nil))
	}
	var raw string
	w.Run(chromedp.Evaluate(fmt.Sprintf(runAxe, rules), &raw, awaitPromise))
	var got axeResult
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		w.t.Fatal(err)
	}
	if got.Passes == 0 {
		w.t.Error("axe checked nothing")
	}
	var out []string
	for _, v := range got.Violations {
		out = append(out, v.ID+": "+v.Help+"\n\t"+strings.Join(v.Nodes, "\n\t"))
	}
	return out
}

// awaitPromise waits for the result of a script that returns a promise.
func awaitPromise(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// look sets the width of the window and the color scheme that its user prefers.
func (w window) look(width int64, scheme string) {
	w.t.Helper()
	w.Run(
		emulation.SetDeviceMetricsOverride(width, 900, 1, width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}),
		// Colors are measured while no animation is running.
		chromedp.Evaluate(`document.getAnimations().forEach((a) => { try { a.finish() } catch { a.cancel() } })`, nil),
	)
}

// checkAccessibility checks the open page in each width. It checks the rules about colors in the dark color
// scheme as well. The wide page has every part of the narrow page, so only the wide page is checked in dark
// colors. With ASKBACK_LONG, as in make prove, both pages are checked.
func (w window) checkAccessibility(state string) {
	w.t.Helper()
	for _, field := range w.fieldsWithoutLabel() {
		w.t.Errorf("%s: %s has no label", state, field)
	}
	for _, width := range []int64{360, 1400} {
		schemes := map[string]string{"light": allRules, "dark": colorRules}
		if width == 360 && os.Getenv("ASKBACK_LONG") == "" {
			delete(schemes, "dark")
		}
		for scheme, rules := range schemes {
			w.look(width, scheme)
			for _, v := range w.axe(rules) {
				w.t.Errorf("%s, %d px, %s: %s", state, width, scheme, v)
			}
		}
	}
}

// fieldsWithoutLabel returns the fields without a label. A placeholder is enough for axe, but it disappears
// when a person types.
func (w window) fieldsWithoutLabel() (fields []string) {
	w.t.Helper()
	w.Run(chromedp.Evaluate(`[...document.querySelectorAll("input:not([type=hidden]), textarea, select")]
		.filter((e) => !e.getAttribute("aria-label")?.trim() && ![...e.labels].some((l) => l.textContent.trim()) && !document.getElementById(e.getAttribute("aria-labelledby"))?.textContent.trim())
		.map((e) => e.outerHTML)`, &fields))
	return fields
}

// No page, in any state, violates WCAG 2.2 AA.
func TestChromiumPagesAreAccessible(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	w := c.window(desktop)
	w.open("/")
	w.checkAccessibility("not logged in")
	w.open("/login?secret=" + w.link("ana"))
	w.checkAccessibility("log-in")
	w.open("/login?secret=wrong")
	w.Press(`form[action="/login"] button`)
	w.checkAccessibility("expired link")
	w.login("ana")
	w.open("/")
	w.checkAccessibility("empty inbox")
	w.open("/login")
	w.checkAccessibility("logged in")
	w.open("/history")
	w.checkAccessibility("empty history")
	w.open("/grants")
	w.checkAccessibility("no grants")
	w.open("/none")
	w.checkAccessibility("page not found")
	c.Check(t)
}

// No ask in any state, and no page with content, violates WCAG 2.2 AA (A6, C1, C3).
func TestChromiumAsksAreAccessible(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	w := c.window(desktop)
	w.login("ana")
	titled := single
	titled.Title, titled.Tags = "A title", []string{"prod", "db"}
	var asks []askback.Ask
	for _, r := range []askback.Request{single, multi, free, form, harmless, call, titled, markdownAsk} {
		asks = append(asks, c.ask(r))
	}
	w.open("/")
	w.checkAccessibility("full inbox")
	for _, a := range asks {
		w.open("/asks/" + a.ID)
		w.Run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true })`, nil))
		w.checkAccessibility(fmt.Sprintf("%s %q", a.Kind, a.Title))
	}
	w.open("/asks/" + asks[0].ID + "/reassign")
	w.Press("form.reassign button")
	w.waitText("Choose at least one")
	w.checkAccessibility("form that reassigns an ask")
	c.checkRejectedForm(w, asks[3])
	c.checkSettled(w, asks)
	c.Check(t)
}

// markdownAsk is an ask whose text has every element that is displayed.
var markdownAsk = askback.Request{
	Context: json.RawMessage(`"# A heading\n\nSome *text* with [a link](https://example.com/x) and ` + "`code`" +
		`.\n\n- one\n- two\n\n1. first\n2. second\n\n> quoted\n\n` + "```\\ncode that is long enough to need a " +
		"scroll bar when it is displayed on the screen of a telephone\\n```" + `\n\n| a | b |\n|---|---|\n| 1 | 2 |"`),
	Questions: []askback.Question{{Text: "Which?", Options: []askback.Option{
		{Label: "one", Preview: strings.Repeat("a long line ", 30)}, {Label: "two", Preview: "short"},
	}}},
}

// checkRejectedForm checks a form that lacks answers, and the notice of a conflict.
func (c *chromium) checkRejectedForm(w window, a askback.Ask) {
	c.t.Helper()
	w.open("/asks/" + a.ID)
	w.Press("button[value=answer]")
	w.waitText("Not sent yet.")
	w.checkAccessibility("rejected form")
	w.Click("#q1-1")
	w.typeInto("#q3-other", "my own words")
	if _, err := c.client(askback.Responder, "ben").Decline(context.Background(), a.ID, "Not mine."); err != nil {
		c.t.Fatal(err)
	}
	w.waitText("Declined by ben")
	w.checkAccessibility("conflict")
}

// checkSettled checks asks that are settled, and the pages that list them.
func (c *chromium) checkSettled(w window, asks []askback.Ask) {
	c.t.Helper()
	ana := c.client(askback.Responder, "ana")
	for i, x := range []askback.Answer{
		0: askback.Choose("SQLite"), 1: askback.Choose("Slack"),
		2: {Answers: []askback.QuestionAnswer{{ID: "q1", Other: "Kim"}}, Comment: "As discussed."},
		4: {Decision: askback.ApproveAll}, 5: {Decision: askback.Deny, Reason: "Not in prod."},
	} {
		if i == 3 {
			continue
		}
		if _, err := ana.Answer(context.Background(), asks[i].ID, x); err != nil {
			c.t.Fatal(err)
		}
		w.open("/asks/" + asks[i].ID)
		w.checkAccessibility("settled " + asks[i].ID)
	}
	w.open("/asks/" + c.ask(harmless).ID)
	w.checkAccessibility("approved by a grant")
	w.open("/")
	var links []string
	w.Run(chromedp.Evaluate(`[...document.querySelectorAll("nav a, header a")].map((a) => a.getAttribute("href"))`,
		&links))
	slices.Sort(links)
	for _, link := range slices.Compact(links) {
		if u, err := url.Parse(link); err == nil && u.Host == "" {
			w.open(link)
			w.checkAccessibility(link)
		}
	}
}
