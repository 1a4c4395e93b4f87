package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// livePath is the address of the stream that keeps the list of a page up to date.
const livePath = "/live"

// liveHeartbeat is the interval between comments that make proxies keep the connection.
const liveHeartbeat = 15 * time.Second

// liveQuery returns the query of the stream for a list.
func liveQuery(i pages.Inbox, after askback.Cursor, now time.Time) string {
	q := i.Filter.Values()
	q.Set("after", string(after))
	if next := i.Snoozes.Next; !next.IsZero() && i.Filter.Snoozed == "" {
		q.Set("wake", strconv.FormatInt(next.UnixMilli(), 10))
	}
	if i.Filter.Snoozed != "" {
		q.Set("count", i.Snoozes.Count)
	}
	if i.Filter.Age != "" {
		q.Set("shown", strconv.FormatInt(now.UnixMilli(), 10))
	}
	return q.Encode()
}

// live sends the rows of asks that changed after a page was rendered (F11). A message is HTML for htmx, which
// replaces the row or appends it to the list. After a reconnect, it continues after the last message.
func (s *site) live(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	after := askback.Cursor(r.Header.Get("Last-Event-ID"))
	if after == "" {
		after = askback.Cursor(values.Get("after"))
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := newLiveWriter(w, cancel, func() error { return s.reauthenticate(r) })
	defer out.stop()
	list := pages.Inbox{Filter: pages.FilterOf(values)}
	list.Snoozes.Count = values.Get("count")
	out.start()
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	changed, unwatch := s.engine.WatchSnoozes(r.principal)
	defer unwatch()
	group.Go(func() {
		defer s.endOnPanic(cancel)
		s.liveSnoozes(ctx, out, r, list, changed, timeOf(values.Get("wake")))
	})
	group.Go(func() {
		defer s.endOnPanic(cancel)
		s.liveAge(ctx, out, r, list, timeOf(values.Get("shown")))
	})
	group.Go(func() {
		defer s.endOnPanic(cancel)
		s.liveHeld(ctx, out, r)
	})
	for ev, err := range r.client.Events(ctx, "", after) {
		if err != nil {
			return nil // the client has left, or reconnects
		}
		if err := s.sendRow(out, r, list, ev); err != nil {
			return nil
		}
	}
	return nil
}

// endOnPanic is deferred by the goroutines of a stream, which render text of agents. A panic ends only the
// stream, as a panic in a handler ends only its request.
func (s *site) endOnPanic(cancel context.CancelFunc) {
	if r := recover(); r != nil {
		s.log.Error("a live list panicked", "panic", r, "stack", string(debug.Stack()))
		cancel()
	}
}

// sendRow sends the row of an event's ask, if the list has the ask. For a settled ask, it also sends the
// result. If events are missing, it makes the page reload.
func (s *site) sendRow(out *liveWriter, r request, list pages.Inbox, ev askback.Event) error {
	if ev.Type == askback.EventSnapshot { // events are missing, so the page must be loaded again
		return out.send(ev.Cursor, "reload", nil)
	}
	var about struct {
		ID string `json:"question_id"`
	}
	if !strings.HasPrefix(string(ev.Type), "question_") && !ev.Type.ForPeople() ||
		json.Unmarshal(ev.Data, &about) != nil || about.ID == "" {
		return nil
	}
	a, err := r.client.Get(r.Context(), about.ID)
	if errors.Is(err, askback.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	row := view.BriefFor(a, r.principal.Name)
	if !inList(a, row, list.Filter, r.principal.Name, s.now()) {
		return nil
	}
	isNew := ev.Type == askback.EventQuestionPending
	if !isNew || s.now().Sub(ev.At) > snoozeDelay { // a new ask is not snoozed
		snooze, err := r.client.Snoozed(r.Context(), a.ID)
		if err != nil {
			return err
		}
		list.Snoozes.Until = untilOf([]askback.Snooze{snooze})
		if isNew && snooze.Hides(s.now()) {
			return nil
		}
	}
	if isNew && list.Filter.Snoozed != "" {
		return nil
	}
	if err := s.writeRow(out, r, list, row, ev.Cursor, isNew); err != nil {
		return err
	}
	if a.Settled() {
		return out.send(ev.Cursor, "settled", []byte(settledMessage(a, r.principal.Name)))
	}
	return nil
}

// settledMessage returns the id of a settled ask. If the person settled it, a sentence for the other windows
// of this person follows.
func settledMessage(a askback.Ask, person string) string {
	if c := view.ConflictOf(*a.Outcome, person); c.SamePerson {
		return a.ID + " " + c.Sentence.String()
	}
	return a.ID
}

// writeRow sends the row of an ask. If at is "", the position in the stream of events stays the same.
func (s *site) writeRow(
	out *liveWriter, r request, list pages.Inbox, row view.Ask, at askback.Cursor, isNew bool,
) error {
	frame := r.frame
	frame.Now = s.now()
	row.NameSession() // the other rows of the page are not known here
	var b bytes.Buffer
	if err := pages.RowChange(frame, list, row, isNew).Render(r.Context(), &b); err != nil {
		return err
	}
	return out.send(at, "", b.Bytes())
}

// inList reports whether the ask a is in the open asks of the person name that the filter f selects.
func inList(a askback.Ask, row view.Ask, f pages.Filter, name string, now time.Time) bool {
	if before := f.Before(now); !before.IsZero() && !a.CreatedAt.Before(before) {
		return false
	}
	return a.Addressed(name) && (f.Agent == "" || f.Agent == a.Agent) &&
		(f.Session == "" || f.Session == a.SessionID) && f.Selects(row) &&
		a.Contains(f.Search)
}

// A liveWriter writes server-sent events. It sends heartbeats, and ends the stream when the person has logged
// out.
type liveWriter struct {
	response http.ResponseWriter
	control  *http.ResponseController
	cancel   context.CancelFunc
	allowed  func() error // returns an error if the person is logged out

	mu    sync.Mutex // held while writing
	timer *time.Timer
	ended bool
}

// liveWriteTime is the longest time that a write may take. After this time, the client counts as gone.
const liveWriteTime = 30 * time.Second

func newLiveWriter(w http.ResponseWriter, cancel context.CancelFunc, allowed func() error) *liveWriter {
	return &liveWriter{response: w, control: http.NewResponseController(w), cancel: cancel, allowed: allowed}
}

// start sends the header, and begins to send heartbeats.
func (w *liveWriter) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.response.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx buffers events
	w.response.WriteHeader(http.StatusOK)
	w.timer = time.AfterFunc(liveHeartbeat, w.beat)
	_ = w.write([]byte(":\n\n"))
}

func (w *liveWriter) beat() {
	err := w.allowed()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	if err != nil || w.write([]byte(":\n\n")) != nil {
		w.cancel()
		return
	}
	w.timer.Reset(liveHeartbeat)
}

// send sends a message of the type kind. If kind is "", the message is HTML for htmx. send returns an error
// if the person has logged out.
func (w *liveWriter) send(id askback.Cursor, kind string, data []byte) error {
	if err := w.allowed(); err != nil {
		return err
	}
	var b []byte
	if id != "" { // an empty id would make the browser forget the position
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	if kind != "" {
		b = append(append(append(b, "event: "...), kind...), '\n')
	}
	for line := range bytes.Lines(append(data, '\n')) {
		b = append(append(append(b, "data: "...), bytes.TrimRight(line, "\r\n")...), '\n')
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(append(b, '\n'))
}

// write writes and flushes b. The caller holds the mutex. The errors of deadlines are ignored, because the
// recorders of tests have no deadlines.
func (w *liveWriter) write(b []byte) error {
	_ = w.control.SetWriteDeadline(time.Now().Add(liveWriteTime))
	if _, err := w.response.Write(b); err != nil {
		return err
	}
	return w.control.Flush()
}

// stop ends the heartbeats.
func (w *liveWriter) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
