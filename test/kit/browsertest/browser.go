// Package browsertest runs tests in Chromium. Its windows load pages only from
// this machine, and a [Monitor] records blocked requests, dialogs and errors.
package browsertest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNotInstalled is returned by [Start] if there is no Chromium.
var ErrNotInstalled = errors.New("chromium is not installed")

// The deadlines for the start of Chromium and for each step in a window. They
// are long because the machine may be busy.
const startTime, stepTime = 2 * time.Minute, time.Minute

// A Browser is a running Chromium. It is safe for concurrent use.
type Browser struct {
	ctx  context.Context
	stop func()
	tabs tabs
}

// The names of the program, in order of preference.
var (
	whole    = []string{"chromium", "chromium-browser", "google-chrome"}
	headless = []string{"chromium-headless-shell", "chrome-headless-shell"}
)

// Start starts Chromium, or returns [ErrNotInstalled]. The caller must call [Browser.Stop]. It prefers the
// headless shell, which draws the same pages in about half of the processor time. The headless shell shows no
// notifications, and may drop the last requests of a page that is left.
func Start() (*Browser, error) { return start(slices.Concat(headless, whole)) }

// StartWhole is like [Start], but starts the whole browser, with the features that the headless shell lacks.
func StartWhole() (*Browser, error) { return start(whole) }

func start(names []string) (*Browser, error) {
	path := ""
	for _, name := range names {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		return nil, ErrNotInstalled
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(startTime),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		// Windows are used again, so a spare process for the next page is not worth its start.
		chromedp.Flag("disable-features",
			"site-per-process,Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"),
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	empty := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b := &Browser{ctx: ctx, tabs: tabs{empty: empty.URL}, stop: func() {
		_ = chromedp.Cancel(ctx)
		end()
		empty.Close()
	}}
	if err := chromedp.Run(ctx); err != nil {
		b.Stop()
		return nil, err
	}
	return b, nil
}

// Stop stops Chromium and closes its windows.
func (b *Browser) Stop() { b.stop() }

// A Viewport is the size and the settings of a window. A width below 500 emulates
// a phone.
type Viewport struct {
	Width, Height int64
	Dark          bool // prefers dark colors
	NoScript      bool // does not run JavaScript
}

// NewWindow opens a window that shares no cookies with other windows and is closed at the end of the test.
// The monitor m records the blocked requests and the violations of its pages.
func (b *Browser) NewWindow(t testing.TB, v Viewport, m *Monitor) *Window {
	t.Helper()
	tab, err := b.take()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(tab.id))
	w := &Window{t: t, ctx: ctx}
	t.Cleanup(func() { b.release(tab, w, cancel) })
	chromedp.ListenTarget(ctx, func(ev any) {
		w.visited(ev)
		m.handle(ctx, ev)
	})
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	w.Run(
		network.Enable(), log.Enable(), runtime.Enable(), fetch.Enable(),
		emulation.SetDeviceMetricsOverride(v.Width, v.Height, 1, v.Width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
		}),
		emulation.SetFocusEmulationEnabled(true), // other tests may open windows above this one
		emulation.SetScriptExecutionDisabled(v.NoScript),
	)
	return w
}
