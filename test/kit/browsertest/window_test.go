package browsertest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback/test/kit/leftout"
)

// A failedTest is a test that has failed. It records its log.
type failedTest struct {
	testing.TB
	log      strings.Builder
	cleanups []func()
}

func (f *failedTest) Failed() bool            { return true }
func (f *failedTest) Cleanup(clean func())    { f.cleanups = append(f.cleanups, clean) }
func (f *failedTest) Logf(s string, a ...any) { fmt.Fprintf(&f.log, s, a...) }

// The log of a failed test contains the page of each window, the focused element and the disabled elements.
func TestFailedTestLogsThePage(t *testing.T) {
	b, err := Start()
	if errors.Is(err, ErrNotInstalled) {
		leftout.Skip(t, "windows of a real browser (chromium is not installed)")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>t</title><main>Deploy? <button id="yes" disabled>Approve</button><input id="why"></main>`))
	}))
	t.Cleanup(server.Close)
	failed, m := &failedTest{TB: t}, Monitor{}
	w := b.NewWindow(failed, Viewport{Width: 360, Height: 740}, &m)
	w.Open(server.URL + "/asks/1")
	w.Run(chromedp.Focus("#why", chromedp.ByQuery))
	for _, clean := range failed.cleanups {
		clean()
	}
	for _, want := range []string{
		server.URL + "/asks/1", `focus: <input id="why">`, `disabled: <button id="yes"`, "Deploy?",
	} {
		if !strings.Contains(failed.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, failed.log.String())
		}
	}
}
