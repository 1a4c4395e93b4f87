package web

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// agents shows the agents with a token or an ask, and their waiting times.
func (s *site) agents(w http.ResponseWriter, r request) error {
	f, err := s.monthFigures(r)
	if err != nil {
		return err
	}
	tokens, err := r.client.Agents(r.Context())
	if err != nil {
		return err
	}
	grants, err := r.client.Grants(r.Context(), askback.GrantQuery{Limit: askback.MaxLimit})
	if err != nil {
		return err
	}
	return s.render(w, r.Request, http.StatusOK,
		pages.Agents(r.frame, view.OfAgents(f, tokens, grants.Items), f.Partial || grants.NextCursor != ""))
}
