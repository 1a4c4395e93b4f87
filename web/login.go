package web

import (
	"errors"
	"net/http"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
)

// loginPage shows a button for the secret of a log-in link. Opening the link does not use the secret, because
// programs such as virus scanners open links before people do. Without a secret, the page shows the name of
// the person who is logged in.
func (s *site) loginPage(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errInsecure
	}
	secret, frame := r.URL.Query().Get("secret"), s.frameOf(r)
	switch {
	case secret != "":
		return s.render(w, r, http.StatusOK, pages.Login(frame, secret))
	case frame.Name.String() != "":
		return s.render(w, r, http.StatusOK, pages.Message(frame, pages.Notice{
			Heading: "You are logged in",
			Body:    []string{"This browser is logged in as " + frame.Name.String() + "."},
			Home:    true,
		}))
	}
	return askback.ErrUnauthorized
}

// maxLogin is the limit in bytes for the form of a log-in, which anyone can send.
const maxLogin = 4 << 10

// login exchanges the secret of a link for a cookie. If the browser cannot keep a cookie, the link stays
// valid. Then login redirects to the page that the person wanted to open.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errInsecure
	}
	values, err := readValues(w, r, maxLogin)
	if err != nil {
		return err
	}
	secret, err := s.browsers.Login(r.Context(), values.Get("secret"), login.BrowserOf(r))
	if errors.Is(err, askback.ErrUnauthorized) {
		return s.render(w, r, http.StatusForbidden, pages.Message(s.frame(r, ""), pages.Notice{
			Heading: "This link has expired",
			Body:    []string{"It was used before, or it is too old. For a new link, run this in a terminal:"},
			Command: "askback login",
		}))
	}
	if err != nil {
		return err
	}
	login.SetCookie(w, r, secret, limits.BrowserTime)
	http.Redirect(w, r, returnPath(login.TakeReturnPath(w, r)), http.StatusSeeOther)
	return nil
}

// logout revokes the secret of the browser and deletes its cookie.
func (s *site) logout(w http.ResponseWriter, r *http.Request) error {
	if secret := login.Secret(r); secret != "" {
		if err := s.browsers.Logout(r.Context(), secret); err != nil {
			return err
		}
	}
	login.ClearCookie(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
