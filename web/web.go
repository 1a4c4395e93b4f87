// Package web is the door for browsers: a page per ask, a list of what waits, and the
// log-in.
//
// Pages are HTML forms and work without scripts. No GET changes anything; a POST is
// taken from our own pages only, and an answer from a person's cookie only. What an
// agent wrote is drawn through internal/view alone, never runs and loads nothing.
package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/web/pages"
)

// A Gate knows whose secret it is and gives them their seat. An engine is one.
type Gate interface {
	// Authenticate returns whose secret this is, or [askback.ErrUnauthorized].
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the seat of a principal.
	As(p askback.Principal) askback.Client
	// Login spends the secret of a log-in link and returns that of a browser, or
	// [askback.ErrUnauthorized]. The browser's is good for [askback.BrowserTime].
	Login(ctx context.Context, secret string) (browserSecret string, err error)
	// SignIn logs in the browser of the person who has an e-mail address, for which
	// the issuer vouches. Nobody has it: [askback.ErrForbidden]; the issuer is not
	// trusted any more: [askback.ErrUnauthorized]. The secret is good for
	// [askback.SignInTime].
	SignIn(ctx context.Context, issuer, email string) (browserSecret string, err error)
	// Logout ends the secret of a browser.
	Logout(ctx context.Context, secret string) error
}

// Options are what the pages can be given; the zero value is good.
type Options struct {
	Now  func() time.Time // nil: time.Now
	Zone *time.Location   // of the times on the pages; nil: UTC
	Log  *slog.Logger     // for what a person is not told; nil: nothing is logged
	// Issuer says who people are, so that they can sign in. It needs the PublicURL,
	// where it sends them back to. Nil: there is none.
	Issuer    Issuer
	PublicURL string // where people reach the pages, without a slash at the end
}

// New returns the pages: /, /asks/{id} and its claim, /grants and their revocation, /login,
// /logout and /assets/; with an issuer also /login/oidc and its callback. Every other path is a page that says so. Behind a proxy that ends TLS, it must pass on Host and set
// X-Forwarded-Proto.
func New(gate Gate, o *Options) http.Handler {
	s := &site{gate: gate, now: time.Now, log: slog.New(slog.DiscardHandler), assets: newAssets()}
	if o != nil {
		s.zone, s.issuer, s.home = o.Zone, o.Issuer, o.PublicURL
		if o.Now != nil {
			s.now = o.Now
		}
		if o.Log != nil {
			s.log = o.Log
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", s.person(s.list))
	mux.Handle("GET /asks/{id}", s.person(s.ask))
	mux.Handle("POST /asks/{id}", s.person(s.settle))
	mux.Handle("POST /asks/{id}/claim", s.person(s.claim))
	mux.Handle("GET /grants", s.person(s.grants))
	mux.Handle("POST /grants/{id}/revoke", s.person(s.revoke))
	mux.Handle("GET /login", s.handler(s.loginPage))
	mux.Handle("POST /login", s.handler(s.login))
	if s.issuer != nil {
		mux.Handle("GET "+signInPath, s.handler(s.signIn))
		mux.Handle("GET "+login.CallbackPath, s.handler(s.signedIn))
	}
	mux.Handle("POST /logout", s.handler(s.logout))
	mux.Handle("GET /assets/", s.handler(s.assets.serve))
	mux.Handle("/", s.handler(func(http.ResponseWriter, *http.Request) error { return askback.ErrNotFound }))
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(s.handler(func(http.ResponseWriter, *http.Request) error { return errCrossSite }))
	return harden(guard.Handler(mux))
}

// LoginPath is where a log-in link leads, for the secret of [askback.Tokens].
func LoginPath(secret string) string {
	return "/login?" + url.Values{"secret": {secret}}.Encode()
}

type site struct {
	gate   Gate
	now    func() time.Time
	zone   *time.Location
	log    *slog.Logger
	assets assets
	issuer Issuer
	home   string

	hidden sync.Once // says that a proxy hides https
}

// policy lets a page load our own files and send its forms to us, and nothing else (T6,
// T7, T12).
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// harden sets what browsers must know before they read a page. Without a referrer they
// send "Origin: null" with our own forms too; Sec-Fetch-Site tells them from others.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Not no-store: going back must find what was typed.
		h.Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r)
	})
}

// handler serves f. What f returns becomes a page.
func (s *site) handler(f func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// A visit is a request of a person we know.
type visit struct {
	*http.Request
	who   askback.Principal
	seat  askback.Client
	frame pages.Frame
}

// person serves f to people who are logged in. An agent is nobody here, whatever its
// token could read elsewhere.
func (s *site) person(f func(http.ResponseWriter, visit) error) http.Handler {
	return s.handler(func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.visitor(r)
		if err != nil {
			return err
		}
		frame := s.frame()
		frame.Name = safetext.Line(who.Name)
		return f(w, visit{r, who, s.gate.As(who), frame})
	})
}

// still says whether a visitor is logged in when the form was read: it may have taken
// its time.
func (s *site) still(v visit) error {
	_, err := s.visitor(v.Request)
	return err
}

func (s *site) visitor(r *http.Request) (askback.Principal, error) {
	if !login.Possible(r) {
		return askback.Principal{}, errClear
	}
	secret := login.Secret(r)
	if secret == "" {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	who, err := s.gate.Authenticate(r.Context(), secret)
	if err == nil && who.Kind == askback.Agent {
		err = askback.ErrForbidden
	}
	return who, err
}

func (s *site) frame() pages.Frame {
	return pages.Frame{
		Style: s.assets.path("page.css"), Script: s.assets.path("page.js"), Icon: s.assets.path("icon.svg"),
		Now: s.now(), Zone: s.zone,
	}
}

// frameOf returns the frame with the name of the visitor, if one is logged in.
func (s *site) frameOf(r *http.Request) pages.Frame {
	frame := s.frame()
	if who, err := s.visitor(r); err == nil {
		frame.Name = safetext.Line(who.Name)
	}
	return frame
}

// draw sends a page whole or not at all.
func (s *site) draw(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(b.Bytes()); err != nil {
		s.log.Debug("a page was not read to its end", "path", r.URL.Path, "error", err)
	}
	return nil
}

// fail tells a person what went wrong in our words, and the log the rest.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := failureOf(err)
	switch f.status {
	case http.StatusForbidden:
		if errors.Is(err, errProxy) {
			s.hidden.Do(func() {
				s.log.Warn("a proxy does not set X-Forwarded-Proto: nobody can log in by it", "host", r.Host)
			})
		}
	case http.StatusInternalServerError:
		s.log.Error("a page could not be made", "method", r.Method, "path", r.URL.Path, "error", err)
	case http.StatusServiceUnavailable:
		s.log.Warn("a page could not be made now", "method", r.Method, "path", r.URL.Path, "error", err)
		w.Header().Set("Retry-After", "1")
	}
	frame := s.frame()
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		f.Notice = s.offer(f.Notice, r)
		if to := readable(r.URL.Path); to != "/" {
			login.SetReturnPath(w, r, to, askback.LoginTime)
		}
	case f.status < http.StatusInternalServerError:
		frame = s.frameOf(r)
	}
	if err := s.draw(w, r, f.status, pages.Say(frame, f.Notice)); err != nil {
		s.log.Error("the page of an error could not be made", "error", err)
		http.Error(w, http.StatusText(f.status), f.status)
	}
}

var (
	errClear     = errors.New("a cookie would travel in the clear")
	errCrossSite = errors.New("a form of another site")
	errForm      = errors.New("no form of ours")
	errTooLarge  = errors.New("the form is too large")
)
