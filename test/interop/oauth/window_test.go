package oauth_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/browsertest"
)

// chromium is a browser that is started for one test.
type chromium struct {
	browsertest.Monitor
	t       *testing.T
	browser *browsertest.Browser
}

func newChromium(t *testing.T) *chromium {
	t.Helper()
	clienttest.Packages(t)
	b, err := browsertest.Start()
	if errors.Is(err, browsertest.ErrNotInstalled) {
		t.Skip("LEFT OUT: signing in with a real browser (chromium is not installed)")
	}
	if err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	t.Cleanup(b.Stop)
	return &chromium{t: t, browser: b}
}

// A window is a browser window of a phone.
type window struct {
	*chromium
	*browsertest.Window
}

func (c *chromium) window() window {
	c.t.Helper()
	return window{c, c.browser.NewWindow(c.t, browsertest.Viewport{Width: 360, Height: 740}, &c.Monitor)}
}

// signIn signs in on the pages of the issuer.
func (w window) signIn(name string) {
	w.t.Helper()
	w.wantText("Issuer: who are you?")
	w.Run(chromedp.SendKeys(`input[name="login"]`, name, chromedp.ByQuery))
	w.Press("button")
	w.wantText("Issuer: do you agree?")
	w.Press("button")
}

func (w window) wantAddress(want string) {
	w.t.Helper()
	if got := w.Address(); got != want {
		w.t.Errorf("got the page %s, want %s\n%s", got, want, w.Text())
	}
}

func (w window) wantText(want ...string) {
	w.t.Helper()
	got := w.Text()
	for _, s := range want {
		if !strings.Contains(got, s) {
			w.t.Errorf("%s does not contain %q:\n%s", w.Address(), s, got)
		}
	}
}

func (w window) wantNoText(not ...string) {
	w.t.Helper()
	got := w.Text()
	for _, s := range not {
		if strings.Contains(got, s) {
			w.t.Errorf("%s contains %q:\n%s", w.Address(), s, got)
		}
	}
}

// checkWidth requires that the page is not wider than the phone. It writes a screenshot to the folder
// ASKBACK_PICTURES, if that variable is set.
func (w window) checkWidth(name string) {
	w.t.Helper()
	var wide int
	w.Run(chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
	if wide > 360 {
		w.t.Errorf("%s is %d pixels wide, want at most 360", name, wide)
	}
	dir := os.Getenv("ASKBACK_PICTURES")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), w.Screenshot(), 0o644); err != nil {
		w.t.Fatal(err)
	}
}
