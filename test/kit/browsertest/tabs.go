package browsertest

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// A tab shows the pages of one window at a time. It has a browser context of its own, so that tabs share no
// cookies. A new tab starts a process, which takes longer than most tests, so the tab of a closed window is
// cleaned and used again.
type tab struct {
	id  target.ID
	own cdp.BrowserContextID
}

// tabs are the tabs that no window uses.
type tabs struct {
	mu   sync.Mutex
	idle []tab
	// empty is the address of an empty page. When a tab leaves the pages of a test for this page, Chromium
	// keeps the process of the tab. It keeps the process because all these pages are on this machine. It does
	// not keep the process for about:blank.
	empty string
}

// browser returns a context for commands to the browser.
func (b *Browser) browser() context.Context {
	return cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)
}

// take returns an idle tab, or a new tab if no tab is idle.
func (b *Browser) take() (t tab, err error) {
	b.tabs.mu.Lock()
	if n := len(b.tabs.idle); n > 0 {
		t, b.tabs.idle = b.tabs.idle[n-1], b.tabs.idle[:n-1]
		b.tabs.mu.Unlock()
		return t, nil
	}
	b.tabs.mu.Unlock()
	if t.own, err = target.CreateBrowserContext().Do(b.browser()); err == nil {
		t.id, err = target.CreateTarget(b.tabs.empty).WithBrowserContextID(t.own).WithNewWindow(true).Do(b.browser())
	}
	return t, err
}

// release closes the window of a tab. The tab is used again, unless its test has failed or it cannot be
// cleaned.
func (b *Browser) release(t tab, w *Window, cancel func()) {
	if w.t.Failed() {
		w.logPage()
	}
	if w.t.Failed() || b.clean(t, w) != nil {
		cancel()
		_ = target.DisposeBrowserContext(t.own).Do(b.browser())
		return
	}
	// Without its id, chromedp detaches from the tab but does not close it. Detaching ends all emulation, and
	// removes the scripts that the test has added to pages.
	chromedp.FromContext(w.ctx).Target.TargetID = ""
	cancel()
	b.tabs.mu.Lock()
	defer b.tabs.mu.Unlock()
	b.tabs.idle = append(b.tabs.idle, t)
}

// clean removes everything that the pages of a window have stored.
func (b *Browser) clean(t tab, w *Window) error {
	ctx, cancel := context.WithTimeout(w.ctx, stepTime)
	defer cancel()
	err := chromedp.Run(ctx, chromedp.Navigate(b.tabs.empty), chromedp.Evaluate(`name = ""`, nil),
		page.ResetNavigationHistory(), network.ClearBrowserCookies(), network.ClearBrowserCache())
	for _, origin := range w.leftOrigins() {
		err = errors.Join(err, chromedp.Run(ctx, storage.ClearDataForOrigin(origin, "all")))
	}
	return errors.Join(err, browser.ResetPermissions().WithBrowserContextID(t.own).Do(b.browser()))
}

// visited records the origin of a page that the window shows.
func (w *Window) visited(ev any) {
	at, ok := ev.(*page.EventFrameNavigated)
	if !ok {
		return
	}
	if u, err := url.Parse(at.Frame.URL); err == nil && u.Host != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		if origin := u.Scheme + "://" + u.Host; !slices.Contains(w.origins, origin) {
			w.origins = append(w.origins, origin)
		}
	}
}

// leftOrigins returns the origins of all pages that the window has shown.
func (w *Window) leftOrigins() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.origins)
}
