package web

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// ask shows an ask next to the list. It shows the form of an open ask, or the outcome of a settled ask.
func (s *site) ask(w http.ResponseWriter, r request) error {
	a, err := r.client.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	list, err := s.inbox(r, a.ID)
	if err != nil {
		return err
	}
	if a.Settled() {
		drawn, err := s.settledView(r, a)
		if err != nil {
			return err
		}
		return s.render(w, r.Request, http.StatusOK, pages.Settled(r.frame, list, drawn))
	}
	drawn, err := s.withDeliveries(r, a, view.For(a, r.principal.Name))
	if err != nil {
		return err
	}
	drawn.MayReassign = s.mayReassign(r, a)
	drawn.Earlier = view.FindEarlier(r.Context(), r.client, a, r.principal.Name)
	return s.render(w, r.Request, http.StatusOK, pages.Ask(r.frame, list, drawn, s.draftOf(r, drawn)))
}

// settledView returns the view of a settled ask with its session, its late answers and deliveries.
func (s *site) settledView(r request, a askback.Ask) (view.Ask, error) {
	drawn, err := s.withDeliveries(r, a, view.Of(a))
	if err != nil {
		return drawn, err
	}
	drawn.Run = s.runOf(r, a)
	late, _, err := s.engine.Reports(r.principal).LateAnswers(r.Context(), a.ID)
	for _, l := range late {
		drawn.Late = append(drawn.Late, view.LateAnswerOf(a, l))
	}
	return drawn, err
}

// runOf returns the session of an ask, so that the person can write to its agent. It returns nil for the session
// of a single ask, which has no messages, and for a session that cannot be read, such as a deleted session.
func (s *site) runOf(r request, a askback.Ask) *view.Session {
	if a.SessionID == "" || view.Brief(a).OwnSession {
		return nil
	}
	one, err := r.client.Session(r.Context(), a.SessionID)
	if err != nil {
		s.log.Debug("the session of an ask could not be read", "ask", a.ID, "error", err)
		return nil
	}
	return new(view.SessionOf(one))
}

// settle handles the form of an ask. It shows a form with errors again as it was filled in. If the ask is
// already settled in another way, it shows the outcome. After an answer, it redirects to the next page.
func (s *site) settle(w http.ResponseWriter, r request) error {
	a, err := r.client.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	drawn := view.For(a, r.principal.Name)
	drawn.MayReassign = s.mayReassign(r, a)
	drawn.Earlier = view.FindEarlier(r.Context(), r.client, a, r.principal.Name)
	sent, err := readForm(w, r.Request, drawn)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	switch wrong := sent.check(a, drawn); {
	case wrong && a.Settled():
		return s.renderConflict(w, r, a, sent.form)
	case wrong:
		s.keepUnsent(r, drawn, sent)
		return s.renderForm(w, r, http.StatusUnprocessableEntity, drawn, sent.form)
	}
	after, err := sent.submit(r, drawn)
	var invalid askback.Invalid
	switch {
	case err == nil:
		if _, held := after.HeldBy(r.principal.Name); held {
			s.keepUnsent(r, drawn, sent) // keeps the form in case the answer is undone
		}
		next := pages.SessionsPath + "/" + a.SessionID
		if sent.then != pages.ThenSession || a.SessionID == "" {
			next = s.nextPath(r, a.ID, sent.then)
		}
		http.Redirect(w, r.Request, next, http.StatusSeeOther)
		return nil
	case errors.Is(err, askback.ErrSettled):
		return s.renderConflict(w, r, after, sent.form)
	case errors.As(err, &invalid):
		sent.form.AddInvalid(drawn, invalid)
		s.keepUnsent(r, drawn, sent)
		return s.renderForm(w, r, http.StatusUnprocessableEntity, drawn, sent.form)
	}
	return s.renderRetry(w, r, drawn, sent.form, err)
}

// keepUnsent saves a form that was rejected or can still be undone as a draft. So the form is still there
// after the person leaves the page.
func (s *site) keepUnsent(r request, a view.Ask, sent submission) {
	if err := s.keep(r, a, sent.values); err != nil {
		s.log.Info("saving a form as a draft failed", "ask", a.ID.String(), "error", err)
	}
}

// claim records that the person is answering. The script of the page calls it. If the ask is settled, claim
// has no effect.
func (s *site) claim(w http.ResponseWriter, r request) error {
	if _, err := r.client.Claim(r.Context(), r.PathValue("id")); err != nil && !errors.Is(err, askback.ErrSettled) {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// seen records that the person has the ask on the screen. The script of the page calls it when
// the page is visible.
func (s *site) seen(w http.ResponseWriter, r request) error {
	if err := r.client.Seen(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *site) renderConflict(w http.ResponseWriter, r request, a askback.Ask, form view.Form) error {
	list, err := s.inbox(r, a.ID)
	if err != nil {
		return err
	}
	conflict, drawn := view.ConflictOf(*a.Outcome, r.principal.Name), view.Of(a)
	drawn.Run = s.runOf(r, a)
	return s.render(w, r.Request, http.StatusConflict, pages.Conflict(r.frame, list, drawn, conflict, form))
}

// renderForm shows the form of an ask as it was filled in, with its problems.
func (s *site) renderForm(w http.ResponseWriter, r request, status int, a view.Ask, form view.Form) error {
	list, err := s.inbox(r, a.ID.String())
	if err != nil {
		// the page shows the form even if the list cannot be read
		s.log.Warn("listing the asks for the page of a form failed", "error", err)
	}
	return s.render(w, r.Request, status, pages.Ask(r.frame, list, a, form))
}

// renderRetry shows the form again if the server could not save the answer, so that the person can send the
// form again. It returns all other errors.
func (s *site) renderRetry(w http.ResponseWriter, r request, a view.Ask, form view.Form, err error) error {
	status := failureOf(err).status
	switch status {
	case http.StatusInsufficientStorage:
		form.AddProblem("",
			"The server's disk is full, and your answer was not saved. Send it again when there is space.")
	case http.StatusServiceUnavailable, http.StatusInternalServerError:
		s.log.Error("saving an answer failed", "ask", a.ID.String(), "error", err)
		form.AddProblem("", "The server could not save your answer. Send it again in a moment.")
		w.Header().Set("Retry-After", "1")
	default:
		return err
	}
	return s.renderForm(w, r, status, a, form)
}
