package web

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/web/pages"
)

// loginPage shows a button. Opening the link spends nothing, so that whoever looks at
// links before people do cannot use it up.
func (s *site) loginPage(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errClear
	}
	secret, frame := r.URL.Query().Get("secret"), s.frameOf(r)
	switch {
	case secret != "":
		return s.draw(w, r, http.StatusOK, pages.Login(frame, secret))
	case frame.Name.String() != "":
		return s.draw(w, r, http.StatusOK, pages.Say(frame, pages.Notice{
			Heading: "You are logged in",
			Body:    []string{"This browser is logged in as " + frame.Name.String() + "."},
			Home:    true,
		}))
	}
	return askback.ErrUnauthorized
}

// maxLogin is what a log-in sends at most: whoever has no token yet gets no room.
const maxLogin = 4 << 10

// login spends the link. Where no cookie can be kept the link stays good.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errClear
	}
	values, err := readValues(w, r, maxLogin)
	if err != nil {
		return err
	}
	secret, err := s.gate.Login(r.Context(), values.Get("secret"))
	if errors.Is(err, askback.ErrUnauthorized) {
		return s.draw(w, r, http.StatusForbidden, pages.Say(s.frame(), pages.Notice{
			Heading: "This link does not work any more",
			Body:    []string{"It was used before, or it is too old. Type this for a new one:"},
			Command: "askback login",
		}))
	}
	if err != nil {
		return err
	}
	login.SetCookie(w, r, secret, askback.BrowserTime)
	http.Redirect(w, r, readable(login.TakeReturnPath(w, r)), http.StatusSeeOther)
	return nil
}

// logout ends the secret of this browser, and makes it forget it.
func (s *site) logout(w http.ResponseWriter, r *http.Request) error {
	if secret := login.Secret(r); secret != "" {
		if err := s.gate.Logout(r.Context(), secret); err != nil {
			return err
		}
	}
	login.ClearCookie(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
