package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// inView is a JavaScript function that reports whether all of an element is visible and nothing covers its
// center.
const inView = `(s) => {
	const e = document.querySelector(s), r = e.getBoundingClientRect();
	const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	return r.top >= 0 && r.bottom <= innerHeight && (e.contains(hit) || hit.contains(e));
}`

// On a phone, a question with its options and Send fits on the screen, and so does a short call with Deny and
// Approve. This works without scripts.
func TestChromiumShortAskFitsOnAPhone(t *testing.T) {
	c := newChromium(t)
	three := askback.Request{Questions: []askback.Question{{
		Text: "Which database should the new billing service use?",
		Options: []askback.Option{
			{Label: "PostgreSQL", Description: "A server of its own."},
			{Label: "SQLite", Description: "One file."},
			{Label: "None"},
		},
	}}}
	for _, noJS := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, NoScript: noJS})
		w.login("ana")
		for _, x := range []struct {
			ask  askback.Request
			seen []string
		}{
			{three, []string{
				".question-text", "label:has(#q1-0)", "label:has(#q1-1)", "label:has(#q1-2)", "#q1-other",
				".bar button[value=answer]",
			}},
			{harmless, []string{
				".call .target", ".call .tree", ".bar button[value=deny]", ".bar button[value=approve]",
			}},
		} {
			w.open("/asks/" + c.ask(x.ask).ID)
			for _, s := range x.seen {
				var ok bool
				quoted, _ := json.Marshal(s)
				if w.Run(chromedp.Evaluate("("+inView+")("+string(quoted)+")", &ok)); !ok {
					t.Errorf("without scripts %v: %s is not in view", noJS, s)
				}
			}
		}
	}
	c.Check(t)
}

// The question is the biggest text of the page. The field for an own answer is one line that grows when it is
// used.
func TestChromiumQuestionIsTheBiggestText(t *testing.T) {
	c := newChromium(t)
	for _, size := range []browsertest.Viewport{phone, desktop} {
		w := c.window(size)
		w.login("ana")
		w.open("/asks/" + c.ask(single).ID)
		var bigger []string
		w.Run(chromedp.Evaluate(`(() => {
			const size = (e) => parseFloat(getComputedStyle(e).fontSize), most = size(document.querySelector(".question-text"));
			return [...document.querySelectorAll("#detail *")].filter((e) => e.checkVisibility() && !e.closest(".question-text") && size(e) >= most).map((e) => e.className);
		})()`, &bigger))
		if len(bigger) > 0 {
			t.Errorf("at %d px, as big as the question: %q", size.Width, bigger)
		}
		var before, after float64
		height := func(to *float64) { w.Run(chromedp.Evaluate(`document.querySelector("#q1-other").clientHeight`, to)) }
		height(&before)
		w.Click("#q1-pick-other")
		w.waitUntil(`document.querySelector("#q1-other").clientHeight >= 70`)
		height(&after)
		if before > 45 {
			t.Errorf("at %d px, the field of Other is %v px high, then %v", size.Width, before, after)
		}
	}
	c.Check(t)
}

// Send is never disabled. A text next to the button names what is missing.
func TestChromiumPageNamesWhatIsMissing(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/asks/" + c.ask(form).ID)
	missing := func() (s string) {
		w.Run(chromedp.Evaluate(`document.querySelector("#missing").innerText`, &s))
		return s
	}
	got := []string{missing()}
	w.Click("#q2-1")
	got = append(got, missing())
	w.typeInto("#q1-other", "MariaDB")
	got = append(got, missing())
	want := []string{"Still to answer: questions 1 and 2", "Still to answer: question 1", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	w.open("/asks/" + c.ask(free).ID)
	if got := missing(); got != "Write an answer, then send it." {
		t.Errorf("got %q", got)
	}
	w.Press("button[value=answer]")
	w.waitText("Not sent yet.", "Please write an answer.")
	c.Check(t)
}

// drawn is an ask whose options have each kind of preview.
var drawn = askback.Request{Questions: []askback.Question{{Text: "Which layout?", Options: []askback.Option{
	{Label: "Table", Preview: "+------+\n| name |\n+------+"},
	{Label: "Steps", Preview: "First **this**:\n\n```sql\nselect 1;\n```"},
	{Label: "Nothing"},
}}}}

// One preview is shown. It belongs to the option under the pointer, or else to the option with the focus, the
// chosen option, or the first option. In a wide window, the preview is next to the options. In a narrow
// window, it is below the options. This works without scripts.
func TestChromiumPreviewIsBesideTheOptions(t *testing.T) {
	c := newChromium(t)
	for _, noJS := range []bool{false, true} {
		for _, size := range []browsertest.Viewport{
			{Width: 360, Height: 740, NoScript: noJS}, {Width: 1400, Height: 900, NoScript: noJS},
		} {
			w := c.window(size)
			w.login("ana")
			w.open("/asks/" + c.ask(drawn).ID)
			shown := func(want string) {
				t.Helper()
				var got []string
				w.Run(chromedp.Evaluate(`[...document.querySelectorAll(".preview")].filter((p) => p.checkVisibility()).map((p) => p.querySelector("bdi").textContent)`, &got))
				if strings.Join(got, " ") != want {
					t.Errorf("at %d px, without scripts %v: shown are the previews of %q, want %s", size.Width, noJS,
						got, want)
				}
			}
			shown("Table")
			w.Click("label:has(#q1-1)")
			w.Run(chromedp.MouseEvent(input.MouseMoved, 1, 1))
			shown("Steps")
			w.Run(chromedp.KeyEvent(kb.ArrowDown))
			shown("Nothing")
			if size.Width > 1000 {
				w.hover("label:has(#q1-0)")
				shown("Table")
				w.Run(chromedp.MouseEvent(input.MouseMoved, 1, 1))
				shown("Nothing")
			}
			var place string
			w.Run(chromedp.Evaluate(`(() => {
				const at = (s) => document.querySelector(s).getBoundingClientRect();
				const preview = [...document.querySelectorAll(".preview")].find((p) => p.checkVisibility()).getBoundingClientRect();
				return preview.left >= at("label:has(#q1-2)").right && preview.top <= at("label:has(#q1-0)").bottom ? "beside" : preview.top >= at(".other-choice").bottom ? "below" : "elsewhere";
			})()`, &place))
			if want := map[bool]string{true: "beside", false: "below"}[size.Width > 1000]; place != want {
				t.Errorf("at %d px, the preview is %s the options, want %s", size.Width, place, want)
			}
			if size.Width < 500 {
				w.checkWidth()
			}
		}
	}
	c.Check(t)
}

// No part of the arguments is folded until a person folds it, and a folded part shows its size. Line breaks
// in strings are real, and the JSON is one click away (T3).
func TestChromiumArgumentsAreShownAsATree(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/asks/" + c.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "mail.send",
		Input: json.RawMessage(
			`{"to":["ana","ben"],"body":"Hello,\nbye","n":1.50,"none":null,"list":[{"a":1},{"a":2}]}`,
		),
	}}).ID)
	text := func() (s string) {
		w.Run(chromedp.Evaluate(`document.querySelector(".tree").innerText`, &s))
		return strings.Join(strings.Fields(s), " ")
	}
	if got, want := text(), "toanaben bodytext, 2 lines, 10 characters Hello, bye n1.50 nonenull list2 items 1 "+
		"field a1 1 field a2"; got != want {
		t.Errorf("the tree is\n%s\nwant\n%s", got, want)
	}
	w.Click(".tree .block summary")
	if got, want := text(),
		"toanaben bodytext, 2 lines, 10 characters n1.50 nonenull list2 items 1 field a1 1 field a2"; got != want {
		t.Errorf("the folded tree is\n%s\nwant\n%s", got, want)
	}
	w.Click(".exact summary")
	w.wantText(`"n": 1.50,`)
	w.checkWidth()
	c.Check(t)
}

// A dangerous call is approved by holding a button for its whole time. A shorter hold, a
// click and a key approve nothing.
func TestChromiumHoldApprovesADangerousCall(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	a := c.ask(call)
	w.open("/asks/" + a.ID)
	w.waitUntilArmed()
	w.Click(".hold")
	w.Run(chromedp.Focus(".hold", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(" "))
	var word string
	w.Run(chromedp.Evaluate(
		`new Promise((done) => setTimeout(() => done(document.querySelector("#word").value), 1500))`, &word,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if word != "" || c.get(a.ID).Settled() {
		t.Fatalf("a click fills in %q, settled: %v", word, c.get(a.ID).Settled())
	}
	w.waitUntilArmed()
	var at struct{ X, Y float64 }
	w.Run(chromedp.Evaluate(`(() => { const r = document.querySelector(".hold").getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, &at))
	w.Run(chromedp.MouseEvent(input.MousePressed, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	w.waitText("All clear")
	if !c.outcome(a).Approved() {
		t.Error("it is not approved")
	}
	c.Check(t)
}

// The page of a call that replaces text shows the old and the new text above the arguments. After a person
// edited arguments, the form and the settled page show the changes.
func TestPagesShowChangedText(t *testing.T) {
	h := newServer(t)
	ana := h.browser("ana")
	a := h.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "Edit",
		Input:    json.RawMessage(`{"file_path":"/src/a.go","old_string":"one\ntwo","new_string":"one\n2"}`),
	}})
	lines := func(page *node, selector string) (out []string) {
		for _, n := range page.all(selector + " .diff-line") {
			out = append(out, n.one(t, ".sign").visibleText()+n.one(t, "code").raw())
		}
		return out
	}
	page := ana.open("/asks/"+a.ID, http.StatusOK)
	if got, want := lines(page, ".call"), []string{"one", "-two", "+2"}; !slices.Equal(got, want) {
		t.Errorf("the call shows %q, want %q", got, want)
	}
	whole := page.one(t, "details.exact-arguments")
	if has(whole, "open") || !strings.Contains(whole.one(t, "pre").raw(), `"old_string": "one`) ||
		len(page.all(".call .tree")) != 0 {
		t.Error("the exact arguments repeat the change, or are not on the page")
	}
	b := h.ask(harmless)
	page = ana.send("/asks/"+b.ID, url.Values{"action": {"stay"}, "input": {"{\n  \"to\": \"ana\"\n}"}},
		http.StatusUnprocessableEntity)
	want := []string{"{", `-  "to": "ben"`, `+  "to": "ana"`, "}"}
	if got := lines(page, ".edit"); !slices.Equal(got, want) {
		t.Errorf("the form shows %q, want %q", got, want)
	}
	ana.settle(b, url.Values{"action": {"approve"}, "input": {`{"to":"ana"}`}})
	if got := lines(ana.open("/asks/"+b.ID, http.StatusOK), ".result"); !slices.Equal(got, want) {
		t.Errorf("the settled page shows %q, want %q", got, want)
	}
	twice := h.ask(askback.Request{Confirmation: &askback.Confirmation{
		ToolName: "Edit", Input: json.RawMessage(`{"old_string":"a","new_string":"b","New_string":"c"}`),
	}})
	if got := ana.open("/asks/"+twice.ID, http.StatusOK).all(".diff"); len(got) != 0 {
		t.Error("a call with names that look alike shows a change")
	}
}
