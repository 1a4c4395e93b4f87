package web

import (
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// history shows the settled asks that the person may see, the most recently settled ask first (E6).
func (s *site) history(w http.ResponseWriter, r request) error {
	list, err := s.settledAsks(r, "")
	if err != nil {
		return err
	}
	return s.render(w, r.Request, http.StatusOK, pages.HistoryList(r.frame, list))
}

// historyAsk shows a settled ask next to the history. It redirects to the page of the ask if the ask is open.
func (s *site) historyAsk(w http.ResponseWriter, r request) error {
	a, err := r.client.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if !a.Settled() {
		http.Redirect(w, r.Request, askback.PagePath(a.ID), http.StatusSeeOther)
		return nil
	}
	list, err := s.settledAsks(r, a.ID)
	if err != nil {
		return err
	}
	drawn, err := s.settledView(r, a)
	if err != nil {
		return err
	}
	r.frame.Page = pages.HistoryPath
	return s.render(w, r.Request, http.StatusOK, pages.HistoryAsk(r.frame, list, drawn))
}

// settledAsks returns the settled asks that the address of a page selects. current is the
// ask that is open on the page, or "".
func (s *site) settledAsks(r request, current string) (pages.History, error) {
	values := r.URL.Query()
	h := pages.History{
		Filter: pages.HistoryFilterOf(values), Cursor: values.Get("cursor"), Current: current,
		Found: map[string]view.Snippet{},
	}
	q, err := historyQuery(h.Filter, h.Cursor, r.frame.Zone)
	if err != nil {
		return h, err
	}
	page, err := r.client.List(r.Context(), q)
	if err != nil {
		return h, err
	}
	for _, a := range page.Items {
		h.Asks = append(h.Asks, view.Brief(a))
		if h.Filter.Search != "" {
			h.Found[a.ID] = view.SnippetOf(a, h.Filter.Search)
		}
	}
	view.TellApart(view.References(h.Asks))
	h.Next = page.NextCursor
	return h, nil
}

// historyQuery returns the query for a page of the history. Days are in zone. A nil zone is UTC. The error is
// an [askback.Invalid].
func historyQuery(f pages.HistoryFilter, cursor string, zone *time.Location) (askback.Query, error) {
	q := askback.Query{
		Status: askback.SettledStatus, Search: f.Search, Agent: f.Agent, By: f.Person, Tool: f.Tool, Tag: f.Tag,
		Cursor: cursor,
	}
	switch {
	case !f.KnownOutcome():
		return q, askback.Invalid{{Pointer: "?outcome", Detail: "this is not an outcome", Fix: "outcome=answered"}}
	case f.Outcome == "approved" || f.Outcome == "denied":
		q.Decision = askback.Decision(f.Outcome)
	case f.Outcome != "":
		q.Status = askback.Status(f.Outcome)
	}
	since, err := parseDay("from", f.From)
	if err != nil {
		return q, err
	}
	until, err := parseDay("to", f.To)
	if err != nil {
		return q, err
	}
	if !since.IsZero() {
		q.Since = startOfDay(since, zone)
	}
	if !until.IsZero() {
		q.Until = startOfDay(until.AddDate(0, 0, 1), zone)
	}
	return q, nil
}

// parseDay parses the day s in the field name of the form. The result is noon of this day in UTC, or the zero
// time if s is "".
func parseDay(name, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, askback.Invalid{{Pointer: "?" + name, Detail: "this is not a day", Fix: name + "=2026-11-03"}}
	}
	return t.Add(12 * time.Hour), nil
}

// startOfDay returns the first moment of the day of t in a zone. Where clocks change at midnight, midnight does
// not exist on one day of the year, and exists twice on another. A nil zone is UTC.
func startOfDay(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	year, month, day := t.Date()
	start := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if _, end := start.ZoneBounds(); start.Day() != day {
		return end
	}
	if earlier := start.Add(-time.Hour); earlier.Day() == day {
		return earlier
	}
	return start
}
