package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
)

// An Issuer authenticates people with OpenID Connect.
type Issuer interface {
	// Address returns the address of the issuer.
	Address() string
	// Name returns the name of the issuer for people.
	Name() string
	// Begin starts a log-in, and returns the address to redirect the browser to. After the log-in, the
	// browser returns to the path to. If choose is true, the issuer lets the person choose an account.
	Begin(w http.ResponseWriter, r *http.Request, to string, choose bool) (address string, err error)
	// Finish completes a log-in when the issuer redirects the browser back. It returns
	// the person's verified e-mail address, and the path to return to.
	Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error)
}

// signInPath is the path that starts a log-in with the issuer. Pages have a link to this path instead of a
// form, because the Content-Security-Policy forbids forms that lead to the issuer.
const signInPath = "/login/oidc"

// signInURL returns the address that starts a log-in and returns to path. If choose is true, the person can
// choose an account. The address is absolute, because the cookie of the log-in must belong to the host that
// the issuer returns to.
func (s *site) signInURL(path string, choose bool) string {
	q := url.Values{"to": {path}}
	if choose {
		q.Set("choose", "1")
	}
	return s.publicURL + signInPath + "?" + q.Encode()
}

// loginNotice completes the page for a browser that is not logged in. The page explains how to log in. If a
// form was sent, the page states that it was not saved.
func (s *site) loginNotice(n pages.Notice, r *http.Request) pages.Notice {
	n.Body = []string{"This browser is not logged in."}
	if login.Secret(r) != "" {
		n.Body = []string{"Your log-in has expired."}
	}
	if r.Method == http.MethodPost {
		n.Body = append(n.Body, "Nothing was sent. Log in in another tab, then go back here in your browser: what "+
			"you typed is still there.")
	}
	terminal := "run this in a terminal on the machine where Askback runs, and open the link that it prints:"
	if returnPath(r.URL.Path) != "/" {
		terminal = "run this in a terminal on the machine where Askback runs, and open the link that it prints. You " +
			"will return to this page:"
	}
	if s.issuer == nil {
		n.Body = append(n.Body, "To log in, "+terminal)
		return n
	}
	n.SignIn = pages.SignIn{
		Name: s.issuer.Name(), URL: s.signInURL(returnPath(r.URL.Path), false), Alternative: "Or " + terminal,
	}
	return n
}

// returnPath returns the path of the page to show after a log-in, for the path that was requested. For an
// unknown path, it returns the path of the inbox, so no address outside Askback is possible.
func returnPath(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) > 2 && parts[1] == "asks" && isID(parts[2]):
		return askback.PagePath(parts[2])
	case len(parts) > 1 && isPage("/"+parts[1]):
		return "/" + parts[1]
	}
	return "/"
}

// isID reports whether s consists of characters that are allowed in ids.
func isID(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// errProxy is the error of a request over plain http to a server whose public address is https.
var errProxy = errors.New("a log-in came over plain http, and the pages are at https")

// checkConnection returns an error if the browser cannot keep the cookie of a log-in. It also returns an
// error for plain http if the public address is https, because the issuer redirects to that address.
func (s *site) checkConnection(r *http.Request) error {
	switch {
	case strings.HasPrefix(s.publicURL, "https:") && !login.Secure(r):
		return errProxy
	case !login.Possible(r):
		return errInsecure
	}
	return nil
}

// signIn redirects the browser to the issuer. A request from another site requires a click first, because it
// could log the person in to an account of an attacker.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := s.checkConnection(r); err != nil {
		return err
	}
	to, choose := r.URL.Query().Get("to"), r.URL.Query().Has("choose")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return s.render(w, r, http.StatusOK, pages.Message(s.frame(r, ""), pages.Notice{
			Heading: "Log in to Askback",
			Body: []string{"A link on another site led you here. Log in only if you want to. Otherwise close " +
				"this page: nothing has changed."},
			SignIn: pages.SignIn{Name: s.issuer.Name(), URL: s.signInURL(to, choose)},
		}))
	}
	address, err := s.issuer.Begin(w, r, to, choose)
	if err != nil {
		return s.renderSignInError(w, r, to, err)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// signInCallback logs in a browser that the issuer redirected back. It ends the earlier log-in of the
// browser.
func (s *site) signInCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := s.checkConnection(r); err != nil {
		return err
	}
	email, to, err := s.issuer.Finish(w, r)
	if err != nil {
		return s.renderSignInError(w, r, to, err)
	}
	secret, err := s.browsers.SignIn(r.Context(), s.issuer.Address(), email, login.BrowserOf(r))
	switch {
	case errors.Is(err, askback.ErrForbidden):
		return s.renderSignInError(w, r, to, unknownPersonError{email})
	case errors.Is(err, askback.ErrUnauthorized):
		return s.renderSignInError(w, r, to, errIssuerChanged)
	case err != nil:
		return err
	}
	s.log.Info("person logged in", "email", email)
	if old := login.Secret(r); old != "" {
		if err := s.browsers.Logout(r.Context(), old); err != nil {
			s.log.Warn("ending the earlier log-in failed", "error", err)
		}
	}
	login.SetCookie(w, r, secret, limits.SignInTime)
	login.TakeReturnPath(w, r) // only deletes the cookie
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// errIssuerChanged is the error of a log-in with an issuer that is no longer in the settings.
var errIssuerChanged = errors.New("login.oidc was removed or changed; restart the server")

// An unknownPersonError is the error for an e-mail address that no person in the settings has.
type unknownPersonError struct{ email string }

func (e unknownPersonError) Error() string {
	return e.email + " is not the address of a person known here"
}

// renderSignInError shows the reason why a log-in failed. It returns err if err is not about the log-in.
// Error texts of the issuer are only logged, because an attacker may have written them.
func (s *site) renderSignInError(w http.ResponseWriter, r *http.Request, to string, err error) error {
	n, status := pages.Notice{
		Heading: "Not logged in", SignIn: pages.SignIn{Name: s.issuer.Name(), URL: s.signInURL(to, false)},
	}, http.StatusForbidden
	var unknown unknownPersonError
	switch {
	case errors.As(err, &unknown):
		n.Heading = "This address is not registered"
		n.Body = []string{
			s.issuer.Name() + " confirmed that you are " + unknown.email + ". This address is not registered here.",
			"The person who runs this server can add it. Or choose another account:",
		}
		n.SignIn.URL = s.signInURL(to, true)
	case errors.Is(err, login.ErrNotPending):
		n.Body = []string{
			"This log-in was started in another browser, or it took too long. Nothing has changed. Start again:",
		}
		n.SignIn.URL = s.signInURL("/", false)
	case errors.Is(err, login.ErrNoEmail):
		n.Body = []string{s.issuer.Name() + " does not report whether your e-mail address is confirmed, so no one " +
			"can log in. Please tell the person who runs this server."}
	case errors.Is(err, login.ErrClient), errors.Is(err, errIssuerChanged):
		status = http.StatusServiceUnavailable
		n.Heading = "Log-in is not available"
		n.Body = []string{
			"The settings of this server for " + s.issuer.Name() + " do not work. Please tell the person who runs it.",
			"To log in without " + s.issuer.Name() + ", run this in a terminal on the machine where Askback runs:",
		}
		n.SignIn = pages.SignIn{}
		n.Command = "askback login"
	case errors.Is(err, login.ErrUnverified):
		n.Body = []string{
			s.issuer.Name() + " has not confirmed your e-mail address. Confirm it there, or choose another account:",
		}
		n.SignIn.URL = s.signInURL(to, true)
	case errors.Is(err, login.ErrDenied), errors.Is(err, login.ErrInvalid):
		n.Body = []string{s.issuer.Name() + " rejected the log-in. You can try again:"}
	case errors.Is(err, login.ErrUnreachable):
		status = http.StatusServiceUnavailable
		n.Heading = "Log-in is not available"
		n.Body = []string{s.issuer.Name() + " cannot be reached or sent an invalid reply. Try again in a moment:"}
		w.Header().Set("Retry-After", "5")
	case errors.Is(err, login.ErrTooMany):
		status = http.StatusServiceUnavailable
		n.Heading = "Try again in a moment"
		n.Body = []string{"Too many people are logging in right now:"}
		w.Header().Set("Retry-After", "1")
	default:
		return err
	}
	if errors.Is(err, login.ErrNotPending) || errors.Is(err, login.ErrTooMany) {
		s.log.Debug("log-in failed", "error", err)
	} else {
		s.log.Warn("log-in failed", "error", err)
	}
	return s.render(w, r, status, pages.Message(s.frame(r, ""), n))
}
