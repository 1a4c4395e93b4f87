package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/browsertest"
	"github.com/askback/askback/test/kit/leftout"
)

// liveTime is how long an open page may take to show an answer that another client has given. It takes less
// than a second on an idle machine.
const liveTime = time.Minute

// Two browsers and a terminal answer at the same time. One answer is accepted, and the other two show it
// without a reload. A third window, which does not answer, shows it as well (E10, F1).
func TestOneOfThreeSimultaneousAnswersIsAccepted(t *testing.T) {
	t.Parallel()
	browser, err := browsertest.Start()
	if errors.Is(err, browsertest.ErrNotInstalled) {
		leftout.Skip(t, "a race of browsers and a terminal (chromium is not installed)")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Stop)
	var monitor browsertest.Monitor
	file := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(file, []byte("undo: 0\n"), 0o600); err != nil { // each answer is sent without a delay
		t.Fatal(err)
	}
	env, database := sandbox(t, "ASKBACK_CONFIG="+file)
	server := &testServer{t: t, env: env, place: instance.Place{Database: database}}
	server.start()
	ana := strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "responder", "--name", "ana"))
	var windows []*browsertest.Window
	asAna := append(env[:len(env):len(env)], "ASKBACK_TOKEN="+ana, "ASKBACK_URL="+server.url())
	for _, who := range [][]string{env, asAna, asAna} {
		w := browser.NewWindow(t, browsertest.Viewport{Width: 900, Height: 700}, &monitor)
		w.Open(regexp.MustCompile(`http://\S+`).FindString(mustRun(t, who, "login")))
		w.Press(`form[action="/login"] button`)
		windows = append(windows, w)
	}
	labels := []string{"PostgreSQL", "SQLite", "MariaDB"}
	for round := range 3 {
		s := startPanel(t, env, "askback",
			append([]string{"ask", fmt.Sprintf("Which database, %d?", round)}, labels...)...)
		id := askID.FindString(s.screen.String())
		for i, w := range windows {
			w.Open(server.url() + "/asks/" + id)
			if i < 2 {
				w.Click(fmt.Sprintf("#q1-%d", i))
			}
		}
		s.typeKeys("3")
		s.waitForScreen(`>    3`)
		var all sync.WaitGroup
		for _, w := range windows[:2] {
			all.Go(func() { w.Run(chromedp.Evaluate(`document.querySelector("button[value=answer]")?.click()`, nil)) })
		}
		all.Go(func() { s.typeKeys("\r") })
		all.Wait()
		s.waitExit(0)
		won := ""
		for _, label := range labels {
			if regexp.MustCompile(`(?m)^(\x1b\[[0-9;?]*[a-z])*` + label + `\r$`).MatchString(s.screen.String()) {
				won = label
			}
		}
		if won == "" {
			t.Fatalf("the command printed no answer: %s", s.screen.String())
		}
		stale := windows // the clients that do not show the answer yet
		shows := func(w *browsertest.Window) bool {
			text := w.Text()
			return strings.Contains(text, "nswered") && strings.Contains(text, won)
		}
		if !within(liveTime,
			func() bool { stale = slices.DeleteFunc(slices.Clone(stale), shows); return len(stale) == 0 }) {
			t.Fatalf("round %d: %s won, and the first of %d pages that do not change shows %s", round, won, len(stale),
				stale[0].Text())
		}
	}
	monitor.Check(t)
}

// url returns the address of the server.
func (s *testServer) url() string {
	s.t.Helper()
	announced, _ := s.place.Last()
	return announced.URL
}
