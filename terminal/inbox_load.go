package terminal

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/internal/text/view"
)

// Messages of a loader.
type (
	// A loadedMsg has the open asks, and the asks of the last list that were settled since then.
	loadedMsg struct { // the connection works
		page    askback.Page
		settled []askback.Ask
		runs    map[string]*view.Session // the sessions of settled, by the ids of the asks; nil if not known
	}
	lostMsg    struct{}            // the connection was lost
	failedMsg  struct{ err error } // a list could not be read
	followsMsg struct{ err error } // the stream of events ended for good
	tickMsg    struct{}            // the ages of the asks have changed
)

// A loader reads the list of open asks whenever an event changes the list. It reads the whole list and not
// single asks. So the list equals the result of [askback.Asks.List], even if events were missed.
type loader struct {
	client InboxClient
	send   func(tea.Msg)
	wake   chan struct{} // has one value if the list must be read

	mu     sync.Mutex
	search string
	want   int // number of asks up to which pages are read
	found  int // the same number for the results of a search

	// The goroutine that loads owns the fields below.
	pages      int      // number of pages of the last list
	last       []string // ids of the last list
	lastSearch string
	lost       bool
}

const (
	loadPause = 100 * time.Millisecond // pause between two reads for each page, so that many events cause one read
	pingTime  = 5 * time.Second        // pause between two checks of the connection
	// checks between two reads without events, for snoozes that end or begin elsewhere
	pingsPerLoad = 6
	lostTime     = 2 * time.Second // a reply that takes longer means a lost connection
)

func newLoader(client InboxClient, send func(tea.Msg)) *loader {
	return &loader{client: client, send: send, wake: make(chan struct{}, 1), want: askback.MaxLimit}
}

// find makes the loader read the asks that contain search. If search changes, the list starts with the first
// page. If search is "", the list has as many pages as before the search.
func (l *loader) find(search string) {
	l.mu.Lock()
	if l.search != search {
		l.search, l.found = search, askback.MaxLimit
	}
	l.mu.Unlock()
	l.again()
}

// limit returns the number of asks to read. The caller holds l.mu.
func (l *loader) limit() *int {
	if l.search != "" {
		return &l.found
	}
	return &l.want
}

// atLeast makes the loader read further pages, until the list has this number of asks or all open asks.
func (l *loader) atLeast(asks int) {
	l.mu.Lock()
	limit := l.limit()
	more := asks > *limit
	*limit = max(*limit, asks)
	l.mu.Unlock()
	if more {
		l.again()
	}
}

// again makes the loader read the list again.
func (l *loader) again() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run reads the list until ctx ends: at the beginning, after events, and regularly. It also checks the
// connection regularly.
func (l *loader) run(ctx context.Context) {
	var following sync.WaitGroup
	defer following.Wait()
	cursor, follows := askback.Cursor(""), false
	for pings := 0; ; {
		ping := pings > 0 && !l.lost
		wasLost, err := l.watched(ctx, func() (err error) {
			if ping {
				_, err = l.client.List(ctx, askback.Query{Limit: 1})
				return err
			}
			m, err := l.load(ctx)
			if err == nil {
				cursor = m.page.EventsCursor
				l.send(m)
			}
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.send(failedMsg{err})
		case ping && wasLost:
			l.again()
		case ping:
			l.send(tickMsg{})
		case !follows:
			follows = true
			following.Go(func() { l.follow(ctx, cursor) })
		}
		if pause.For(ctx, loadPause*time.Duration(max(1, l.pages))) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
			pings = 0
		case <-time.After(pingTime):
			pings = (pings + 1) % pingsPerLoad
		}
	}
}

// watched calls call. It sends a lostMsg when call takes longer than lostTime. The result lost reports
// whether the connection was lost during the call or before it.
func (l *loader) watched(ctx context.Context, call func() error) (lost bool, err error) {
	slow := time.AfterFunc(lostTime, func() {
		if ctx.Err() == nil {
			l.send(lostMsg{})
		}
	})
	err = call()
	lost = !slow.Stop() || l.lost
	l.lost = lost && err != nil
	return lost, err
}

// follow makes the loader read the list again after each event that concerns an ask, until ctx or the stream
// of events ends.
func (l *loader) follow(ctx context.Context, after askback.Cursor) {
	for ev, err := range l.client.Events(ctx, "", after) {
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.send(followsMsg{err})
			return
		case ev.Type == askback.EventSnapshot, ev.Type.ForPeople(), strings.HasPrefix(string(ev.Type), "question_"):
			l.again()
		}
	}
}

// load reads the list, and the asks that have left the list because they were settled.
func (l *loader) load(ctx context.Context) (loadedMsg, error) {
	l.mu.Lock()
	search, want := l.search, *l.limit()
	l.mu.Unlock()
	page, err := l.read(ctx, search, want)
	if err != nil {
		return loadedMsg{}, err
	}
	m := loadedMsg{page: page, runs: map[string]*view.Session{}}
	var ids []string
	listed := map[string]bool{}
	for _, a := range page.Items {
		ids = append(ids, a.ID)
		listed[a.ID] = true
	}
	for _, id := range l.last {
		if listed[id] || search != l.lastSearch {
			continue
		}
		a, err := l.client.Get(ctx, id)
		switch {
		case errors.Is(err, askback.ErrNotFound):
		case err != nil:
			return loadedMsg{}, err
		case a.Settled():
			m.settled = append(m.settled, a)
			m.runs[a.ID] = l.sessionOf(ctx, a)
		}
	}
	l.last, l.lastSearch = ids, search
	return m, nil
}

// sessionOf returns the session of an ask. It returns nil for the session of a single ask, which ends with the
// ask, and if the session cannot be read.
func (l *loader) sessionOf(ctx context.Context, a askback.Ask) *view.Session {
	client, ok := l.client.(interface {
		Session(ctx context.Context, id string) (askback.Session, error)
	})
	if !ok || a.SessionID == "" || view.Brief(a).OwnSession {
		return nil
	}
	one, err := client.Session(ctx, a.SessionID)
	if err != nil {
		return nil
	}
	return new(view.SessionOf(one))
}

// read reads the pages of the list up to want asks, as one page. The events cursor is the cursor of the first
// page, so that no change is missed.
func (l *loader) read(ctx context.Context, search string, want int) (all askback.Page, err error) {
	q := askback.Query{Search: search, Snoozed: new(false), Limit: askback.MaxLimit}
	for pages := 1; ; pages++ {
		page, err := l.client.List(ctx, q)
		if err != nil {
			return askback.Page{}, err
		}
		all.Items, all.Snoozes = append(all.Items, page.Items...), append(all.Snoozes, page.Snoozes...)
		all.NextCursor, all.EventsCursor = page.NextCursor, cmp.Or(all.EventsCursor, page.EventsCursor)
		if l.pages = pages; page.NextCursor == "" || len(all.Items) >= want {
			return all, nil
		}
		q.Cursor = page.NextCursor
	}
}
