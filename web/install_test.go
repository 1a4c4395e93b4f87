package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/askback/askback"
)

// A phone can install the pages. The manifest has icons that exist in the sizes that it declares, and an icon
// that can be cut to any shape.
func TestManifestDescribesTheApp(t *testing.T) {
	h := newServer(t)
	anonymous := browser{h, ""}
	w := h.do(anonymous.request(http.MethodGet, "/manifest.webmanifest", nil))
	if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != "application/manifest+json" {
		t.Fatalf("status %d, %s", w.Code, got)
	}
	var m struct {
		Name, Display, Scope                 string
		StartURL                             string `json:"start_url"`
		Icons                                []struct{ Src, Sizes, Type, Purpose string }
		ThemeColor, BackgroundColor, Unknown string
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "Askback" || m.Display != "standalone" || m.StartURL != "/" || m.Scope != "/" {
		t.Errorf("got %+v", m)
	}
	found := map[string]bool{}
	for _, i := range m.Icons {
		w := h.do(anonymous.request(http.MethodGet, i.Src, nil))
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != i.Type {
			t.Fatalf("%s: status %d, %s, want %s", i.Src, w.Code, got, i.Type)
		}
		if i.Type == "image/png" {
			c, err := png.DecodeConfig(w.Body)
			if err != nil || fmt.Sprintf("%dx%d", c.Width, c.Height) != i.Sizes {
				t.Errorf("%s is %dx%d, %v, want %s", i.Src, c.Width, c.Height, err, i.Sizes)
			}
		}
		found[i.Purpose+" "+i.Sizes] = true
	}
	for _, want := range []string{"any 192x192", "any 512x512", "maskable 192x192", "maskable 512x512"} {
		if !found[want] {
			t.Errorf("there is no icon %s", want)
		}
	}
}

// The bars of a phone have the color of the header, in both color schemes.
func TestThemeColorsMatchTheStyleSheet(t *testing.T) {
	css, err := os.ReadFile(filepath.Join("assets", "tokens.css"))
	if err != nil {
		t.Fatal(err)
	}
	cards := regexp.MustCompile(`--card: (#\w+);`).FindAllStringSubmatch(string(css), -1)
	page := newServer(t).browser("ana").open("/", http.StatusOK)
	for i, scheme := range []string{"light", "dark"} {
		meta := page.all("meta[name=theme-color]")[i]
		got := meta.attr["media"] + meta.attr["content"]
		if want := "(prefers-color-scheme: " + scheme + ")" + cards[i][1]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// readCaches is a script that returns the texts in all caches that the page can read, keyed by path.
const readCaches = `(async () => {
	const out = {};
	for (const name of await caches.keys()) {
		const cache = await caches.open(name);
		for (const request of await cache.keys()) out[new URL(request.url).pathname] = await (await cache.match(request)).text();
	}
	return JSON.stringify(out);
})()`

// caches returns the texts in all caches that the page can read, keyed by path.
func (w window) caches() map[string]string {
	w.t.Helper()
	var raw string
	w.Run(chromedp.Evaluate(readCaches, &raw, awaitPromise))
	var out map[string]string
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// waitForServiceWorker opens the inbox until the service worker controls it. A page that is loaded while the
// worker starts is not controlled.
func (w window) waitForServiceWorker() {
	w.t.Helper()
	for range 24 {
		w.open("/")
		var controlled bool
		w.Run(chromedp.Evaluate(`new Promise((resolve) => {
			const done = () => resolve(!!navigator.serviceWorker.controller);
			navigator.serviceWorker.addEventListener("controllerchange", done);
			setTimeout(done, navigator.serviceWorker.controller ? 0 : 5000);
		})`, &controlled, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		if controlled {
			return
		}
	}
	w.t.Fatal("the service worker does not control the page")
}

// The service worker stores static files and one page that is the same for every person. No cache contains
// anything of an ask or a person, neither while an ask is open nor after the log-out.
func TestChromiumCachesContainNoAsk(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	w.waitForServiceWorker()
	secret := askback.Request{
		Questions: []askback.Question{{Text: "the-secret-question", Options: askback.Options("one", "two")}},
	}
	a := c.ask(secret)
	for _, path := range []string{"/", "/asks/" + a.ID, "/history", "/grants"} {
		w.open(path)
	}
	w.open("/asks/" + a.ID)
	w.Click("#q1-1")
	w.Press("button[value=answer]")
	w.open("/asks/" + a.ID)
	w.wantText("the-secret-question")
	check := func(when string) {
		t.Helper()
		stored := w.caches()
		if _, ok := stored["/offline"]; !ok || len(stored) < 8 {
			t.Errorf("%s: only %d files are stored", when, len(stored))
		}
		hashed := regexp.MustCompile(`^/assets/[a-z0-9-]+\.[0-9a-f]{16}\.[a-z]+$`)
		for path, text := range stored {
			if !hashed.MatchString(path) && path != "/offline" {
				t.Errorf("%s: %s is stored", when, path)
			}
			for _, s := range []string{"the-secret-question", a.ID, ">ana<", "deploy-bot"} {
				if strings.Contains(text, s) {
					t.Errorf("%s: %s contains %q", when, path, s)
				}
			}
		}
	}
	check("logged in")
	w.Press(".account button")
	w.waitText("Log in first")
	check("logged out")
	c.Check(t)
}

// Without a connection, a page explains the problem. When the connection is back, the wanted page opens
// again.
func TestChromiumShowsAPageWithoutConnection(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	w.open("/")
	w.waitForServiceWorker()
	a := c.ask(single)
	w.offline(true)
	w.open("/asks/" + a.ID)
	w.wantText("No connection", "Try again")
	w.checkAccessibility("offline")
	w.offline(false)
	w.Run(chromedp.Click("main a.button", chromedp.ByQuery))
	w.waitText("Which database should we use?")
	w.waitUntil(`!!document.querySelector("form.ask")`)
}

// offline interrupts the connection to the server, or restores it.
func (w window) offline(is bool) {
	w.t.Helper()
	w.down.Store(is)
	w.Run(network.ClearBrowserCache())
}

// All controls are at least 44 pixels high and wide on a phone. Links in a sentence, and buttons in a label
// that is large enough, are the exception.
func TestChromiumControlsAreLargeOnPhones(t *testing.T) {
	c := newChromium(t)
	w := c.window(phone)
	w.login("ana")
	titled := single
	titled.Title, titled.Tags = "A title", []string{"prod", "db"}
	paths := []string{"/", "/history", "/grants", "/login"}
	for _, a := range []string{
		c.ask(titled).ID, c.ask(form).ID, c.ask(harmless).ID, c.ask(call).ID, c.ask(markdownAsk).ID,
	} {
		paths = append(paths, "/asks/"+a)
	}
	settled := c.ask(single)
	if _, err := c.client(askback.Responder, "ana").Decline(context.Background(), settled.ID, "no"); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "/asks/"+settled.ID) {
		w.open(path)
		w.Run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true })`, nil))
		var small, zooming []string
		w.Run(chromedp.Evaluate(smallTargets, &small), chromedp.Evaluate(zoomingFields, &zooming))
		for _, s := range small {
			t.Errorf("%s: %s is small", path, s)
		}
		for _, s := range zooming {
			t.Errorf("%s: %s makes phones zoom in when it gets the focus", path, s)
		}
	}
	c.Check(t)
}

// smallTargets returns the small targets of a page.
const smallTargets = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].flatMap((e) => {
	if (!e.checkVisibility({visibilityProperty: true}) || e.type === "hidden" || e.closest(".skip, .visually-hidden") || getComputedStyle(e).pointerEvents === "none") return [];
	const inText = e.matches("a") && getComputedStyle(e).display === "inline" && e.parentElement.textContent.trim() !== e.textContent.trim();
	if (inText) return [];
	const label = e.matches("input[type=radio], input[type=checkbox]") && e.closest("label");
	// The whole row leads to the ask, and its label is as large as the button in it.
	const row = e.matches(".row-link") && e.closest(".row");
	const r = (label || row || e).getBoundingClientRect();
	if (r.width === 0 || Math.round(r.width) >= 44 && Math.round(r.height) >= 44) return [];
	return [e.outerHTML.slice(0, 90) + " (" + Math.round(r.width) + " x " + Math.round(r.height) + ")"];
})`

// zoomingFields returns the fields whose text is smaller than 16 pixels. Safari zooms in on
// them.
const zoomingFields = `[...document.querySelectorAll("input:not([type=radio], [type=checkbox], [type=hidden]), select, textarea")].flatMap((e) =>
	e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 16 ? [e.outerHTML.slice(0, 90)] : [])`
