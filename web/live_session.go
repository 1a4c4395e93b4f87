package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// liveSession makes an open page of a session reload its content after each event. The page also reloads at
// the beginning, because the session may have changed since the page was rendered. The text that a model is
// writing is sent in parts.
func (s *site) liveSession(w http.ResponseWriter, r request) error {
	id := r.PathValue("id")
	if _, err := r.client.Session(r.Context(), id); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := newLiveWriter(w, cancel, func() error { return s.reauthenticate(r) })
	defer out.stop()
	out.start()
	t := typist{out: out, cancel: cancel}
	defer t.stop()
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	group.Go(func() {
		defer s.endOnPanic(cancel)
		s.liveHeld(ctx, out, r)
	})
	for ev, err := range r.client.Events(ctx, id, askback.Cursor(r.Header.Get("Last-Event-ID"))) {
		if err != nil || t.send(ev) != nil {
			return nil // the client has left, or reconnects
		}
	}
	return nil
}

// A typist sends the text that a model is writing to a page. It sends only new text, and only as safe text.
type typist struct {
	out    *liveWriter
	cancel context.CancelFunc
	run    view.Run

	mu    sync.Mutex
	text  string // text that the model has written
	sent  string // text that the page has
	timer *time.Timer
}

// typingPause is the shortest time between two parts of a text.
const typingPause = 100 * time.Millisecond

// send forwards an event to the page. The parts of a message are sent after typingPause. Any other event
// makes the page reload.
func (t *typist) send(ev askback.Event) error {
	e := t.run.Read(ev)
	if ev.Type == askback.EventMessageDelta {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.text = e.Message.Text.String()
		if t.timer == nil {
			t.timer = time.AfterFunc(typingPause, t.flush)
		}
		return nil
	}
	if ev.Type == askback.EventMessage && e.Message != nil && e.Message.OfAgent {
		t.stop()
		if err := t.out.send("", "written", []byte(ev.Type)); err != nil {
			return err
		}
	}
	if ev.Type.Settles() {
		if err := t.out.send("", "settled", []byte(e.AskID.String())); err != nil {
			return err
		}
	}
	return t.out.send(ev.Cursor, "reload", nil)
}

// stop discards the text, because the message is complete or the page is closed.
func (t *typist) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer, t.text, t.sent = nil, "", ""
}

// A typedPart replaces the text of a page from a position on, in UTF-16 code units.
type typedPart struct {
	From int    `json:"from"`
	Text string `json:"text"`
}

// flush sends the text that the page does not have yet.
func (t *typist) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer == nil {
		return
	}
	t.timer = nil
	same := samePrefix(t.sent, t.text)
	part, err := json.Marshal(typedPart{utf16Length(t.text[:same]), t.text[same:]})
	if err == nil {
		t.sent = t.text
		err = t.out.send("", "delta", part)
	}
	if err != nil {
		t.cancel()
	}
}

// samePrefix returns the length of the longest common prefix of two texts.
func samePrefix(a, b string) int {
	if strings.HasPrefix(b, a) {
		return len(a)
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// utf16Length returns the number of UTF-16 code units of a text, which is its length in a script.
func utf16Length(s string) (n int) {
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
