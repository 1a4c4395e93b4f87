package web

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// list shows what waits for this person, oldest first.
func (s *site) list(w http.ResponseWriter, v visit) error {
	page, err := v.seat.List(v.Context(), askback.Query{Cursor: v.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	asks := make([]view.Ask, len(page.Items))
	for i, a := range page.Items {
		asks[i] = view.Brief(a)
	}
	return s.draw(w, v.Request, http.StatusOK, pages.List(v.frame, asks, page.NextCursor, s.anyGrant(v)))
}

// ask shows one ask, to be answered or as it ended.
func (s *site) ask(w http.ResponseWriter, v visit) error {
	a, err := v.seat.Get(v.Context(), v.PathValue("id"))
	if err != nil {
		return err
	}
	drawn := view.Of(a)
	if a.Settled() {
		return s.draw(w, v.Request, http.StatusOK, pages.Settled(v.frame, drawn))
	}
	return s.draw(w, v.Request, http.StatusOK, pages.Ask(v.frame, drawn, view.NewForm(drawn)))
}

// settle takes the form of an ask. What cannot be taken comes back as it was filled in,
// with the reason; whoever came too late sees who was quicker.
func (s *site) settle(w http.ResponseWriter, v visit) error {
	a, err := v.seat.Get(v.Context(), v.PathValue("id"))
	if err != nil {
		return err
	}
	drawn := view.Of(a)
	sent, err := readForm(w, v.Request, drawn)
	if err != nil {
		return err
	}
	if err := s.still(v); err != nil {
		return err
	}
	switch wrong := sent.check(a, drawn); {
	case wrong && a.Settled():
		return s.overtaken(w, v, a, sent.form)
	case wrong:
		return s.draw(w, v.Request, http.StatusUnprocessableEntity, pages.Ask(v.frame, drawn, sent.form))
	}
	after, err := sent.give(v, drawn)
	var invalid askback.Invalid
	switch {
	case err == nil:
		http.Redirect(w, v.Request, askback.PagePath(a.ID), http.StatusSeeOther)
		return nil
	case errors.Is(err, askback.ErrSettled):
		return s.overtaken(w, v, after, sent.form)
	case errors.As(err, &invalid):
		sent.form.AddInvalid(drawn, invalid)
		return s.draw(w, v.Request, http.StatusUnprocessableEntity, pages.Ask(v.frame, drawn, sent.form))
	}
	return s.retry(w, v, drawn, sent.form, err)
}

// claim says that this person is at it. The script of the page sends it.
func (s *site) claim(w http.ResponseWriter, v visit) error {
	if _, err := v.seat.Claim(v.Context(), v.PathValue("id")); err != nil && !errors.Is(err, askback.ErrSettled) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *site) overtaken(w http.ResponseWriter, v visit, a askback.Ask, form view.Form) error {
	conflict := view.ConflictOf(*a.Outcome, v.who.Name)
	return s.draw(w, v.Request, http.StatusConflict, pages.Overtaken(v.frame, view.Of(a), conflict, form))
}

// retry shows the form again after an error that is not in it, for another try.
func (s *site) retry(w http.ResponseWriter, v visit, a view.Ask, form view.Form, err error) error {
	f := failureOf(err)
	if errors.Is(err, askback.ErrDiskFull) {
		form.AddProblem("", "The disk of the server is full, and your answer was not kept. Send it again when there is room.")
		return s.draw(w, v.Request, f.status, pages.Ask(v.frame, a, form))
	}
	if f.status != http.StatusServiceUnavailable && f.status != http.StatusInternalServerError {
		return err
	}
	s.log.Error("an answer was not taken", "ask", a.ID.String(), "error", err)
	form.AddProblem("", "The server could not take it just now. Send it again in a moment.")
	w.Header().Set("Retry-After", "1")
	return s.draw(w, v.Request, f.status, pages.Ask(v.frame, a, form))
}
