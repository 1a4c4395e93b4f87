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

// theBrowser is one process for all tests of this package: starting one takes
// longer than most tests do. It is started by the first test that wants it.
var theBrowser struct {
	sync.Once
	ctx  context.Context // nil: there is none here
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if theBrowser.stop != nil {
		theBrowser.stop()
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
	theBrowser.stop = func() {
		_ = chromedp.Cancel(ctx)
		end()
	}
	theBrowser.ctx, theBrowser.err = ctx, chromedp.Run(ctx)
}

// patience is how long one step in the browser may take, on a machine that has
// other things to do. It is no measure of how fast anything is.
const patience = 2 * time.Minute

// chromium is a house with a real browser in front of it. Its windows share no
// cookies with each other, nor with those of other tests.
type chromium struct {
	*house
	base string

	mu      sync.Mutex
	foreign []string // requests that wanted to leave the machine
	alarms  []string // dialogs, and what the page's policy had to stop
}

// newChromium makes a house for a test, which runs beside others: much of what
// it does is to wait.
func newChromium(t *testing.T) *chromium {
	t.Helper()
	t.Parallel()
	theBrowser.Do(startBrowser)
	if theBrowser.ctx == nil {
		leftout.Skip(t, "the pages in a real browser (chromium is not installed)")
	}
	if theBrowser.err != nil {
		t.Fatalf("start chromium: %v", theBrowser.err)
	}
	c := &chromium{house: newHouse(t)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	c.base = server.URL
	return c
}

// A look is how a window is set up.
type look struct {
	width, height int64
	dark, noJS    bool
}

var (
	phone   = look{width: 360, height: 740}
	desktop = look{width: 1100, height: 800}
)

// window opens a browser of its own, with no cookies of others, and logs in.
type window struct {
	*chromium
	ctx context.Context
}

func (c *chromium) window(l look) window {
	c.t.Helper()
	var id target.ID
	browser := cdp.WithExecutor(theBrowser.ctx, chromedp.FromContext(theBrowser.ctx).Browser)
	own, err := target.CreateBrowserContext().Do(browser)
	if err == nil {
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(browser)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(theBrowser.ctx, chromedp.WithTargetID(id))
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
		emulation.SetFocusEmulationEnabled(true), // other tests open windows above this one
		emulation.SetScriptExecutionDisabled(l.noJS),
	)
	return w
}

// watch lets requests to this machine through, and notes all that must not happen.
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

// quiet fails when anything wanted to leave the machine or to run.
func (c *chromium) quiet() {
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
	// Run on a context without a target makes one that ends with it.
	if err := chromedp.Run(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// login walks through the link and its button.
func (w window) login(name string) {
	w.t.Helper()
	w.open("/login?secret=" + w.link(name))
	w.press(`form[action="/login"] button`)
	w.see("Inbox")
}

func (w window) open(path string) {
	w.t.Helper()
	w.run(chromedp.Navigate(w.base+path), chromedp.WaitReady("main"))
}

// press clicks and waits for the page that comes.
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

func (w window) write(selector, words string) {
	w.t.Helper()
	w.run(chromedp.SendKeys(selector, words, chromedp.ByQuery))
}

// armed waits until Approve can be pressed.
func (w window) armed() {
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

// text is what a person reads on the page.
func (w window) text() string {
	w.t.Helper()
	var s string
	w.run(chromedp.Text("body", &s, chromedp.ByQuery))
	return s
}

func (w window) see(want ...string) {
	w.t.Helper()
	got := w.text()
	for _, s := range want {
		if !strings.Contains(got, s) {
			w.t.Errorf("the page does not say %q:\n%s", s, got)
		}
	}
}

// shot takes a picture of the whole page.
func (w window) shot() []byte {
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
