package web

import (
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/view"
)

// logins lists the browsers where this person is logged in.
func (s *site) logins(w http.ResponseWriter, r request) error {
	logins, err := s.browsers.Logins(r.Context(), r.principal)
	if err != nil {
		return err
	}
	var views []view.Token
	for _, t := range logins {
		views = append(views, view.OfToken(t))
	}
	return s.render(w, r.Request, http.StatusOK,
		pages.Logins(r.frame, views, view.OfToken(askback.Token{ID: r.principal.Token}).ID))
}

// endLogins ends the log-in with the id of the address. For the id "others", it ends all log-ins except the
// log-in of this browser. If it ends the log-in of this browser, the next page asks the person to log in.
func (s *site) endLogins(w http.ResponseWriter, r request) error {
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	ids := []string{r.PathValue("id")}
	if ids[0] == "others" {
		logins, err := s.browsers.Logins(r.Context(), r.principal)
		if err != nil {
			return err
		}
		ids = nil
		for _, t := range logins {
			if t.ID != r.principal.Token {
				ids = append(ids, t.ID)
			}
		}
	}
	for _, id := range ids {
		if _, err := s.browsers.EndLogin(r.Context(), r.principal, id); err != nil {
			return err
		}
		if id == r.principal.Token {
			login.ClearCookie(w, r.Request)
		}
	}
	http.Redirect(w, r.Request, "/logins", http.StatusSeeOther)
	return nil
}
