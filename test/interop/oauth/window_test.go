package oauth_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/interop/clienttest"
)

// chromium is a real browser, started once for a test. Its windows share nothing.
type chromium struct {
	t    *testing.T
	root context.Context

	mu     sync.Mutex
	alarms []string // what a page's policy had to stop, and what wanted to leave the machine
}

func newChromium(t *testing.T) *chromium {
	t.Helper()
	clienttest.Packages(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("LEFT OUT: signing in with a real browser (chromium is not installed)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return &chromium{t: t, root: ctx}
}

// A window is a browser of its own on a phone, with no cookies of others.
type window struct {
	*chromium
	ctx context.Context
}

func (c *chromium) window() window {
	c.t.Helper()
	var id target.ID
	err := chromedp.Run(c.root, chromedp.ActionFunc(func(ctx context.Context) error {
		ctx = cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		own, err := target.CreateBrowserContext().Do(ctx)
		if err == nil {
			id, err = target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(ctx)
		}
		return err
	}))
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(c.root, chromedp.WithTargetID(id))
	c.t.Cleanup(cancel)
	w := window{c, ctx}
	chromedp.ListenTarget(ctx, w.watch)
	w.run(network.Enable(), log.Enable(), fetch.Enable(), emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	return w
}

// watch lets requests to this machine through, and notes all that must not happen.
func (w window) watch(ev any) {
	switch ev := ev.(type) {
	case *fetch.EventRequestPaused:
		u, _ := url.Parse(ev.Request.URL)
		ours := u != nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
		if !ours {
			w.alarm("a request to " + ev.Request.URL)
		}
		go func() {
			if ours {
				_ = chromedp.Run(w.ctx, fetch.ContinueRequest(ev.RequestID))
			} else {
				_ = chromedp.Run(w.ctx, fetch.FailRequest(ev.RequestID, network.ErrorReasonBlockedByClient))
			}
		}()
	case *page.EventJavascriptDialogOpening:
		w.alarm("a dialog: " + ev.Message)
		go func() { _ = chromedp.Run(w.ctx, page.HandleJavaScriptDialog(false)) }()
	case *log.EventEntryAdded:
		if ev.Entry.Source == log.SourceSecurity || ev.Entry.Level == log.LevelError && !strings.Contains(ev.Entry.Text, "the server responded with a status of") {
			w.alarm("log: " + ev.Entry.Text + " " + ev.Entry.URL)
		}
	}
}

func (c *chromium) alarm(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarms = append(c.alarms, what)
}

// quiet fails when a page's policy had to stop something, or it wanted to leave the machine.
func (c *chromium) quiet() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, what := range c.alarms {
		c.t.Error(what)
	}
}

func (w window) run(actions ...chromedp.Action) {
	w.t.Helper()
	// Run on a context without a target makes one that ends with it.
	if err := chromedp.Run(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		w.t.Fatalf("%v, at %s:\n%s", err, w.at(), w.glimpse())
	}
}

// glimpse is what is on the page, if anything.
func (w window) glimpse() (text string) {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Text("body", &text, chromedp.ByQuery))
	return text
}

func (w window) open(address string) {
	w.t.Helper()
	w.run(chromedp.Navigate(address), chromedp.WaitReady("main"))
}

// press clicks and waits for the page that comes, over whatever redirects.
func (w window) press(selector string) {
	w.t.Helper()
	w.run(chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.Click(selector, chromedp.ByQuery))
		return err
	}), chromedp.WaitReady("main"))
}

func (w window) click(selector string) {
	w.t.Helper()
	w.run(chromedp.Click(selector, chromedp.ByQuery))
}

// signsIn fills in the pages of the issuer.
func (w window) signsIn(name string) {
	w.t.Helper()
	w.see("Issuer: who are you?")
	w.run(chromedp.SendKeys(`input[name="login"]`, name, chromedp.ByQuery))
	w.press("button")
	w.see("Issuer: do you agree?")
	w.press("button")
}

// at is the address of the page.
func (w window) at() (address string) {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Location(&address))
	return address
}

// is checks the address of the page.
func (w window) is(want string) {
	w.t.Helper()
	if got := w.at(); got != want {
		w.t.Errorf("the page is %s, want %s\n%s", got, want, w.glimpse())
	}
}

func (w window) see(want ...string) {
	w.t.Helper()
	got := w.glimpse()
	for _, s := range want {
		if !strings.Contains(got, s) {
			w.t.Errorf("%s does not say %q:\n%s", w.at(), s, got)
		}
	}
}

func (w window) miss(not ...string) {
	w.t.Helper()
	got := w.glimpse()
	for _, s := range not {
		if strings.Contains(got, s) {
			w.t.Errorf("%s says %q:\n%s", w.at(), s, got)
		}
	}
}

// shot takes a picture of the whole page, for people to look at: ASKBACK_PICTURES
// names the folder. Nothing may be wider than the phone.
func (w window) shot(name string) {
	w.t.Helper()
	var wide int
	w.run(chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
	if wide > 360 {
		w.t.Errorf("%s is %d wide", name, wide)
	}
	dir := os.Getenv("ASKBACK_PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	w.run(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		w.t.Fatal(err)
	}
}
