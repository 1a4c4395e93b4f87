package web

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// sessions lists the sessions of agents, newest first.
func (s *site) sessions(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	q := askback.SessionQuery{
		Status: askback.SessionStatus(values.Get("status")), Agent: values.Get("agent"), Search: values.Get("q"),
		Cursor: values.Get("cursor"),
	}
	page, err := r.client.Sessions(r.Context(), q)
	if err != nil {
		return err
	}
	list := pages.SessionList{
		Search: q.Search, Status: string(q.Status), Agent: q.Agent, Cursor: q.Cursor, Next: page.NextCursor,
	}
	for _, one := range page.Items {
		list.Sessions = append(list.Sessions, view.SessionOf(one))
	}
	return s.render(w, r.Request, http.StatusOK, pages.Sessions(r.frame, list))
}

// session shows the timeline of a session.
func (s *site) session(w http.ResponseWriter, r request) error {
	return s.renderSession(w, r, http.StatusOK, "", "")
}

// renderSession renders the page of a session. problem is the reason why the message text was not sent.
func (s *site) renderSession(w http.ResponseWriter, r request, status int, problem, text string) error {
	one, err := r.client.Session(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	asks, err := r.client.List(r.Context(),
		askback.Query{Status: askback.AnyStatus, SessionID: one.ID, Limit: askback.MaxLimit})
	if err != nil {
		return err
	}
	late, moreLate, err := s.engine.Reports(r.principal).LateAnswers(r.Context(), one.ID)
	if err != nil {
		return err
	}
	sent, err := s.deliveriesOf(r, one.ID, asks.Items...)
	if err != nil {
		return err
	}
	t := pages.SessionPage{
		Session: sessionView(one, asks.Items), More: asks.NextCursor != "", MoreLate: moreLate, Problem: problem,
		Text: text,
	}
	if one.Hosted {
		t.Moments, t.Older, err = s.hostedMoments(r, one, asks.Items, late, sent)
		s.openAsk(r, &t, one, asks.Items)
	} else {
		var messages []askback.Message
		messages, t.MoreMessages, err = r.messages(one.ID)
		t.Moments = view.Timeline(one, asks.Items, messages, late, view.DeliveriesOf(sent, s.titles))
	}
	if err != nil {
		return err
	}
	r.frame.Page = pages.SessionsPath
	return s.render(w, r.Request, status, pages.Session(r.frame, t))
}

// sessionView returns the view of a session with its asks.
func sessionView(one askback.Session, asks []askback.Ask) view.Session {
	v := view.SessionOf(one)
	v.OfOneAsk = len(asks) == 1 && view.Brief(asks[0]).OwnSession
	return v
}

// maxMessages and maxMessageBytes limit the messages of a timeline. An agent chooses their number and size,
// and the page is rendered in memory after each event.
const (
	maxMessages     = 1000
	maxMessageBytes = 2 << 20
)

// messages returns the first messages of a session, and reports whether there are more messages.
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
