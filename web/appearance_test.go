package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
)

// On a phone, a preview does not wrap its lines. The preview scrolls sideways, but the page does not.
func TestChromiumPreviewDoesNotWrapLines(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	const table = "```\n+------------+-------------+-----------+-----------+\n| name       | status      | since    " +
		" | by        |\n```"
	a := c.ask(askback.Request{Questions: []askback.Question{
		{Text: "Which layout?", Options: []askback.Option{{Label: "Table", Preview: table}, {Label: "List"}}},
	}})
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

// Deny does not look like Approve for a dangerous call. A notice covers Approve until the button can be
// pressed.
func TestChromiumNoticeCoversDangerousApprove(t *testing.T) {
	c := newChromium(t)
	for _, dark := range []bool{false, true} {
		w := c.window(browsertest.Viewport{Width: 360, Height: 740, Dark: dark})
		w.login("ana")
		a := c.ask(call)
		w.open("/asks/" + a.ID)
		w.waitUntilArmed()
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
			button.disabled = false;
			return {Words: hit.textContent, Covered: Math.abs(b.x - r.x) + Math.abs(b.width - r.width) < 2};
		})()`
		w.Run(chromedp.Evaluate(seen, &wait))
		if wait.Words != "Approve: wait a moment" || !wait.Covered {
			t.Errorf("dark %v: in place of the button there is %+v", dark, wait)
		}
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

// If a person prefers reduced motion, nothing on the pages moves. No transition or animation takes time. This
// includes held elements and elements that leave the list. The delay before Approve of a dangerous call is
// not a motion: after the delay, the button appears without an animation.
func TestChromiumReducedMotionIsRespected(t *testing.T) {
	c := newChromium(t)
	for preference, moves := range map[string]bool{"no-preference": true, "reduce": false} {
		w := c.window(phone)
		w.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-reduced-motion", Value: preference},
		}))
		w.login("ana")
		var found []string
		for _, path := range []string{"/asks/" + c.ask(call).ID, "/asks/" + c.ask(form).ID, "/", "/history", "/more"} {
			w.open(path)
			var moving []string
			w.Run(chromedp.Evaluate(movingElements, &moving))
			for _, s := range moving {
				found = append(found, path+": "+s)
			}
		}
		if moves != (len(found) > 0) {
			t.Errorf("with %s these move: %q", preference, found)
		}
	}
	c.Check(t)
}

// movingElements returns the elements that move, including elements that are held or leave.
const movingElements = `(() => {
	document.querySelectorAll(".hold").forEach((e) => e.classList.add("is-held"));
	document.querySelectorAll(".row").forEach((e) => e.classList.add("is-leaving"));
	const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0);
	return [...document.querySelectorAll("*")].flatMap((e) => ["", "::before", "::after"].flatMap((part) => {
		const style = getComputedStyle(e, part || null);
		const animated = style.animationName !== "none" && lasts(style.animationDuration) && style.animationTimingFunction !== "step-end" && !style.animationTimingFunction.startsWith("steps(1");
		return animated || lasts(style.transitionDuration) || style.scrollBehavior === "smooth" ? [e.className + part] : [];
	}));
})()`
