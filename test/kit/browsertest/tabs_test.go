package browsertest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/kit/leftout"
)

// state describes everything that a page can find of earlier windows.
const state = `(async () => JSON.stringify({
	cookie: document.cookie,
	local: localStorage.length,
	session: sessionStorage.length,
	caches: await caches.keys(),
	workers: (await navigator.serviceWorker.getRegistrations()).length,
	databases: (await indexedDB.databases()).length,
	notifications: Notification.permission,
	history: history.length,
	name: window.name,
	added: typeof added,
	told: typeof told,
	inset: getComputedStyle(document.querySelector("main")).paddingTop,
	motion: matchMedia("(prefers-reduced-motion: reduce)").matches,
	width: innerWidth,
}))()`

// A window that reuses the tab of another window finds no data of the other window.
func TestReusedWindowFindsNoEarlierData(t *testing.T) {
	t.Run("any", func(t *testing.T) { testTabs(t, Start) })
	t.Run("whole", func(t *testing.T) { testTabs(t, StartWhole) })
}

func testTabs(t *testing.T, start func() (*Browser, error)) {
	b, err := start()
	if errors.Is(err, ErrNotInstalled) {
		leftout.Skip(t, "windows of a real browser (chromium is not installed)")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	fetched := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			return
		}
		if r.URL.Path == "/kept" {
			fetched <- r.URL.Path
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(
			[]byte(`<!doctype html><title>t</title><main style="padding-top: env(safe-area-inset-top)">m</main>`),
		)
	}))
	t.Cleanup(server.Close)

	var found [2]string
	look := func(t *testing.T, i int, leave func(w *Window)) {
		var m Monitor
		w := b.NewWindow(t, Viewport{Width: 360, Height: 740}, &m)
		w.Open(server.URL + "/")
		w.Run(chromedp.Evaluate(state, &found[i], awaited),
			chromedp.Evaluate(`fetch("/kept").then((r) => r.text())`, nil, awaited))
		leave(w)
		m.Check(t)
	}
	t.Run("leaves", func(t *testing.T) {
		look(t, 0, func(w *Window) {
			w.Run(
				chromedp.ActionFunc(func(ctx context.Context) error {
					info, err := target.GetTargetInfo().Do(ctx)
					if err != nil {
						return err
					}
					return browser.SetPermission(&browser.PermissionDescriptor{Name: "notifications"},
						browser.PermissionSettingGranted).
						WithOrigin(server.URL).WithBrowserContextID(info.BrowserContextID).Do(b.browser())
				}),
				chromedp.ActionFunc(func(ctx context.Context) error {
					_, err := page.AddScriptToEvaluateOnNewDocument("window.added = 1").Do(ctx)
					return err
				}),
				runtime.AddBinding("told"),
				emulation.SetSafeAreaInsetsOverride(&emulation.SafeAreaInsets{Top: 20}),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
					{Name: "prefers-reduced-motion", Value: "reduce"},
				}),
				emulation.SetDeviceMetricsOverride(800, 600, 1, false),
			)
			w.Open(server.URL + "/more")
			w.Run(chromedp.Evaluate(`(async () => {
				document.cookie = "a=b"; localStorage.a = sessionStorage.a = "b"; window.name = "a";
				await (await caches.open("a")).add("/kept");
				await navigator.serviceWorker.register("/worker.js");
				await new Promise((done) => { indexedDB.open("a").onsuccess = done; });
			})()`, nil, awaited))
			var after string
			w.Run(chromedp.Evaluate(state, &after, awaited))
			want := `{"cookie":"a=b","local":1,"session":1,"caches":["a"],"workers":1,"databases":1,"notifications":"granted","history":3,` +
				`"name":"a","added":"number","told":"function","inset":"20px","motion":true,"width":800}`
			if strings.Contains(found[0], `"notifications":"denied"`) { // the headless shell always behaves like this
				want = strings.Replace(want, "granted", "denied", 1)
			}
			if after != want {
				t.Fatalf("the first window has\n%s, want\n%s", after, want)
			}
		})
	})
	left := len(fetched)
	if n := len(b.tabs.idle); n != 1 {
		t.Fatalf("%d tabs are idle", n)
	}
	tab := b.tabs.idle[0]
	t.Run("finds", func(t *testing.T) { look(t, 1, func(*Window) {}) })
	if found[0] != found[1] {
		t.Errorf("the second window finds\n%s, and the first found\n%s", found[1], found[0])
	}
	if len(fetched) == left {
		t.Error("the second window has a cached reply")
	}
	if len(b.tabs.idle) != 1 || b.tabs.idle[0] != tab {
		t.Errorf("the second window had another tab: %v, not %v", b.tabs.idle, tab)
	}
}

// awaited waits for the promise that an expression returns.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
