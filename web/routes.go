package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/text/view"
)

// routes lists the routes. It also shows which route applies to the ask that the address describes.
func (s *site) routes(w http.ResponseWriter, r request) error {
	return s.renderRoutes(w, r, http.StatusOK, "")
}

// routesDone are the sentences that confirm an action.
var routesDone = map[string]string{
	pages.SaveRoute: "The route is saved, and applies to new asks.", pages.RemoveRoute: "Removed.",
	pages.RouteUp:   "Moved up.",
	pages.RouteDown: "Moved down.",
}

// renderRoutes sends the list. problem is the reason why a form had no effect, or "".
func (s *site) renderRoutes(w http.ResponseWriter, r request, status int, problem string) error {
	all, err := r.client.Routes(r.Context())
	if err != nil {
		return err
	}
	list := pages.RouteList{
		Revision: strconv.FormatInt(all.Revision, 10), By: view.RawText(all.By).Text(), Problem: problem,
		MayChange: s.auth.May(r.principal, access.ActDirectory) == nil, Done: routesDone[r.URL.Query().Get("done")],
	}
	for _, one := range all.Items {
		list.Routes = append(list.Routes, view.OfRoute(one))
	}
	list.Check = checkRoutes(r, all.Items)
	return s.render(w, r.Request, status, pages.Routes(r.frame, list))
}

// checkRoutes returns the routes that apply to the ask in the address.
func checkRoutes(r request, routes []askback.Route) pages.RouteCheck {
	q := r.URL.Query()
	c := pages.RouteCheck{
		Agent: strings.TrimSpace(q.Get("agent")), Kind: q.Get("kind"), Tags: q.Get("tags"), Asked: q.Has("kind"),
		First: -1,
	}
	a := &askback.Ask{Agent: c.Agent, Owner: c.Agent, Kind: askback.AskKind(c.Kind), Tags: view.SplitNames(c.Tags)}
	for n, one := range routes {
		switch {
		case !one.Match.Matches(a):
		case c.First < 0:
			c.First = n
		case a.Kind == askback.Confirm && (one.Quorum > 1 || len(one.Approvers) > 0) || one.NoSelfApproval:
			c.Rules = append(c.Rules, n)
		}
	}
	return c
}

// editRoute shows the form for a route that was made here, or for a new route.
func (s *site) editRoute(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActDirectory) != nil {
		return errAdminOnly
	}
	all, err := r.client.Routes(r.Context())
	if err != nil {
		return err
	}
	form := pages.RouteForm{Revision: strconv.FormatInt(all.Revision, 10)}
	if index := r.URL.Query().Get("route"); index != "" {
		n, err := strconv.Atoi(index)
		made := madeRoutes(all)
		if err != nil || n < 0 || n >= len(made) || r.URL.Query().Get("revision") != form.Revision {
			return s.renderRoutes(w, r, http.StatusConflict, routesChanged)
		}
		form = routeForm(made[n])
		form.Index, form.Revision = index, strconv.FormatInt(all.Revision, 10)
	}
	return s.render(w, r.Request, http.StatusOK, pages.EditRoute(r.frame, form))
}

// routesChanged is the message if the routes have changed since the page was loaded.
const routesChanged = "The routes were changed after this page was loaded. The list below is up to date."

// madeRoutes returns the routes that were made here or over the API.
func madeRoutes(all askback.RouteList) []askback.Route {
	return slices.DeleteFunc(slices.Clone(all.Items),
		func(r askback.Route) bool { return r.Source == askback.SourceSettings })
}

// maxRouteForm is the limit in bytes for the form of a route.
const maxRouteForm = 256 << 10

// changeRoutes saves, removes or moves a route, as the form requests.
func (s *site) changeRoutes(w http.ResponseWriter, r request) error {
	if s.auth.May(r.principal, access.ActDirectory) != nil {
		return errAdminOnly
	}
	values, err := readValues(w, r.Request, maxRouteForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	revision, err := strconv.ParseInt(values.Get("revision"), 10, 64)
	if err != nil {
		return errForm
	}
	all, err := r.client.Routes(r.Context())
	if err != nil {
		return err
	}
	routes, index := madeRoutes(all), len(madeRoutes(all))
	if values.Get("route") != "" {
		if index, err = strconv.Atoi(values.Get("route")); err != nil || index < 0 || index >= len(routes) {
			return s.renderRoutes(w, r, http.StatusConflict, routesChanged)
		}
	}
	action := values.Get("action")
	if action == pages.SaveRoute {
		return s.saveRoute(w, r, values, routes, index, revision)
	}
	if !reorder(&routes, index, action) {
		return errForm
	}
	return s.putRoutes(w, r, routes, revision, action)
}

// reorder moves or removes the route n. It reports whether the action is possible for that route.
func reorder(routes *[]askback.Route, n int, action string) bool {
	all := *routes
	switch {
	case n >= len(all):
		return false
	case action == pages.RemoveRoute:
		*routes = slices.Delete(all, n, n+1)
	case action == pages.RouteUp && n > 0:
		all[n-1], all[n] = all[n], all[n-1]
	case action == pages.RouteDown && n < len(all)-1:
		all[n+1], all[n] = all[n], all[n+1]
	default:
		return false
	}
	return true
}

// putRoutes replaces the routes that were made here, and redirects to the list.
func (s *site) putRoutes(
	w http.ResponseWriter, r request, routes []askback.Route, revision int64, action string,
) error {
	_, err := r.client.PutRoutes(r.Context(), routes, revision)
	var invalid askback.Invalid
	switch {
	case errors.Is(err, askback.ErrChanged):
		return s.renderRoutes(w, r, http.StatusConflict, routesChanged)
	case errors.As(err, &invalid):
		return s.renderRoutes(w, r, http.StatusUnprocessableEntity, sentence(invalid[0].Detail))
	case err != nil:
		return err
	}
	http.Redirect(w, r.Request, pages.RoutesPath+"?done="+action, http.StatusSeeOther)
	return nil
}
