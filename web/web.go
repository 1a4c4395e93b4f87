// Package web serves the pages for browsers, such as the inbox, the history, the sessions and the log-in.
//
// Pages are HTML forms and work without scripts. No GET changes anything, except a log-in with an issuer. A
// POST requires a page of Askback and the cookie of a person. The exception is a link in a message, whose
// token is the only credential. Text of agents is displayed only through internal/text/view. It never runs,
// and loads nothing.
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
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/message/answerlink"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/reports"
)

// An Authenticator identifies the users of the pages, and returns their clients. Package engine implements
// Authenticator, [Logins] and [Engine].
type Authenticator interface {
	// Authenticate returns the principal of a secret, or [askback.ErrUnauthorized].
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the client of a principal.
	As(p askback.Principal) askback.Client
	// May returns [askback.ErrForbidden] if principals of this kind may never perform an action.
	May(p askback.Principal, action access.Action) error
}

// Logins log browsers in and out.
type Logins interface {
	// Login exchanges the secret of a log-in link for the secret of the browser from, which is valid for
	// [limits.BrowserTime]. A link works once. Afterwards, and for an unknown secret, Login returns
	// [askback.ErrUnauthorized].
	Login(ctx context.Context, secret string, from askback.Browser) (browserSecret string, err error)
	// SignIn returns a secret for the browser from of the person with an e-mail address that
	// the issuer confirmed. The secret is valid for [limits.SignInTime]. SignIn returns
	// [askback.ErrForbidden] for an unknown address, and [askback.ErrUnauthorized] if the
	// issuer is no longer configured.
	SignIn(ctx context.Context, issuer, email string, from askback.Browser) (browserSecret string, err error)
	// Logins returns the valid log-ins of a person's browsers, oldest first.
	Logins(ctx context.Context, p askback.Principal) ([]askback.Token, error)
	// EndLogin revokes a log-in of a person. If id is unknown, it returns [askback.ErrNotFound].
	EndLogin(ctx context.Context, p askback.Principal, id string) (askback.Token, error)
	// Logout revokes the secret of a browser.
	Logout(ctx context.Context, secret string) error
}

// An Engine provides the data that the pages show beyond an [askback.Client].
type Engine interface {
	// Reports returns the reports for a principal.
	Reports(p askback.Principal) reports.Reader
	// Held returns the asks with an answer that a person can still undo. They are in the order in which the
	// answers are sent.
	Held(ctx context.Context, p askback.Principal) ([]askback.Ask, error)
	// WatchHeld returns a channel that gets a value after each change of held answers, until stop
	// is called.
	WatchHeld() (changed <-chan struct{}, stop func())
	// WatchSnoozes returns a channel that gets a value after each change of the snoozes of a
	// person, until stop is called.
	WatchSnoozes(p askback.Principal) (changed <-chan struct{}, stop func())
	// ContactAt returns the contact with an address, or [askback.ErrNotFound].
	ContactAt(ctx context.Context, channel, address string) (askback.Contact, error)
}

// Options configure the pages. The zero value is ready to use.
type Options struct {
	Now  func() time.Time // nil for time.Now
	Zone *time.Location   // time zone of the server; nil for UTC
	// ZoneOf returns the time zone of a person in the directory, or nil. If ZoneOf is nil, no person has one.
	ZoneOf func(person string) *time.Location
	Log    *slog.Logger // nil for no log
	// Issuer lets people sign in with OpenID Connect. It redirects browsers to PublicURL, which is then
	// required. Nil means that there is no issuer.
	Issuer    Issuer
	PublicURL string // address of the pages, without a slash at the end
	Links     *Links // nil if links in messages do not work
	Push      Push   // nil if browsers show no notifications
	// Chats lists the channels whose chats people link to themselves by a code, such as telegram.
	Chats []string
	// Titles are the titles of channels, by name.
	Titles view.Titles
}

// New returns the handler of the pages. It handles these paths, with their subpaths:
//
//   - /, /rows, /live, /decide, /held and /undo for the inbox, and /asks/{id} for an ask;
//   - /history and its export, /sessions, /run, /grants and /deliveries;
//   - /agents, /people, /groups, /numbers, /routes, /tokens, /logins, /endpoints, /contacts and /more;
//   - /login, /logout and /assets/;
//   - /push and /open for notifications;
//   - /manifest.webmanifest, /sw.js and /offline for the app on a phone.
//
// With links, it handles /a/. With an issuer, it also handles /login/oidc and its callback. Other paths get
// an error page. The options may be nil. A reverse proxy that ends TLS must forward Host and set
// X-Forwarded-Proto.
func New(auth Authenticator, logins Logins, e Engine, o *Options) http.Handler {
	s := &site{
		auth: auth, browsers: logins, engine: e, now: time.Now, log: slog.New(slog.DiscardHandler), assets: newAssets(),
	}
	if o != nil {
		s.zone, s.zoneOf, s.issuer, s.publicURL, s.links = o.Zone, o.ZoneOf, o.Issuer, o.PublicURL, o.Links
		s.push, s.chats, s.titles = o.Push, o.Chats, o.Titles
		if o.Now != nil {
			s.now = o.Now
		}
		if o.Log != nil {
			s.log = o.Log
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", s.authenticated(s.list))
	mux.Handle("GET "+rowsPath, s.authenticated(s.rows))
	mux.Handle("GET "+livePath, s.authenticated(s.live))
	mux.Handle("GET "+pages.DecidePath, s.authenticated(s.decide))
	mux.Handle("POST "+pages.DecidePath, s.authenticated(s.decideAll))
	mux.Handle("GET /asks/{id}", s.authenticated(s.ask))
	mux.Handle("POST /asks/{id}", s.authenticated(s.settle))
	mux.Handle("POST /asks/{id}/claim", s.authenticated(s.claim))
	mux.Handle("POST /asks/{id}"+pages.SeenPath, s.authenticated(s.seen))
	mux.Handle("POST /asks/{id}/snooze", s.authenticated(s.snooze))
	mux.Handle("GET /asks/{id}/reassign", s.authenticated(s.reassignPage))
	mux.Handle("POST /asks/{id}/reassign", s.authenticated(s.reassign))
	mux.Handle("POST /asks/{id}/draft", s.authenticated(s.saveDraft))
	mux.Handle("GET "+pages.HistoryPath, s.authenticated(s.history))
	mux.Handle("GET "+pages.HistoryPath+"/export", s.authenticated(s.export))
	mux.Handle("GET "+pages.HistoryPath+"/{id}", s.authenticated(s.historyAsk))
	mux.Handle("GET "+pages.HeldPath, s.authenticated(s.held))
	mux.Handle("POST "+pages.UndoPath, s.authenticated(s.undo))
	mux.Handle("GET /grants", s.authenticated(s.grants))
	mux.Handle("POST /grants/{id}/revoke", s.authenticated(s.revoke))
	mux.Handle("GET /agents", s.authenticated(s.agents))
	mux.Handle("GET /people", s.authenticated(s.people))
	mux.Handle("GET /numbers", s.authenticated(s.numbers))
	s.handleSessions(mux)
	s.handleOperation(mux)
	s.handlePush(mux)
	mux.Handle("GET "+morePath, s.authenticated(s.more))
	mux.Handle("GET /login", s.handler(s.loginPage))
	mux.Handle("POST /login", s.handler(s.login))
	if s.issuer != nil {
		mux.Handle("GET "+signInPath, s.handler(s.signIn))
		mux.Handle("GET "+login.CallbackPath, s.handler(s.signInCallback))
	}
	s.handleLinks(mux)
	mux.Handle("POST /logout", s.handler(s.logout))
	mux.Handle("GET /assets/", s.handler(s.assets.serve))
	mux.Handle("GET "+manifestPath, s.handler(s.assets.serveManifest))
	mux.Handle("GET "+workerPath, s.handler(s.assets.serveWorker))
	mux.Handle("GET "+offlinePath, s.handler(s.offline))
	mux.Handle("/", s.handler(func(http.ResponseWriter, *http.Request) error { return askback.ErrNotFound }))
	guard := http.NewCrossOriginProtection()
	guard.AddInsecureBypassPattern("POST " + linkPattern)
	guard.SetDenyHandler(s.handler(func(http.ResponseWriter, *http.Request) error { return errCrossSite }))
	return secureHeaders(guard.Handler(mux))
}

// handleSessions adds the pages of sessions, and the page that starts a hosted agent.
func (s *site) handleSessions(mux *http.ServeMux) {
	mux.Handle("GET "+pages.SessionsPath, s.authenticated(s.sessions))
	mux.Handle("GET "+pages.SessionsPath+"/{id}", s.authenticated(s.session))
	mux.Handle("GET "+pages.SessionsPath+"/{id}/live", s.authenticated(s.liveSession))
	mux.Handle("POST "+pages.SessionsPath+"/{id}/message", s.authenticated(s.sendMessage))
	mux.Handle("POST "+pages.SessionsPath+"/{id}/resume", s.authenticated(s.resume))
	mux.Handle("POST "+pages.SessionsPath+"/{id}/cancel", s.authenticated(s.cancelRun))
	mux.Handle("GET "+pages.RunPath, s.authenticated(s.startPage))
	mux.Handle("POST "+pages.RunPath, s.authenticated(s.startRun))
}

// handleOperation adds the pages of tokens, deliveries, endpoints, contacts, people, groups, routes and
// log-ins.
func (s *site) handleOperation(mux *http.ServeMux) {
	mux.Handle("GET /tokens", s.authenticated(s.tokens))
	mux.Handle("POST /tokens", s.authenticated(s.createToken))
	mux.Handle("POST /tokens/{id}/revoke", s.authenticated(s.revokeToken))
	mux.Handle("GET "+pages.DeliveriesPath, s.authenticated(s.deliveries))
	mux.Handle("POST "+pages.DeliveriesPath+"/{id}/retry", s.authenticated(s.retryDelivery))
	mux.Handle("GET "+pages.EndpointsPath, s.authenticated(s.endpoints))
	mux.Handle("POST "+pages.EndpointsPath, s.authenticated(s.changeEndpoint))
	mux.Handle("GET "+pages.ContactsPath, s.authenticated(s.contacts))
	mux.Handle("POST "+pages.ContactsPath+"/code", s.authenticated(s.contactCode))
	mux.Handle("POST "+pages.ContactsPath+"/{id}/remove", s.authenticated(s.removeContact))
	mux.Handle("GET "+pages.PeoplePath+"/edit", s.authenticated(s.editPerson))
	mux.Handle("POST "+pages.PeoplePath, s.authenticated(s.changePerson))
	mux.Handle("GET "+pages.GroupsPath+"/edit", s.authenticated(s.editGroup))
	mux.Handle("POST "+pages.GroupsPath, s.authenticated(s.changeGroup))
	mux.Handle("GET "+pages.RoutesPath, s.authenticated(s.routes))
	mux.Handle("GET "+pages.RoutesPath+"/edit", s.authenticated(s.editRoute))
	mux.Handle("POST "+pages.RoutesPath, s.authenticated(s.changeRoutes))
	mux.Handle("GET /logins", s.authenticated(s.logins))
	mux.Handle("POST /logins/{id}/end", s.authenticated(s.endLogins))
}

// LoginPath returns the path of a log-in link for a secret of [askback.Tokens].
func LoginPath(secret string) string {
	return "/login?" + url.Values{"secret": {secret}}.Encode()
}

type site struct {
	auth      Authenticator
	browsers  Logins
	engine    Engine
	now       func() time.Time
	zone      *time.Location                     // of the server
	zoneOf    func(person string) *time.Location // see [Options]
	zones     zones
	log       *slog.Logger
	assets    assets
	issuer    Issuer
	publicURL string
	links     *Links // nil if links do not work
	push      Push   // nil if browsers show no notifications
	chats     []string
	titles    view.Titles

	warnProxy sync.Once // logs that a proxy does not set X-Forwarded-Proto
}

// policy is the Content-Security-Policy. A page loads Askback's own files and sends its
// forms to Askback, and nothing else (T6, T7, T12).
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types askback"

// secureHeaders sets the security headers of all replies. Because of the referrer policy, browsers send
// "Origin: null" with Askback's own forms. The header Sec-Fetch-Site identifies these forms.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// The value is not no-store, because the back button must restore typed text.
		h.Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r)
	})
}

// handler returns a handler that calls f and renders an error of f as a page.
func (s *site) handler(f func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			s.renderError(w, r, err)
		}
	})
}

// A request is an HTTP request with a valid cookie that does not belong to an agent.
type request struct {
	*http.Request
	principal askback.Principal
	client    askback.Client
	frame     pages.Frame
}

// authenticated returns a handler that calls f for requests with a valid cookie. It rejects
// agents, even if their token may read asks over HTTP.
func (s *site) authenticated(f func(http.ResponseWriter, request) error) http.Handler {
	return s.handler(func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.authenticate(r)
		if err != nil {
			return err
		}
		login.ExtendBody(w, r, login.BodyTime)
		frame := s.frameFor(r, who)
		frame.Page = r.URL.Path
		one := request{r, who, s.auth.As(who), frame}
		one.frame.Held = s.heldBar(one)
		return f(w, one)
	})
}

// reauthenticate returns an error if the person was logged out while the form was read. Reading a form may
// take a long time.
func (s *site) reauthenticate(r request) error {
	_, err := s.authenticate(r.Request)
	return err
}

func (s *site) authenticate(r *http.Request) (askback.Principal, error) {
	if !login.Possible(r) {
		return askback.Principal{}, errInsecure
	}
	secret := login.Secret(r)
	if secret == "" {
		return askback.Principal{}, askback.ErrUnauthorized
	}
	who, err := s.auth.Authenticate(r.Context(), secret)
	if err == nil && who.Kind == askback.Agent {
		err = askback.ErrForbidden
	}
	return who, err
}

// frame returns the frame of a page for a person, with the time zone of the page. If the person is not known, the
// name is "".
func (s *site) frame(r *http.Request, person string) pages.Frame {
	f := pages.Frame{
		Style: s.assets.style, Script: s.assets.script, Icon: s.assets.paths["icon.svg"],
		TouchIcon: s.assets.touchIcon, CountedIcon: s.assets.countedIcon, Now: s.now(),
	}
	s.setZone(&f, r, person)
	return f
}

// frameOf returns the frame with the name of the person, if a person is logged in.
func (s *site) frameOf(r *http.Request) pages.Frame {
	if who, err := s.authenticate(r); err == nil {
		return s.frameFor(r, who)
	}
	return s.frame(r, "")
}

// frameFor returns the frame with the name of a person, and the links that this person may open.
func (s *site) frameFor(r *http.Request, who askback.Principal) pages.Frame {
	frame := s.frame(r, who.Name)
	frame.Name, frame.Links = safetext.Line(who.Name), s.linksFor(r.Context(), who)
	return frame
}

// render renders a page completely before it sends any part of the page. If the rendering fails, it returns
// the error and sends nothing.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if _, err := w.Write(b.Bytes()); err != nil {
		s.log.Debug("client disconnected while a page was sent", "path", answerlink.Redact(r.URL.Path), "error", err)
	}
	return nil
}

// renderError sends the page of an error. It logs errors of the server, which the page must not contain. If
// the browser is not logged in, it sets a cookie with the page to return to.
func (s *site) renderError(w http.ResponseWriter, r *http.Request, err error) {
	f := failureOf(err)
	switch f.status {
	case http.StatusForbidden:
		if errors.Is(err, errProxy) {
			s.warnProxy.Do(func() {
				s.log.Warn("the reverse proxy does not set X-Forwarded-Proto, so no one can log in through it", "host",
					r.Host)
			})
		}
	case http.StatusInternalServerError:
		s.log.Error("page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	case http.StatusServiceUnavailable:
		s.log.Warn("page failed for now", "method", r.Method, "path", r.URL.Path, "error", err)
		w.Header().Set("Retry-After", "1")
	}
	if f.status < http.StatusInternalServerError {
		login.RefuseBody(w, r)
	}
	frame := s.frame(r, "")
	switch {
	case errors.Is(err, askback.ErrUnauthorized):
		f.Notice = s.loginNotice(f.Notice, r)
		if to := returnPath(r.URL.Path); to != "/" {
			login.SetReturnPath(w, r, to, limits.LoginTime)
		}
	case f.status < http.StatusInternalServerError:
		frame = s.frameOf(r)
	}
	if err := s.render(w, r, f.status, pages.Message(frame, f.Notice)); err != nil {
		s.log.Error("rendering the error page failed", "error", err)
		http.Error(w, http.StatusText(f.status), f.status)
	}
}

var (
	errInsecure  = errors.New("a cookie would be sent unencrypted")
	errCrossSite = errors.New("the form was sent from another site")
	errForm      = errors.New("the form is malformed")
	errTooLarge  = errors.New("the form is too large")
)
