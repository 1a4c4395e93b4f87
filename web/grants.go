package web

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// grants shows the standing approvals that hold, or those that are over.
func (s *site) grants(w http.ResponseWriter, v visit) error {
	q := askback.GrantQuery{Ended: v.URL.Query().Has("ended"), Cursor: v.URL.Query().Get("cursor")}
	page, err := v.seat.Grants(v.Context(), q)
	if err != nil {
		return err
	}
	grants := make([]view.Grant, len(page.Items))
	for i, g := range page.Items {
		grants[i] = view.OfGrant(g)
	}
	return s.draw(w, v.Request, http.StatusOK, pages.Grants(v.frame, grants, q.Ended, page.NextCursor))
}

// maxSmall is room for a form with nothing in it but its button.
const maxSmall = 1 << 10

// revoke ends a standing approval.
func (s *site) revoke(w http.ResponseWriter, v visit) error {
	if _, err := readValues(w, v.Request, maxSmall); err != nil {
		return err
	}
	if err := s.still(v); err != nil {
		return err
	}
	if _, err := v.seat.Revoke(v.Context(), v.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(w, v.Request, "/grants", http.StatusSeeOther)
	return nil
}

// anyGrant says whether there is a standing approval to look after. The list is not worth
// an error for that.
func (s *site) anyGrant(v visit) bool {
	page, err := v.seat.Grants(v.Context(), askback.GrantQuery{Limit: 1})
	if err != nil {
		s.log.Debug("standing approvals could not be read", "error", err)
	}
	return len(page.Items) > 0
}
