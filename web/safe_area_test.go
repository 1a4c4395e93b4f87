package web_test

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/kit/browsertest"
)

// On a phone with a notch and a gesture bar, no control and no text is below the notch or the bar. This holds
// upright and on the side, at the beginning and at the end of each page. The page uses the whole screen, so
// the colors of its bars reach the edges.
func TestChromiumControlsStayInTheSafeArea(t *testing.T) {
	c := newChromium(t)
	calls := []string{c.ask(mailTo("ben")).ID, c.ask(mailTo("eve")).ID, c.ask(harmless).ID}
	for range 12 {
		c.ask(single)
	}
	pages := []string{
		"/", "/?select=1", "/asks/" + calls[0], "/asks/" + c.ask(call).ID,
		"/decide?ask=" + calls[0] + "&ask=" + calls[1], "/history", "/more", "/sessions",
	}
	for _, screen := range []struct {
		name                     string
		size                     browsertest.Viewport
		top, right, bottom, left int64
	}{
		{"upright", phone, 47, 0, 34, 0},
		{"on its side", browsertest.Viewport{Width: 480, Height: 360}, 0, 47, 21, 47},
		{"with two panes", browsertest.Viewport{Width: 956, Height: 440}, 0, 62, 21, 62},
	} {
		w := c.window(screen.size)
		w.login("ana")
		w.open("/")
		w.Run(emulation.SetSafeAreaInsetsOverride(&emulation.SafeAreaInsets{
			Top: screen.top, Right: screen.right, Bottom: screen.bottom, Left: screen.left,
		}))
		for _, path := range pages {
			w.open(path)
			for _, end := range []string{"0", "document.documentElement.scrollHeight"} {
				w.Run(chromedp.Evaluate("scrollTo(0, "+end+"); document.querySelectorAll('.list-pane, "+
					".detail-pane').forEach((e) => { e.scrollTop = "+end+"; })", nil))
				var covered []string
				w.Run(chromedp.Evaluate(outsideSafeArea, &covered))
				for _, what := range covered {
					t.Errorf("%s, %s, scrolled to %s: %s", screen.name, path, end, what)
				}
			}
		}
	}
	c.Check(t)
}

// outsideSafeArea is a script that returns the elements outside of the safe area. At the sides, these are all
// elements; at the top and the bottom, elements in a bar. Other elements scroll there.
const outsideSafeArea = `(() => {
	const probe = document.createElement("div");
	probe.style.cssText = "position:fixed;visibility:hidden;inset:env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left)";
	document.body.append(probe);
	const safe = probe.getBoundingClientRect();
	probe.remove();
	if (!document.querySelector("meta[name=viewport]").content.includes("viewport-fit=cover")) return ["the page does not use the whole screen"];
	if (safe.height === innerHeight) return ["the browser emulates no insets"];
	const out = [];
	for (const e of document.querySelectorAll("a, button, input:not([type=hidden]), summary, select, textarea, h1, label, .username")) {
		const r = e.getBoundingClientRect();
		if (r.width < 2 || r.height < 2 || !e.checkVisibility({ visibilityProperty: true })) continue;
		const bar = e.closest(".top, .nav, .bar, .decide-bar, .done-notice");
		const y = (r.top + r.bottom) / 2;
		const x = (r.left + r.right) / 2;
		const hit = x >= 0 && x < innerWidth && y >= 0 && y < innerHeight ? document.elementFromPoint(x, y) : null;
		const isShown = hit !== null && (e.contains(hit) || hit.contains(e));
		if (!isShown) continue;
		const name = (bar ? "." + bar.className + " " : "") + e.tagName + " " + (e.textContent.trim() || e.name || e.className).slice(0, 40);
		if (r.left < safe.left - 0.5 || r.right > safe.right + 0.5) out.push(name + " is at the side: " + r.left + " to " + r.right);
		if (bar && (r.top < safe.top - 0.5 || r.bottom > safe.bottom + 0.5)) out.push(name + " is at the edge: " + r.top + " to " + r.bottom);
	}
	return out;
})()`
