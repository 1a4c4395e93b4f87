package web_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// hangs is a state of the stream of a line.
const hangs = 1

// A line is a server that a test makes unreachable, and lets hang.
type line struct {
	*chromium
	hangs   atomic.Bool
	stream  atomic.Int32  // what happens to requests for the stream of a page: 0, hangs or a status
	release chan struct{} // closed when hanging requests end
}

func newLine(t *testing.T) *line {
	t.Helper()
	l := &line{chromium: newChromium(t), release: make(chan struct{})}
	t.Cleanup(func() { close(l.release) })
	pages := l.handler
	l.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := 0
		if r.URL.Path == "/live" {
			stream = int(l.stream.Load())
		}
		if stream > hangs {
			w.WriteHeader(stream)
			return
		}
		if l.hangs.Load() || stream == hangs {
			select {
			case <-l.release:
			case <-r.Context().Done():
			}
			return
		}
		pages.ServeHTTP(w, r)
	})
	return l
}

// connectionText is an expression for the text of the bar.
const connectionText = `document.getElementById("connection").textContent`

// waitFor waits until the bar says that the connection is lost, or no longer does.
func (l *line) waitFor(w window, lost bool) {
	l.t.Helper()
	if lost {
		w.waitUntil(connectionText + ` !== ""`)
	} else {
		w.waitUntil(connectionText + ` === ""`)
	}
}

// The pause between two requests of a page, and its patience with a request, are at most 5 seconds together.
func TestLostConnectionIsFoundWithinSeconds(t *testing.T) {
	script, err := os.ReadFile("assets/connection.js")
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, name := range []string{"pingPause", "pingPatience"} {
		found := regexp.MustCompile(`const ` + name + ` = (\d+);`).FindSubmatch(script)
		if found == nil {
			t.Fatalf("there is no %s", name)
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum > 5000 {
		t.Errorf("a page may need %d ms", sum)
	}
}

// An open page says that the server cannot be reached, and unsays it when it is back. Then it shows what
// happened in the meantime, and no longer says that a form could not be sent.
func TestChromiumLostConnectionIsShown(t *testing.T) {
	l := newLine(t)
	a := l.ask(single)
	w, other := l.window(phone), l.window(desktop)
	for _, one := range []window{w, other} {
		one.login("ana")
	}
	w.open("/asks/" + a.ID)
	other.open("/history")
	w.waitUntil(connectionText + ` === ""`)
	l.disconnect()
	l.waitFor(w, true)
	l.waitFor(other, true)
	w.Click("label:has(#q1-1)")
	w.Run(chromedp.Evaluate(`document.querySelector(".bar button[value=answer]").click()`, nil))
	w.waitUntil(`!document.getElementById("unsent").hidden && ` +
		`document.getElementById("unsent").textContent.includes("cannot be reached")`)
	b := l.ask(single)
	l.down.Store(false)
	l.waitFor(w, false)
	l.waitFor(other, false)
	w.waitUntil(`!document.getElementById("unsent").textContent.includes("cannot be reached") && ` +
		`document.querySelector("#q1-1").checked`)
	w.waitUntil(`document.getElementById("row-` + b.ID + `") !== null`)
	w.Run(chromedp.Evaluate(`document.querySelector(".bar button[value=answer]").click()`, nil))
	w.waitUntil(`!document.querySelector('form.ask[data-ask="` + a.ID + `"]')`)
	if o := l.outcome(a); o.Answers[0].Selected[0] != "SQLite" {
		t.Errorf("got %+v", o)
	}
}

// A server that accepts connections and never replies is lost, too.
func TestChromiumHangingServerIsLost(t *testing.T) {
	l := newLine(t)
	w := l.window(desktop)
	w.login("ana")
	w.open("/")
	l.hangs.Store(true)
	l.waitFor(w, true)
	l.hangs.Store(false)
	l.waitFor(w, false)
	a := l.ask(single)
	w.waitUntil(`document.getElementById("row-` + a.ID + `") !== null`)
	_, err := l.client("responder", "ana").Get(context.Background(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
}

// A page whose stream could not be opened opens the stream as soon as it can.
func TestChromiumStreamIsOpenedLater(t *testing.T) {
	l := newLine(t)
	for _, state := range []int32{hangs, http.StatusServiceUnavailable} {
		l.stream.Store(state)
		w := l.window(desktop)
		w.login("ana")
		w.open("/")
		if state == hangs {
			l.hangs.Store(true)
			l.waitFor(w, true)
			l.hangs.Store(false)
		}
		l.stream.Store(0)
		l.waitFor(w, false)
		a := l.ask(single)
		w.waitUntil(`document.getElementById("row-` + a.ID + `") !== null`)
	}
}

// A page whose stream of new asks hangs opens it again when there is a connection, and plays the sound of an ask.
func TestChromiumHangingStreamOfAlertsIsOpenedAgain(t *testing.T) {
	l := newLine(t)
	w := l.window(desktop)
	w.login("ana")
	w.open("/")
	w.waitUntil(`document.querySelector("[hx-sse\\:connect]")._htmx?.sse !== undefined`)
	l.stream.Store(hangs)
	w.Click(".sound-switch")
	w.waitUntil(`listening.stream?.readyState === 0`)
	l.hangs.Store(true)
	l.waitFor(w, true)
	l.stream.Store(0)
	l.hangs.Store(false)
	l.waitFor(w, false)
	w.waitUntil(`listening.stream?.readyState === 1`)
	played := `Number(document.documentElement.dataset.sounds)`
	w.waitUntil(played + ` === 1`) // the switch plays it, too
	a := l.ask(single)
	w.waitUntil(`document.getElementById("row-` + a.ID + `") !== null && ` + played + ` === 2`)
}

// The page that the browser shows without a connection opens the page again when there is a connection.
func TestPageWithoutConnectionIsMarked(t *testing.T) {
	h := newServer(t)
	page := browser{h, ""}.page(h.do(browser{h, ""}.request(http.MethodGet, "/offline", url.Values{})), http.StatusOK)
	if got := page.one(t, "[data-offline]").visibleText(); got != "Try again" {
		t.Errorf("got %q", got)
	}
}
