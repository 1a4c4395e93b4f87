package web

import (
	"net/http"

	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// people shows the people who may answer, and how they answered.
func (s *site) people(w http.ResponseWriter, r request) error {
	f, err := s.monthFigures(r)
	if err != nil {
		return err
	}
	people, err := r.client.People(r.Context())
	if err != nil {
		return err
	}
	return s.render(w, r.Request, http.StatusOK, pages.People(r.frame, view.OfPeople(f, people), f.Partial))
}
