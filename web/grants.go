package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// pastGrants is the number of ended standing approvals that are folded below the valid approvals.
const pastGrants = 10

// grants shows a page of the valid standing approvals by agent, or of the ended approvals.
func (s *site) grants(w http.ResponseWriter, r request) error {
	values := r.URL.Query()
	list := pages.GrantList{Ended: values.Has("ended"), Agent: values.Get("agent")}
	q := askback.GrantQuery{Ended: list.Ended, Agent: list.Agent, Cursor: values.Get("cursor")}
	page, err := r.client.Grants(r.Context(), q)
	if err != nil {
		return err
	}
	list.Groups, list.Next = view.GroupGrants(grantViews(page.Items)), page.NextCursor
	list.MayRevoke = s.auth.May(r.principal, access.ActRevoke) == nil
	if !q.Ended && q.Cursor == "" {
		past, err := r.client.Grants(r.Context(), askback.GrantQuery{Ended: true, Agent: q.Agent, Limit: pastGrants})
		if err != nil {
			return err
		}
		list.Past, list.MorePast = grantViews(past.Items), past.NextCursor != ""
		list.Revoked = revokedGrant(list.Past, values.Get("done"))
	}
	return s.render(w, r.Request, http.StatusOK, pages.Grants(r.frame, list))
}

func grantViews(grants []askback.Grant) []view.Grant {
	views := make([]view.Grant, len(grants))
	for i, g := range grants {
		views[i] = view.OfGrant(g)
	}
	return views
}

// revokedGrant returns the grant id if it is revoked and in past, or nil.
func revokedGrant(past []view.Grant, id string) *view.Grant {
	i := slices.IndexFunc(past, func(g view.Grant) bool { return g.ID.String() == id && !g.RevokedAt.IsZero() })
	if i < 0 {
		return nil
	}
	return &past[i]
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
	g, err := r.client.Revoke(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	http.Redirect(w, r.Request, "/grants?"+url.Values{"done": {g.ID}}.Encode(), http.StatusSeeOther)
	return nil
}
