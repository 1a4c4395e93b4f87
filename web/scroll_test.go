package web_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/racedetector"
)

// recordFrames is a script that records how a page scrolls. It records the times between frames, the
// distances that elements moved without scrolling, and the places to which the page scrolled back.
const recordFrames = `(() => {
	const scrolled = window.scrolled = { frames: [], shift: 0, back: 0 };
	// The link to the next page moves down when rows are added before it, as it should.
	const moved = (s) => s.node && !(s.node.nodeType === 1 ? s.node : s.node.parentElement)?.closest(".list-next");
	new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.sources.some(moved)) scrolled.shift += e.value; }).observe({ type: "layout-shift", buffered: false });
	let last = performance.now(), top = scrollY;
	requestAnimationFrame(function frame(now) {
		scrolled.frames.push(now - last);
		if (scrollY < top) scrolled.back += top - scrollY;
		[last, top] = [now, scrollY];
		requestAnimationFrame(frame);
	});
})()`

// scrolling is a record of a page while it was scrolled.
type scrolling struct {
	Frames, Late, Rows, Twice int     // late means after more than 34 ms, two frames of a common screen
	Longest, Shift, Back      float64 // in ms, in the browser's unit, and in CSS pixels
}

// scrollToEnd scrolls a list of a phone by gestures until it has no further page and
// its end is shown.
func scrollToEnd(w *browsertest.Window, cpu float64) (s scrolling) {
	w.Run(emulation.SetCPUThrottlingRate(cpu), chromedp.Evaluate(recordFrames, nil))
	for range 100 {
		var ended bool
		w.Run(
			input.SynthesizeScrollGesture(180,
				400).WithYDistance(-2500).WithSpeed(5000).WithGestureSourceType(input.GestureMouse),
			chromedp.Evaluate(`!document.querySelector(".list-next a") && scrollY + innerHeight >= document.documentElement.scrollHeight - 1`, &ended),
		)
		if ended {
			break
		}
	}
	w.Run(emulation.SetCPUThrottlingRate(1), chromedp.Evaluate(`(() => {
		const f = scrolled.frames.slice(1), rows = [...document.querySelectorAll("#list > .row")];
		return { Frames: f.length, Late: f.filter((t) => t > 34).length, Longest: Math.max(...f), Shift: scrolled.shift, Back: scrolled.back,
			Rows: rows.length, Twice: rows.length - new Set(rows.map((r) => r.id)).size };
	})()`, &s))
	return s
}

// On a phone, a long list is scrolled to its end by gestures. Its further pages are loaded meanwhile, no row
// is lost, and no element moves without scrolling. With ASKBACK_LONG, as in make prove, the list has a
// thousand asks.
func TestChromiumLongListIsScrolledOnAPhone(t *testing.T) {
	racedetector.Omit(t)
	c := newChromium(t)
	requests, count := scrolledAsks(), 250
	if os.Getenv("ASKBACK_LONG") != "" {
		count = 1000
	}
	for n := range count {
		c.ask(requests[n%len(requests)])
	}
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	// The line below the list would be pushed away by the rows of the next page, from under a finger.
	const below = `getComputedStyle(document.getElementById("push-state")).display`
	if got := w.eval(below); got != "none" {
		t.Errorf("the line below a list with a further page has display: %s, want none", got)
	}
	got := scrollToEnd(w.Window, 1)
	if got := w.eval(below); got != "flex" {
		t.Errorf("the line below the whole list has display: %s, want flex", got)
	}
	if got.Rows != count || got.Twice != 0 {
		t.Errorf("the list has %d rows, %d of them twice, want %d", got.Rows, got.Twice, count)
	}
	if got.Shift > 0.01 || got.Back > 1 {
		t.Errorf("elements moved by %v, and the page scrolled back by %v px", got.Shift, got.Back)
	}
	t.Logf("%+v", got)
	c.Check(t)
}

// While a list of a thousand asks is scrolled on a phone, few frames are late, even if its processor is slow.
func BenchmarkScrollThousandPending(b *testing.B) {
	chrome, err := browsertest.Start()
	if errors.Is(err, browsertest.ErrNotInstalled) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(chrome.Stop)
	e, pages, cookie := newBenchServer(b)
	for n := range 1000 {
		benchAsk(b, e, n)
	}
	server := httptest.NewServer(pages)
	b.Cleanup(server.CloseClientConnections)
	for _, cpu := range []float64{1, 4} {
		b.Run(fmt.Sprintf("cpu=1/%v", cpu), func(b *testing.B) {
			for b.Loop() {
				var monitor browsertest.Monitor
				w := chrome.NewWindow(b, phone, &monitor)
				w.Run(network.SetCookie("askback", strings.TrimPrefix(cookie, "askback=")).WithURL(server.URL))
				w.Open(server.URL + "/")
				s := scrollToEnd(w, cpu)
				b.ReportMetric(100*float64(s.Late)/float64(s.Frames), "%late")
				b.ReportMetric(s.Longest, "longest-ms")
				b.ReportMetric(s.Shift, "shift")
				b.ReportMetric(float64(s.Frames), "frames")
			}
		})
	}
}
