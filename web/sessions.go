package web

import (
	"context"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// sessions lists the sessions of agents, newest first.
func (s *site) sessions(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	q := askback.SessionQuery{
		Status: askback.SessionStatus(values.Get("status")), Agent: values.Get("agent"), Search: values.Get("q"), Cursor: values.Get("cursor"),
	}
	page, err := r.client.Sessions(r.Context(), q)
	if err != nil {
		return err
	}
	list := pages.SessionList{Search: q.Search, Status: string(q.Status), Agent: q.Agent, Cursor: q.Cursor, Next: page.NextCursor}
	for _, one := range page.Items {
		list.Sessions = append(list.Sessions, view.SessionOf(one))
	}
	return s.render(w, r.Request, http.StatusOK, pages.Sessions(r.frame, list))
}

// session shows the timeline of a session: its newest asks, and its messages.
func (s *site) session(w http.ResponseWriter, r request) error {
	one, err := r.client.Session(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	asks, err := r.client.List(r.Context(), askback.Query{Status: askback.AnyStatus, SessionID: one.ID, Limit: askback.MaxLimit})
	if err != nil {
		return err
	}
	messages, more, err := r.messages(one.ID)
	if err != nil {
		return err
	}
	late, moreLate, err := s.auth.LateAnswers(r.Context(), r.principal, one.ID)
	if err != nil {
		return err
	}
	sent, err := s.deliveriesOf(r, one.ID, asks.Items...)
	if err != nil {
		return err
	}
	r.frame.Page = pages.SessionsPath
	t := pages.SessionPage{
		Session: view.SessionOf(one), Moments: view.Timeline(one, asks.Items, messages, late, sent),
		More: asks.NextCursor != "", MoreMessages: more, MoreLate: moreLate,
	}
	return s.render(w, r.Request, http.StatusOK, pages.Session(r.frame, t))
}

// maxMessages and maxMessageBytes limit the messages of a timeline, whose number and size an
// agent chooses. The page is rendered in memory, again after each event.
const (
	maxMessages     = 1000
	maxMessageBytes = 2 << 20
)

// messages returns the first messages of a session, and reports whether there are more. The
// session of a single ask has none.
func (r request) messages(id string) (all []askback.Message, more bool, err error) {
	for cursor, size := "", 0; ; {
		page, err := r.client.Messages(r.Context(), id, cursor, askback.MaxLimit)
		if err != nil {
			return nil, false, err
		}
		for _, m := range page.Items {
			if size += len(m.Text); size > maxMessageBytes {
				return all, true, nil
			}
			all = append(all, m)
		}
		if cursor = page.NextCursor; cursor == "" || len(all) >= maxMessages {
			return all, cursor != "", nil
		}
	}
}

// liveSession tells an open page of a session to load its content again after each event. It
// also does so when it begins, because the session may have changed since the page was
// rendered.
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
	for ev, err := range r.client.Events(ctx, id, askback.Cursor(r.Header.Get("Last-Event-ID"))) {
		if err != nil || out.send(ev.Cursor, "reload", nil) != nil {
			return nil // the client has left, or reconnects
		}
	}
	return nil
}
