package browsertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Window is a browser window with its own cookies. Its methods fail the test if
// a step does not succeed in time.
type Window struct {
	t   testing.TB
	ctx context.Context

	mu      sync.Mutex
	origins []string // the origins of its pages
}

// Run runs actions in the window, in order.
func (w *Window) Run(actions ...chromedp.Action) {
	w.t.Helper()
	// The first Run attaches the window to its context, which must outlive the
	// actions.
	if err := chromedp.Run(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, stepTime)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// pageScript returns the data that explains a failed test: the focused element, the disabled elements, and
// the text.
const pageScript = `"focus: " + (document.activeElement?.outerHTML ?? "none").slice(0, 300) +
	"\nvisible: " + document.visibilityState + ", loaded: " + document.readyState +
	"\ndisabled: " + [...document.querySelectorAll(":disabled")].map((e) => e.outerHTML.slice(0, 200)).join(" ") +
	"\n" + document.body.innerText.slice(0, 4000)`

// logPage logs the page of the window, after a failure.
func (w *Window) logPage() {
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	var at, page string
	err := chromedp.Run(ctx, chromedp.Location(&at), chromedp.Evaluate(pageScript, &page))
	w.t.Logf("the window shows %s (%v)\n%s", at, err, page)
}

// Listen calls f with each event of the window, on another goroutine, in order.
func (w *Window) Listen(f func(ev any)) {
	w.Run()
	chromedp.ListenTarget(w.ctx, f)
}

// Bind adds a function with this name to the pages of the window. When a page calls the function with a
// string, Bind calls f with this string, on another goroutine, in order.
func (w *Window) Bind(name string, f func(string)) {
	w.t.Helper()
	w.Run(runtime.AddBinding(name))
	chromedp.ListenTarget(w.ctx, func(ev any) {
		if called, ok := ev.(*runtime.EventBindingCalled); ok && called.Name == name {
			f(called.Payload)
		}
	})
}

// Open opens a page and waits for its main element.
func (w *Window) Open(address string) {
	w.t.Helper()
	w.Run(chromedp.Navigate(address), chromedp.WaitReady("main"))
}

// Press clicks the first element that matches selector. It waits until the next page is loaded, or until htmx
// has changed the page in place.
func (w *Window) Press(selector string) {
	w.t.Helper()
	w.Run(untilStill(selector))
	w.next(chromedp.Click(selector, chromedp.ByQuery))
}

// stillTime is how long an element must keep its place before it is pressed. A press on a moving element
// would test nothing.
const stillTime = 50 * time.Millisecond

// untilStill returns an action that scrolls to the first element that matches selector, and waits until the
// element stops moving.
func untilStill(selector string) chromedp.Action {
	place := fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element?.scrollIntoView({ block: "nearest", behavior: "instant" });
		const box = element?.getBoundingClientRect();
		return box ? box.left + " " + box.top : "";
	})()`, selector)
	return chromedp.ActionFunc(func(ctx context.Context) error {
		before := ""
		for tick := time.Tick(stillTime); ; {
			var now string
			if err := chromedp.Evaluate(place, &now).Do(ctx); err == nil && now != "" && now == before {
				return nil
			}
			before = now
			select {
			case <-tick:
			case <-ctx.Done():
				return fmt.Errorf("%s is not still: %w", selector, ctx.Err())
			}
		}
	})
}

// PressKey presses a key, and waits like [Window.Press].
func (w *Window) PressKey(key string) {
	w.t.Helper()
	w.next(chromedp.KeyEvent(key))
}

// next runs an action, and waits until the next page is loaded or htmx has changed the page in place.
func (w *Window) next(action chromedp.Action) {
	w.t.Helper()
	w.Run(
		chromedp.Evaluate(`window.pressDone = false; document.addEventListener("htmx:finally:request", () => { window.pressDone = true; }, { once: true })`, nil),
		action,
		chromedp.ActionFunc(func(ctx context.Context) error {
			for tick := time.Tick(10 * time.Millisecond); ; {
				var done bool
				// An error means that the browser is replacing the page.
				err := chromedp.Evaluate(`window.pressDone !== false && document.readyState === "complete"`,
					&done).Do(ctx)
				if err == nil && done {
					return nil
				}
				select {
				case <-tick:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}),
		chromedp.WaitReady("main"),
	)
}

// Click clicks, in order, the first element that matches each selector.
func (w *Window) Click(selectors ...string) {
	w.t.Helper()
	for _, s := range selectors {
		w.Run(untilStill(s), chromedp.Click(s, chromedp.ByQuery))
	}
}

// Text returns the visible text of the page.
func (w *Window) Text() string {
	w.t.Helper()
	var s string
	w.Run(chromedp.Text("body", &s, chromedp.ByQuery))
	return s
}

// Address returns the address of the page.
func (w *Window) Address() string {
	w.t.Helper()
	var s string
	w.Run(chromedp.Location(&s))
	return s
}

// Screenshot returns a PNG image of the whole page.
func (w *Window) Screenshot() []byte {
	w.t.Helper()
	var png []byte
	w.Run(chromedp.FullScreenshot(&png, 100))
	return png
}
