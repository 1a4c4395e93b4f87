package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/browsertest"
)

// On a phone, a preview does not wrap its lines. It scrolls sideways, and the page does
// not.
func TestChromiumPreviewKeepsItsLines(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	const table = "```\n+------------+-------------+-----------+-----------+\n| name       | status      | since     | by        |\n```"
	a := c.ask(askback.Request{Questions: []askback.Question{{Text: "Which layout?", Options: []askback.Option{{Label: "Table", Preview: table}, {Label: "List"}}}}})
	w.open("/asks/" + a.ID)
	var got struct {
		Rows   int
		Scroll bool
		Text   string
	}
	w.Run(chromedp.Evaluate(`(() => {
		const pre = document.querySelector(".preview pre"), line = parseFloat(getComputedStyle(pre).lineHeight);
		const inner = pre.clientHeight - parseFloat(getComputedStyle(pre).paddingTop) * 2;
		return {Rows: Math.round(inner / line), Scroll: pre.scrollWidth > pre.clientWidth, Text: pre.textContent.slice(0, 5)};
	})()`, &got))
	if got.Rows != 2 || !got.Scroll || got.Text != "+----" {
		t.Errorf("the preview is drawn as %+v, want two rows that scroll", got)
	}
	w.checkWidth()
	c.Check(t)
}

// Deny does not look like Approve for a dangerous call. A notice covers Approve until it
// can be pressed.
func TestChromiumNoticeCoversDangerousApprove(t *testing.T) {
	c := newChromium(t)
	for _, dark := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, Dark: dark})
		w.login("ana")
		a := c.ask(call)
		w.open("/asks/" + a.ID)
		var wait struct {
			Words   string
			Covered bool
		}
		const seen = `(() => {
			const wait = document.querySelector(".approve-below .wait"), button = document.querySelector(".approve-once");
			button.disabled = true; // as the script does until a moment has passed
			const b = wait.getBoundingClientRect(), r = button.getBoundingClientRect();
			wait.scrollIntoView();
			const at = wait.getBoundingClientRect();
			const hit = document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2);
			return {Words: hit.textContent, Covered: Math.abs(b.x - r.x) + Math.abs(b.width - r.width) < 2};
		})()`
		w.Run(chromedp.Evaluate(seen, &wait))
		if wait.Words != "Approve: wait a moment" || !wait.Covered {
			t.Errorf("dark %v: in place of the button there is %+v", dark, wait)
		}
		w.waitUntilArmed()
		var same bool
		w.Run(chromedp.Evaluate(`(() => {
			const of = (s) => getComputedStyle(document.querySelector(s));
			return of(".deny").color === of(".approve-once").backgroundColor || of(".deny").borderColor === of(".approve-once").borderColor;
		})()`, &same))
		if same {
			t.Errorf("dark %v: Deny and Approve have one colour", dark)
		}
	}
	c.Check(t)
}

// A real browser shows the requested ask after the log-in.
func TestChromiumLogInReturnsToTheAsk(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	a := c.ask(single)
	w.open("/asks/" + a.ID)
	w.wantText("Log in first", "askback login")
	w.open("/login?secret=" + w.link("ana"))
	w.Press(`form[action="/login"] button`)
	w.wantText("Which database should we use?", "Send answer")
	c.Check(t)
}
