package web

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/web/pages"
)

// grants shows a page of the standing approvals in force, or of those that ended.
func (s *site) grants(w http.ResponseWriter, r request) error {
	q := askback.GrantQuery{Ended: r.URL.Query().Has("ended"), Cursor: r.URL.Query().Get("cursor")}
	page, err := r.client.Grants(r.Context(), q)
	if err != nil {
		return err
	}
	grants := make([]view.Grant, len(page.Items))
	for i, g := range page.Items {
		grants[i] = view.OfGrant(g)
	}
	return s.render(w, r.Request, http.StatusOK, pages.Grants(r.frame, grants, q.Ended, page.NextCursor))
}

// maxEmptyForm is the limit in bytes for a form that has no fields.
const maxEmptyForm = 1 << 10

// revoke ends a standing approval.
func (s *site) revoke(w http.ResponseWriter, r request) error {
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	if _, err := r.client.Revoke(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	http.Redirect(w, r.Request, "/grants", http.StatusSeeOther)
	return nil
}

// anyGrant reports whether there is a standing approval. On an error it returns false, so
// that the inbox is shown without the link.
func (s *site) anyGrant(r request) bool {
	page, err := r.client.Grants(r.Context(), askback.GrantQuery{Limit: 1})
	if err != nil {
		s.log.Debug("reading standing approvals failed", "error", err)
	}
	return len(page.Items) > 0
}
