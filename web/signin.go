package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/web/pages"
)

// An Issuer says who a person is, by OpenID Connect.
type Issuer interface {
	// Name is what people know it by.
	Name() string
	// Begin begins to find out, and returns where to send the browser. To is the path
	// that the person wanted to see.
	Begin(w http.ResponseWriter, r *http.Request, to string) (address string, err error)
	// Finish ends it when the browser is sent back, with an e-mail address that is the
	// person's own.
	Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error)
}

// signInPath begins it. It is a link and no form: a form may lead nowhere but to our
// own pages. It changes nothing here; whoever is sent to it without wanting it is
// asked by the issuer.
const signInPath = "/login/oidc"

// signInAt is where to sign in to see a path. It names the host to which the issuer
// sends people back, because the cookie of the way there belongs to a host.
func (s *site) signInAt(path string) string {
	return s.home + signInPath + "?" + url.Values{"to": {path}}.Encode()
}

// offer adds the way to sign in to a notice, if there is one.
func (s *site) offer(n pages.Notice, path string) pages.Notice {
	if s.issuer == nil {
		return n
	}
	if path == login.CallbackPath {
		path = "/"
	}
	n.Body = []string{"This browser is not logged in, or no longer."}
	n.SignIn = pages.SignIn{
		Name: s.issuer.Name(), At: s.signInAt(path),
		Else: "Or, in a terminal on the machine where Askback runs, type this and open the link it prints:",
	}
	return n
}

// signIn sends a browser to the issuer.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errClear
	}
	to := r.URL.Query().Get("to")
	address, err := s.issuer.Begin(w, r, to)
	if err != nil {
		return s.notSignedIn(w, r, to, err)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// signedIn logs in a browser that comes back from the issuer.
func (s *site) signedIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if !login.Possible(r) {
		return errClear
	}
	email, to, err := s.issuer.Finish(w, r)
	if err != nil {
		return s.notSignedIn(w, r, to, err)
	}
	secret, err := s.gate.SignIn(r.Context(), email)
	if errors.Is(err, askback.ErrForbidden) {
		return s.notSignedIn(w, r, to, errStranger{email})
	}
	if err != nil {
		return err
	}
	login.Keep(w, r, secret, askback.SignInTime)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// errStranger is somebody whom the issuer knows, and we do not.
type errStranger struct{ email string }

func (e errStranger) Error() string { return e.email + " is none of those who answer here" }

// notSignedIn says why somebody is not let in. What the issuer said is for the log:
// a stranger may have written it.
func (s *site) notSignedIn(w http.ResponseWriter, r *http.Request, to string, err error) error {
	n, status := pages.Notice{Heading: "Not signed in", SignIn: pages.SignIn{Name: s.issuer.Name(), At: s.signInAt(to)}}, http.StatusForbidden
	var stranger errStranger
	switch {
	case errors.As(err, &stranger):
		n.Heading = "Not one of those who answer here"
		n.Body = []string{
			s.issuer.Name() + " says that you are " + stranger.email + ". Nobody with this address answers here.",
			"If that is a mistake, whoever runs this server can add the address. If you have another account, sign out there first.",
		}
	case errors.Is(err, login.ErrAttempt):
		n.Body = []string{"This sign-in did not begin in this browser, or it took too long. Nothing has changed. Begin again:"}
		n.SignIn.At = s.signInAt("/")
	case errors.Is(err, login.ErrUnverified):
		n.Body = []string{s.issuer.Name() + " has not confirmed that your e-mail address is yours. Have it confirmed there, then sign in again:"}
	case errors.Is(err, login.ErrDenied), errors.Is(err, login.ErrInvalid):
		n.Body = []string{s.issuer.Name() + " did not let you in. You can try again:"}
	case errors.Is(err, login.ErrUnreachable):
		status = http.StatusServiceUnavailable
		n.Heading = "Signing in does not work now"
		n.Body = []string{s.issuer.Name() + " does not answer. It is not your fault. Try again in a moment:"}
		w.Header().Set("Retry-After", "5")
	default:
		return err
	}
	s.log.Warn("somebody was not signed in", "error", err)
	return s.draw(w, r, status, pages.Say(s.frame(), n))
}
