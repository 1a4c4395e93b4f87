package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback/internal/hosted/demo"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/leftout"
)

// A demoWindow is a browser window whose methods wait for the state of the page.
type demoWindow struct {
	*browsertest.Window
	t    *testing.T
	name string
}

// wait waits until the page contains a text.
func (w demoWindow) wait(want string) {
	w.t.Helper()
	if !eventually(func() bool { return strings.Contains(w.Text(), want) }) {
		w.t.Fatalf("%s: the page does not have %q:\n%s", w.name, want, w.Text())
	}
}

// is waits until an expression is true on the page.
func (w demoWindow) is(expression string) {
	w.t.Helper()
	if !eventually(func() (ok bool) {
		w.Run(chromedp.Evaluate("Boolean("+expression+")", &ok))
		return ok
	}) {
		w.t.Fatalf("%s: %s stays false:\n%s", w.name, expression, w.Text())
	}
}

// click clicks an element repeatedly until the expression effect is true. The page ignores a click on an
// element that has just appeared.
func (w demoWindow) click(selector, effect string) {
	w.t.Helper()
	w.is(`document.querySelector('` + selector + `')`)
	var clicked time.Time
	if !eventually(func() (done bool) {
		click := ""
		if time.Since(clicked) > 5*time.Second { // the reply to a second click may come after the next page
			click, clicked = `document.querySelector('`+selector+`')?.click(), `, time.Now()
		}
		w.Run(chromedp.Evaluate(click+`Boolean(`+effect+`)`, &done))
		return done
	}) {
		w.t.Fatalf("%s: %s has no effect:\n%s", w.name, selector, w.Text())
	}
}

// picture requires that the page is not wider than the window. If ASKBACK_PICTURES is set, it writes a
// picture of the page to that folder for review.
func (w demoWindow) picture(what string) {
	w.t.Helper()
	var wide bool
	w.Run(chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &wide))
	if wide {
		w.t.Errorf("%s: the page %s is wider than the window", w.name, what)
	}
	if dir := os.Getenv("ASKBACK_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "demo_"+what+"_"+w.name+".png"), w.Screenshot(), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A newcomer starts a server in an empty directory, without a key, opens the link that it prints, and sees a
// whole run of the demonstration. The demonstration is started, writes, asks, needs an approval and ends, all
// in the browser.
func TestNewcomerSeesAWholeRunInTheBrowser(t *testing.T) {
	t.Parallel()
	browser, err := browsertest.Start()
	if errors.Is(err, browsertest.ErrNotInstalled) {
		leftout.Skip(t, "the demonstration in a browser (chromium is not installed)")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Stop)
	var monitor browsertest.Monitor
	env, database := sandbox(t, "ANTHROPIC_API_KEY=")
	s := &testServer{t: t, env: env, dir: t.TempDir(), place: instance.Place{Database: database}}
	s.start()
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\S+`)
	for _, v := range []struct {
		name string
		browsertest.Viewport
	}{
		{"1400", browsertest.Viewport{Width: 1400, Height: 900}},
		{"360", browsertest.Viewport{Width: 360, Height: 740}},
	} {
		w := demoWindow{browser.NewWindow(t, v.Viewport, &monitor), t, v.name}
		to := link.FindString(s.process.err.String() + s.process.out.String())
		if v.name == "360" || to == "" { // a link works once
			to = link.FindString(mustRun(t, env, "login"))
		}
		w.Open(to)
		w.Press(`form[action="/login"] button`)
		w.click(`a[href="/run"]`, `document.querySelector("#prompt")`)
		w.is(`document.getElementById("prompt").value === "` + demo.Prompt +
			`" && document.querySelector("input[name=agent]:checked").value === "demo"`)
		w.picture("start")
		w.click(".start-run > button", `location.pathname.startsWith("/sessions/")`)
		w.is(`document.getElementById("typing-text")?.textContent.startsWith("I am going to")`) // it streams
		w.wait("Which form should the poem have?")
		w.is(`document.getElementById("q1-0")`)
		w.picture("question")
		w.click("#q1-0", `document.getElementById("q1-0").checked`)
		w.click("#open-ask button[value=answer]", `!document.getElementById("q1-0")`)
		w.wait("You chose: haiku.")
		w.is(`document.querySelector("#open-ask .approve")`)
		w.picture("approval")
		w.click("#open-ask .approve", `!document.getElementById("open-ask")`)
		w.wait("That was a whole run: a model, a plan, a question and a confirmation.")
		w.is(`document.getElementById("typing").hidden`)
		w.picture("end")
	}
	monitor.Check(t)
}
