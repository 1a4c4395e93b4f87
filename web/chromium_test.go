package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/askback/askback"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/leftout"
)

// A sharedBrowser is a browser that several tests share, because it takes longer to start than most tests
// run. The first test that needs the browser starts it.
type sharedBrowser struct {
	sync.Once
	*browsertest.Browser
	err error
}

// anyBrowser is for all tests, except for tests that need wholeBrowser.
var anyBrowser, wholeBrowser sharedBrowser

func TestMain(m *testing.M) {
	code := m.Run()
	for _, b := range []*sharedBrowser{&anyBrowser, &wholeBrowser} {
		if b.Browser != nil {
			b.Stop()
		}
	}
	os.Exit(code)
}

// chromium is a server with a real browser.
type chromium struct {
	*server
	browsertest.Monitor
	browser *sharedBrowser
	base    string
	down    atomic.Bool // the server is not reachable
	web     *httptest.Server
}

// newChromium returns a server with a real browser. The test runs in parallel with others.
func newChromium(t *testing.T) *chromium {
	t.Helper()
	return newChromiumOf(t, &anyBrowser, browsertest.Start)
}

// newWholeChromium is like newChromium, but returns a server with a browser that shows notifications. When a
// page is left, this browser does not drop the requests of the page.
func newWholeChromium(t *testing.T) *chromium {
	t.Helper()
	return newChromiumOf(t, &wholeBrowser, browsertest.StartWhole)
}

func newChromiumOf(t *testing.T, b *sharedBrowser, start func() (*browsertest.Browser, error)) *chromium {
	t.Helper()
	t.Parallel()
	b.Do(func() { b.Browser, b.err = start() })
	if errors.Is(b.err, browsertest.ErrNotInstalled) {
		leftout.Skip(t, "the pages in a real browser (chromium is not installed)")
	}
	if b.err != nil {
		t.Fatalf("start chromium: %v", b.err)
	}
	c := &chromium{server: newServer(t), browser: b}
	c.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.down.Load() {
			panic(http.ErrAbortHandler) // closes the connection
		}
		c.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(c.web.Close)
	c.base = c.web.URL
	return c
}

// disconnect makes the server unreachable. It closes the open connections, too.
func (c *chromium) disconnect() {
	c.down.Store(true)
	c.web.CloseClientConnections()
}

var (
	phone   = browsertest.Viewport{Width: 360, Height: 740}
	desktop = browsertest.Viewport{Width: 1100, Height: 800}
)

// A window is a browser window with the pages of a server.
type window struct {
	*chromium
	*browsertest.Window
}

func (c *chromium) window(v browsertest.Viewport) window {
	c.t.Helper()
	return window{c, c.browser.NewWindow(c.t, v, &c.Monitor)}
}

// login sets the cookie of a log-in, which is faster than a link. It opens no page. It also sets the cookie with the
// time zone of the browser. Otherwise the first page would load itself again while a test uses it.
func (w window) login(name string) {
	w.t.Helper()
	cookie := network.SetCookie("askback",
		w.secret(askback.Responder, name)).WithURL(w.base).WithHTTPOnly(true).WithSameSite(network.CookieSameSiteStrict)
	zone := w.eval(`Intl.DateTimeFormat().resolvedOptions().timeZone`)
	w.Run(cookie, network.SetCookie("askback-zone", zone).WithURL(w.base).WithSameSite(network.CookieSameSiteLax))
}

// loginWithLink logs in with a link and its button.
func (w window) loginWithLink(name string) {
	w.t.Helper()
	w.open("/login?secret=" + w.link(name))
	w.Press(`form[action="/login"] button`)
	w.wantText("Inbox")
}

func (w window) open(path string) {
	w.t.Helper()
	w.Open(w.base + path)
}

func (w window) typeInto(selector, text string) {
	w.t.Helper()
	w.Run(chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

// waitUntilArmed waits until Approve can be pressed.
func (w window) waitUntilArmed() {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(50 * time.Millisecond); ; {
			var ready bool
			err := chromedp.Evaluate("getComputedStyle(document.querySelector('.approve')).visibility === 'visible' "+
				"&& !document.querySelector('.approve').disabled", &ready).Do(ctx)
			if ready || err != nil {
				return err
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}))
}

func (w window) wantText(want ...string) {
	w.t.Helper()
	got := w.Text()
	for _, s := range want {
		if !strings.Contains(got, s) {
			w.t.Errorf("the page does not say %q:\n%s", s, got)
		}
	}
}

// waitText waits until the page contains each text. The text "a|b" means a or b.
func (w window) waitText(want ...string) {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(20 * time.Millisecond); ; {
			var got string
			_ = chromedp.Evaluate("document.body.innerText", &got).Do(ctx) // fails while the page changes
			if !slices.ContainsFunc(want, func(s string) bool {
				return !slices.ContainsFunc(strings.Split(s, "|"),
					func(one string) bool { return strings.Contains(got, one) })
			}) {
				return nil
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return fmt.Errorf("the page does not contain %q:\n%s", want, got)
			}
		}
	}))
}

func (c *chromium) outcome(a askback.Ask) *askback.Outcome {
	c.t.Helper()
	o := c.get(a.ID).Outcome
	if o == nil {
		c.t.Fatalf("%s is not settled", a.ID)
	}
	return o
}

// waitUntil waits until a JavaScript expression is true.
func (w window) waitUntil(expression string) {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(20 * time.Millisecond); ; {
			var ok bool
			if err := chromedp.Evaluate(expression, &ok).Do(ctx); err == nil && ok {
				return nil
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return fmt.Errorf("%s is not true: %w", expression, ctx.Err())
			}
		}
	}))
}

func (w window) waitTitle(want string) {
	w.t.Helper()
	w.waitUntil(fmt.Sprintf("document.title === %q", want))
}

func (w window) waitGone(selector string) {
	w.t.Helper()
	w.waitUntil(fmt.Sprintf("!document.querySelector(%q)", selector))
}

// next presses a key, and waits until the page shows the form of the ask with this id.
func (w window) next(key, id string) {
	w.t.Helper()
	w.Run(chromedp.KeyEvent(key))
	w.waitUntil(fmt.Sprintf(
		`location.pathname === "/asks/%[1]s" && document.querySelector("form.ask")?.dataset.ask === %[1]q`, id,
	))
}

// waitUntilKeysDecide waits until keys can decide the ask on the page.
func (w window) waitUntilKeysDecide() {
	w.t.Helper()
	w.waitUntil(`document.querySelector("form.ask") && document.body.dataset.keys === "ready"`)
}

// waitAddress waits until want returns true for the address of the page.
func (w window) waitAddress(want func(string) bool) {
	w.t.Helper()
	w.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(20 * time.Millisecond); ; {
			var at string
			if err := chromedp.Location(&at).Do(ctx); err == nil && want(at) {
				return nil
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}))
}

// typeKey presses a key as a keyboard does. If a script prevents the default action, the character is not
// typed. [chromedp.KeyEvent] would type it.
func (w window) typeKey(key string) {
	w.t.Helper()
	events := kb.Encode([]rune(key)[0])
	down, up := events[0], events[len(events)-1]
	if len(events) == 3 { // the character is a separate event
		down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
	}
	w.Run(down, up)
}

// hover moves the pointer over an element.
func (w window) hover(selector string) {
	w.t.Helper()
	var at struct{ X, Y float64 }
	w.Run(chromedp.Evaluate(fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, selector), &at))
	w.Run(chromedp.MouseEvent(input.MouseMoved, at.X, at.Y))
}
