package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/web/pages"
)

// An Issuer says who a person is, by OpenID Connect.
type Issuer interface {
	// Address is the issuer's.
	Address() string
	// Name is what people know it by.
	Name() string
	// Begin begins to find out, and returns where to send the browser. To is the path
	// that the person wanted to see. With choose they can choose who they are.
	Begin(w http.ResponseWriter, r *http.Request, to string, choose bool) (address string, err error)
	// Finish ends it when the browser is sent back, with an e-mail address that is the
	// person's own.
	Finish(w http.ResponseWriter, r *http.Request) (email, to string, err error)
}

// signInPath begins it. It is a link and no form: a form may lead nowhere but to our
// own pages.
const signInPath = "/login/oidc"

// signInAt is where to log in to see a path. It names the host to which the issuer
// sends people back, because the cookie of the way there belongs to a host.
func (s *site) signInAt(path string, choose bool) string {
	q := url.Values{"to": {path}}
	if choose {
		q.Set("choose", "1")
	}
	return s.home + signInPath + "?" + q.Encode()
}

// offer completes the page for browsers that are not logged in: what was not sent, how to
// log in, and that the log-in leads back.
func (s *site) offer(n pages.Notice, r *http.Request) pages.Notice {
	n.Body = []string{"This browser is not logged in."}
	if login.Secret(r) != "" {
		n.Body = []string{"The log-in of this browser has ended."}
	}
	if r.Method == http.MethodPost {
		n.Body = append(n.Body, "Nothing was sent. Log in in another tab, then go back here in your browser: what you typed is still there.")
	}
	terminal := "run this in a terminal on the machine where Askback runs, and open the link that it prints:"
	if readable(r.URL.Path) != "/" {
		terminal = "run this in a terminal on the machine where Askback runs, and open the link that it prints. It leads back to this page:"
	}
	if s.issuer == nil {
		n.Body = append(n.Body, "To log in, "+terminal)
		return n
	}
	n.SignIn = pages.SignIn{Name: s.issuer.Name(), At: s.signInAt(readable(r.URL.Path), false), Else: "Or " + terminal}
	return n
}

// readable returns the page with the form that was sent to a path, and the list for
// other paths.
func readable(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) > 2 && parts[1] == "asks" && isID(parts[2]):
		return askback.PagePath(parts[2])
	case len(parts) > 1 && parts[1] == "grants":
		return "/grants"
	}
	return "/"
}

// isID reports whether s has only the characters that ids have.
func isID(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// errProxy is a proxy that hides how people come.
var errProxy = errors.New("a log-in came over plain http, and the pages are at https")

// mayLogIn says whether a browser that came like this can be logged in at the issuer.
// It ends at the public address: where that is https, the cookie is one of https.
func (s *site) mayLogIn(r *http.Request) error {
	switch {
	case strings.HasPrefix(s.home, "https:") && !login.Secure(r):
		return errProxy
	case !login.Possible(r):
		return errClear
	}
	return nil
}

// signIn sends a browser to the issuer, if it was a person who wanted that: a page
// elsewhere could do it too, and make somebody somebody else.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := s.mayLogIn(r); err != nil {
		return err
	}
	to, choose := r.URL.Query().Get("to"), r.URL.Query().Has("choose")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return s.draw(w, r, http.StatusOK, pages.Say(s.frame(), pages.Notice{
			Heading: "Log in to Askback",
			Body:    []string{"Another page led you here. Did you want to log in? Otherwise close this page: nothing has happened."},
			SignIn:  pages.SignIn{Name: s.issuer.Name(), At: s.signInAt(to, choose)},
		}))
	}
	address, err := s.issuer.Begin(w, r, to, choose)
	if err != nil {
		return s.notSignedIn(w, r, to, err)
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// signedIn logs in a browser that comes back from the issuer, in place of whoever was
// logged in there.
func (s *site) signedIn(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := s.mayLogIn(r); err != nil {
		return err
	}
	email, to, err := s.issuer.Finish(w, r)
	if err != nil {
		return s.notSignedIn(w, r, to, err)
	}
	secret, err := s.gate.SignIn(r.Context(), s.issuer.Address(), email)
	switch {
	case errors.Is(err, askback.ErrForbidden):
		return s.notSignedIn(w, r, to, errStranger{email})
	case errors.Is(err, askback.ErrUnauthorized):
		return s.notSignedIn(w, r, to, errChanged)
	case err != nil:
		return err
	}
	s.log.Info("somebody logged in", "email", email)
	if old := login.Secret(r); old != "" {
		if err := s.gate.Logout(r.Context(), old); err != nil {
			s.log.Warn("the log-in before could not be ended", "error", err)
		}
	}
	login.SetCookie(w, r, secret, askback.SignInTime)
	login.TakeReturnPath(w, r) // the issuer's answer says where to go
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// errChanged is an issuer that the settings do not have any more.
var errChanged = errors.New("login.oidc was taken out or changed; start the server again")

// errStranger is somebody whom the issuer knows, and we do not.
type errStranger struct{ email string }

func (e errStranger) Error() string { return e.email + " is none of those who answer here" }

// notSignedIn says why somebody is not let in. What the issuer said is for the log:
// a stranger may have written it.
func (s *site) notSignedIn(w http.ResponseWriter, r *http.Request, to string, err error) error {
	n, status := pages.Notice{Heading: "Not logged in", SignIn: pages.SignIn{Name: s.issuer.Name(), At: s.signInAt(to, false)}}, http.StatusForbidden
	var stranger errStranger
	switch {
	case errors.As(err, &stranger):
		n.Heading = "Not one of those who answer here"
		n.Body = []string{
			s.issuer.Name() + " says that you are " + stranger.email + ". Nobody with this address answers here.",
			"If that is a mistake, whoever runs this server can add the address. Or choose another account:",
		}
		n.SignIn.At = s.signInAt(to, true)
	case errors.Is(err, login.ErrNotPending):
		n.Body = []string{"This log-in did not begin in this browser, or it took too long. Nothing has changed. Begin again:"}
		n.SignIn.At = s.signInAt("/", false)
	case errors.Is(err, login.ErrNoEmail):
		n.Body = []string{s.issuer.Name() + " does not tell whether you have an e-mail address that is yours. Nobody can log in like that: tell whoever runs this server."}
	case errors.Is(err, login.ErrClient), errors.Is(err, errChanged):
		status = http.StatusServiceUnavailable
		n.Heading = "Logging in does not work now"
		n.Body = []string{"This server has to be set up anew before anybody can log in with " + s.issuer.Name() + ". Tell whoever runs it."}
		n.SignIn = pages.SignIn{}
		n.Command = "askback login"
	case errors.Is(err, login.ErrUnverified):
		n.Body = []string{s.issuer.Name() + " has not confirmed that your e-mail address is yours. Have it confirmed there, or choose another account:"}
		n.SignIn.At = s.signInAt(to, true)
	case errors.Is(err, login.ErrDenied), errors.Is(err, login.ErrInvalid):
		n.Body = []string{s.issuer.Name() + " did not let you in. You can try again:"}
	case errors.Is(err, login.ErrUnreachable):
		status = http.StatusServiceUnavailable
		n.Heading = "Logging in does not work now"
		n.Body = []string{s.issuer.Name() + " does not answer as it should. It is not your fault. Try again in a moment:"}
		w.Header().Set("Retry-After", "5")
	case errors.Is(err, login.ErrTooMany):
		status = http.StatusServiceUnavailable
		n.Heading = "Try again in a moment"
		n.Body = []string{"Too many people log in just now:"}
		w.Header().Set("Retry-After", "1")
	default:
		return err
	}
	if errors.Is(err, login.ErrNotPending) || errors.Is(err, login.ErrTooMany) {
		s.log.Debug("somebody was not logged in", "error", err)
	} else {
		s.log.Warn("somebody was not logged in", "error", err)
	}
	return s.draw(w, r, status, pages.Say(s.frame(), n))
}
