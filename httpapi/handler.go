// Package httpapi implements both sides of the HTTP API: [Handler] serves it, and
// [Client] is an [askback.Client] that calls it.
//
// The table routes has every route with the action that a client needs permission for. A
// body is read completely and parsed strictly first, so a rejected body changes nothing.
// Requests are authenticated by the Authorization header or by the cookie of a browser.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/server/login"
)

// An Authenticator authenticates requests and checks the permissions of principals.
type Authenticator interface {
	// Authenticate returns the principal of a secret, or [askback.ErrUnauthorized].
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the client of a principal.
	As(askback.Principal) askback.Client
	// May returns [askback.ErrForbidden] if principals of this kind may never do the action. The client also
	// checks the permission for each ask.
	May(askback.Principal, access.Action) error
}

// Options configure a [Handler]. The zero value is usable.
type Options struct {
	// PublicURL is the URL at which people reach this server, without a slash at the end. If it is "",
	// replies have no links to pages.
	PublicURL string
	Version   string // the version in the OpenAPI document
	// Proof returns the proof for a nonce. A client uses the proof to recognize this server before it sends a
	// token (docs/wire.md §11). If Proof is nil, replies have no proof.
	Proof func(nonce string) string
	// Yield makes this process release the local database to another process. If Yield is nil, POST /yield
	// has status 409.
	Yield func() error
	// Ready returns the state of this server. The error is the reason why the server accepts no calls, such
	// as [askback.ErrDiskFull]. If Ready is nil, the server is always ready.
	Ready func(context.Context) (Readiness, error)
	// Metrics replies with the metrics of this server. If Metrics is nil, GET /metrics has status 404.
	Metrics http.Handler
	// Hooks verifies the signatures of webhooks that start agents. If Hooks is nil, such a webhook needs a
	// token.
	Hooks HookVerifier
	// MaxStreams is the maximum number of open event streams of a principal; 0 means no limit.
	MaxStreams int
	Log        *slog.Logger // nil disables logging
}

// A Handler serves the routes of this package. Make one with [NewHandler].
type Handler struct {
	auth       Authenticator
	options    Options
	log        *slog.Logger
	mux        *http.ServeMux
	cross      *http.CrossOriginProtection
	streams    streams
	frames     frames
	hooks      hook.Runner   // the hook calls in progress
	large      chan struct{} // semaphore: one entry for each large event being parsed
	unverified unverified
	// description returns the OpenAPI document and its page. The first call generates both.
	description func() (description, error)
	// Copies of the constants. Tests change these copies.
	heartbeatTime, frameTime, slowBodyTime, bodyTime, unverifiedTime time.Duration
	// stopping is cancelled by Stop.
	stopping context.Context
	stop     context.CancelFunc
}

// NewHandler returns a handler that authenticates requests with a. If o is nil, the zero Options apply.
// NewHandler starts no goroutine.
func NewHandler(a Authenticator, o *Options) *Handler {
	if o == nil {
		o = &Options{}
	}
	h := &Handler{auth: a, options: *o, log: o.Log, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection()}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.heartbeatTime, h.frameTime, h.slowBodyTime, h.bodyTime, h.unverifiedTime = heartbeatTime, frameTime,
		slowBodyTime, login.BodyTime, unverifiedTime
	h.large = make(chan struct{}, maxLarge)
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.description = sync.OnceValues(func() (description, error) { return describeWire(h.options) })
	h.register()
	return h
}

// Stop ends event streams and waits. A request that waits for an ask gets the ask in its current state. A
// waiting hook gets an error. Later requests that need authentication get status 503. Other requests in
// progress continue.
func (h *Handler) Stop() { h.stop() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["Cache-Control"], header["X-Content-Type-Options"] = noStore, noSniff
	h.mux.ServeHTTP(w, r)
}

// A call is the state of one request.
type call struct {
	h    *Handler
	w    http.ResponseWriter
	r    *http.Request
	body []byte

	wasRead   bool // the body was read
	principal askback.Principal
	client    askback.Client // the client for principal
	secret    string         // the credential of the request
}

// wrap returns the handler of a route. The handler authenticates the request, reads its body,
// and calls the function of the route. It writes an error as a problem.
func (h *Handler) wrap(rt *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{h: h, w: w, r: r}
		err := c.prepare(rt)
		if err == nil {
			err = rt.serve(c)
		}
		if err != nil {
			c.fail(rt, err)
		}
	})
}

// fail replies with the problem for err, and logs internal errors.
func (c *call) fail(rt *route, err error) {
	log := c.h.log
	p := problemOf(err)
	if c.r.Context().Err() != nil {
		// The client is probably gone. A problem is written anyway: a body that arrives too slowly
		// also ends the context, and without a reply the status would be 200.
		log.Debug("the client disconnected", "method", rt.method, "path", rt.path)
		if p.Status == http.StatusInternalServerError {
			p = problemOf(askback.ErrBusy)
		}
	}
	if p.Status == http.StatusInternalServerError {
		log.Error("a request failed", "method", rt.method, "path", rt.path, "error", err)
	}
	if !c.wasRead {
		login.RefuseBody(c.w, c.r)
	}
	c.h.writeProblem(c.w, p)
}

// prepare checks the query. Unless rt is open, it also checks the origin, authenticates the client and reads
// the body. If the body arrives slowly, it authenticates the client again. It returns [askback.ErrStopping]
// after Stop.
func (c *call) prepare(rt *route) error {
	if err := c.checkQuery(rt.query); err != nil || rt.open {
		return err
	}
	if c.h.stopping.Err() != nil {
		c.w.Header().Set("Connection", "close")
		return askback.ErrStopping
	}
	if err := c.h.cross.Check(c.r); err != nil {
		return errCrossOrigin
	}
	if rt.signed && c.r.Header.Get("Authorization") == "" {
		return c.authenticateHook(rt)
	}
	if err := c.authenticate(rt); err != nil {
		return err
	}
	begun := time.Now()
	login.ExtendBody(c.w, c.r, c.h.bodyTime)
	if err := c.readBody(rt.limit); err != nil || time.Since(begun) < c.h.slowBodyTime {
		return err
	}
	return c.reauthenticate(c.r.Context())
}

var errCrossOrigin error = problem{
	Status: http.StatusForbidden, Type: "cross-origin", Detail: "a page of another origin must not send this request",
}

// slowBodyTime is how long a body may take to arrive before the client is authenticated
// again, because its token may have been revoked in the meantime.
const slowBodyTime = 100 * time.Millisecond

// authenticate sets the principal, the client and the secret of the call. It returns an error
// if the secret is not valid or cannot be checked, or may not be used for the route.
func (c *call) authenticate(rt *route) error {
	secret, browser := credential(c.r)
	p, err := c.h.auth.Authenticate(c.r.Context(), secret)
	if err != nil {
		return err
	}
	err = c.h.auth.May(p, rt.action)
	if err != nil && rt.or != "" {
		err = c.h.auth.May(p, rt.or)
	}
	if err != nil {
		return err
	}
	// Browsers send a cookie to every port of its host, so another program may have read the secret. The
	// secret is accepted only as a cookie, and only on routes that pages use.
	if !browser && p.Channel == askback.ChannelWeb {
		return askback.ErrUnauthorized
	}
	if browser && !rt.takesCookie() {
		return askback.ErrForbidden
	}
	c.principal, c.secret, c.client = p, secret, c.h.auth.As(p)
	return nil
}

// takesCookie reports whether a route accepts a cookie. A stolen cookie must not give access that outlasts
// its log-in, such as a new token, another address of a person, or a linked chat. The forms of pages have
// their own checks.
func (rt *route) takesCookie() bool {
	switch rt.action {
	case access.ActTokens, access.ActTokenList, access.ActYield, access.ActDirectory:
		return false
	case access.ActContacts:
		return rt.method != http.MethodPost
	}
	return true
}

// reauthenticate returns an error if the token of the request is no longer valid, or cannot be checked.
// Handlers call it when time has passed since the last check, such as after a wait.
func (c *call) reauthenticate(ctx context.Context) error {
	_, err := c.h.auth.Authenticate(ctx, c.secret)
	return err
}

// credential returns the secret of r: the bearer token or, without a bearer token, the log-in cookie. secret
// is "" if r has neither. browser is false if secret is a bearer token.
func credential(r *http.Request) (secret string, browser bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), false
	}
	return login.Secret(r), true
}

// readBody reads the whole body into c.body. The body may have up to limit bytes. Its Content-Type must be
// JSON, unless the body is empty. Each error is a problem.
func (c *call) readBody(limit int64) error {
	if c.r.ContentLength == 0 {
		return nil
	}
	raw, err := c.readAll(limit)
	c.wasRead = err == nil
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) && limit == 0:
		return problem{Status: http.StatusBadRequest, Type: "body", Detail: "this request has no body"}
	case errors.As(err, &large):
		return problem{
			Status: http.StatusRequestEntityTooLarge, Type: "too-large",
			Detail: fmt.Sprintf("the body has more than %d bytes, the limit of this request", limit),
		}
	case err != nil:
		return problem{Status: http.StatusBadRequest, Type: "body", Detail: "the body is incomplete"}
	}
	c.body = raw
	if len(raw) == 0 {
		return nil
	}
	if !isJSON(c.r.Header.Get("Content-Type")) {
		return problem{
			Status: http.StatusUnsupportedMediaType, Type: "media-type", Detail: "send Content-Type: application/json",
		}
	}
	return nil
}

// maxKnownLength is the maximum Content-Length in bytes for which memory is allocated before
// the body arrives.
const maxKnownLength = 64 << 10

// readAll reads the whole body. The error is an [http.MaxBytesError] if the body has more than
// limit bytes.
func (c *call) readAll(limit int64) ([]byte, error) {
	length := c.r.ContentLength
	if length < 0 || length > min(limit, maxKnownLength) {
		return io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	}
	raw := make([]byte, length)
	_, err := io.ReadFull(c.r.Body, raw)
	return raw, err
}

// isJSON reports whether a Content-Type is application/json, with or without parameters.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}
