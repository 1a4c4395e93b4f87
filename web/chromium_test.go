package web_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/leftout"
)

// sharedBrowser is the process for all tests of this package, because starting one
// takes longer than most tests. The first test that needs it starts it.
var sharedBrowser struct {
	sync.Once
	ctx  context.Context // nil if Chromium is not installed
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedBrowser.stop != nil {
		sharedBrowser.stop()
	}
	os.Exit(code)
}

func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	sharedBrowser.stop = func() {
		_ = chromedp.Cancel(ctx)
		end()
	}
	sharedBrowser.ctx, sharedBrowser.err = ctx, chromedp.Run(ctx)
}

// patience is the deadline for one step in the browser. It is generous, because the
// machine may be busy.
const patience = 2 * time.Minute

// chromium is a server with a real browser. Its windows share no cookies with each
// other or with those of other tests.
type chromium struct {
	*server
	base string

	mu      sync.Mutex
	foreign []string // requests to other machines
	alarms  []string // dialogs, exceptions and violations of the policy
}

// newChromium returns a server for a test, which runs in parallel with others.
func newChromium(t *testing.T) *chromium {
	t.Helper()
	t.Parallel()
	sharedBrowser.Do(startBrowser)
	if sharedBrowser.ctx == nil {
		leftout.Skip(t, "the pages in a real browser (chromium is not installed)")
	}
	if sharedBrowser.err != nil {
		t.Fatalf("start chromium: %v", sharedBrowser.err)
	}
	c := &chromium{server: newServer(t)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	c.base = server.URL
	return c
}

// A viewport is the size and the settings of a window.
type viewport struct {
	width, height int64
	dark, noJS    bool
}

var (
	phone   = viewport{width: 360, height: 740}
	desktop = viewport{width: 1100, height: 800}
)

// A window is a browser window with its own cookies.
type window struct {
	*chromium
	ctx context.Context
}

func (c *chromium) window(l viewport) window {
	c.t.Helper()
	var id target.ID
	browser := cdp.WithExecutor(sharedBrowser.ctx, chromedp.FromContext(sharedBrowser.ctx).Browser)
	own, err := target.CreateBrowserContext().Do(browser)
	if err == nil {
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(browser)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(sharedBrowser.ctx, chromedp.WithTargetID(id))
	c.t.Cleanup(func() {
		cancel()
		_ = target.DisposeBrowserContext(own).Do(browser)
	})
	w := window{c, ctx}
	chromedp.ListenTarget(ctx, w.watch)
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	w.run(
		network.Enable(), log.Enable(), runtime.Enable(), fetch.Enable(),
		emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		emulation.SetFocusEmulationEnabled(true), // other tests open windows on top of this one
		emulation.SetScriptExecutionDisabled(l.noJS),
	)
	return w
}

// watch lets requests to this machine through, and records everything that must not
// happen.
func (w window) watch(ev any) {
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		u, _ := url.Parse(ev.Request.URL)
		ours := u != nil && net.ParseIP(u.Hostname()).IsLoopback()
		if !ours {
			w.note(&w.foreign, ev.Request.URL)
		}
		go func() {
			if ours {
				_ = chromedp.Run(w.ctx, fetch.ContinueRequest(ev.RequestID))
			} else {
				_ = chromedp.Run(w.ctx, fetch.FailRequest(ev.RequestID, network.ErrorReasonBlockedByClient))
			}
		}()
	case *page.EventJavascriptDialogOpening:
		w.note(&w.alarms, "dialog: "+ev.Message)
		go func() { _ = chromedp.Run(w.ctx, page.HandleJavaScriptDialog(false)) }()
	case *log.EventEntryAdded:
		if ev.Entry.Source == log.SourceSecurity || ev.Entry.Level == log.LevelError && !strings.Contains(ev.Entry.Text, "the server responded with a status of") {
			w.note(&w.alarms, "log: "+ev.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		w.note(&w.alarms, "exception: "+ev.ExceptionDetails.Text)
	}
}

func (c *chromium) note(list *[]string, s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, s)
}

// checkAlarms reports requests to other machines, dialogs, scripts and violations of
// the policy.
func (c *chromium) checkAlarms() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.foreign {
		c.t.Errorf("a request to %s", u)
	}
	for _, a := range c.alarms {
		c.t.Error(a)
	}
}

func (w window) run(actions ...chromedp.Action) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	// chromedp.Run on a new context creates a target that ends with the context.
	if err := chromedp.Run(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// login logs in with a link and its button.
func (w window) login(name string) {
	w.t.Helper()
	w.open("/login?secret=" + w.link(name))
	w.press(`form[action="/login"] button`)
	w.wantText("Inbox")
}

func (w window) open(path string) {
	w.t.Helper()
	w.run(chromedp.Navigate(w.base+path), chromedp.WaitReady("main"))
}

// press clicks and waits for the next page.
func (w window) press(selector string) {
	w.t.Helper()
	w.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.ByQuery))
		return err
	}), chromedp.WaitReady("main"))
}

func (w window) click(selectors ...string) {
	w.t.Helper()
	for _, s := range selectors {
		w.run(chromedp.Click(s, chromedp.ByQuery))
	}
}

func (w window) typeInto(selector, text string) {
	w.t.Helper()
	w.run(chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

// waitUntilArmed waits until Approve can be pressed.
func (w window) waitUntilArmed() {
	w.t.Helper()
	w.run(chromedp.ActionFunc(func(ctx context.Context) error {
		for tick := time.Tick(50 * time.Millisecond); ; {
			var ready bool
			err := chromedp.Evaluate("getComputedStyle(document.querySelector('.approve')).visibility === 'visible' && !document.querySelector('.approve').disabled", &ready).Do(ctx)
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

// text returns the visible text of the page.
func (w window) text() string {
	w.t.Helper()
	var s string
	w.run(chromedp.Text("body", &s, chromedp.ByQuery))
	return s
}

func (w window) wantText(want ...string) {
	w.t.Helper()
	got := w.text()
	for _, s := range want {
		if !strings.Contains(got, s) {
			w.t.Errorf("the page does not say %q:\n%s", s, got)
		}
	}
}

// screenshot returns a picture of the whole page.
func (w window) screenshot() []byte {
	w.t.Helper()
	var png []byte
	w.run(chromedp.FullScreenshot(&png, 100))
	return png
}

func (c *chromium) outcome(a askback.Ask) *askback.Outcome {
	c.t.Helper()
	o := c.get(a.ID).Outcome
	if o == nil {
		c.t.Fatalf("%s is not settled", a.ID)
	}
	return o
}
