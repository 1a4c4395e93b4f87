// Package httpapi is both ends of one wire: [Handler] serves asks over HTTP and
// [Client] is a seat at a server.
//
// One table holds every route with its action. Bodies are read strictly and
// whole before anything is done; what is refused changed nothing. The
// Authorization header, or the browser's cookie, says who asks.
package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/openapi"
)

// A Gate lets principals in.
type Gate interface {
	// Authenticate returns whose secret this is, or [askback.ErrUnauthorized].
	Authenticate(ctx context.Context, secret string) (askback.Principal, error)
	// As returns the seat of a principal.
	As(askback.Principal) askback.Seat
	// May says whether a principal of this kind may ever do an action, or
	// [askback.ErrForbidden]. The seat asks again, for the very ask.
	May(askback.Principal, askback.Action) error
}

// Options are what a handler can be given; the zero value is good.
type Options struct {
	// PublicURL is where people reach this server, without a slash at the end.
	// Links to pages begin with it; without it there are none.
	PublicURL string
	Version   string // of the program, as the description of the wire names it
	// Proof answers a nonce, so that a client knows this server before it
	// shows a token (design: the local server). Nil: it proves nothing.
	Proof func(nonce string) string
	// Yield asks the holder of the local database to hand it over. Nil: this
	// server does not yield.
	Yield func() error
	// Ready returns what is to be known about this server, or why it takes no
	// calls: an [askback.ErrDiskFull], or that it failed. Nil: it does.
	Ready func(context.Context) (Readiness, error)
	// MaxStreams bounds the event streams that one principal follows at a time;
	// 0 is no bound.
	MaxStreams int
	Log        *slog.Logger // nil: nothing is logged
}

// A Handler serves the routes of this package. Make one with [NewHandler].
type Handler struct {
	gate    Gate
	options Options
	log     *slog.Logger
	mux     *http.ServeMux
	cross   *http.CrossOriginProtection
	streams streams
	hooks   hook.Waiting  // the hooks that wait here
	large   chan struct{} // has one entry for each large event that is read
	// described is the wire as this server tells it, made when first asked for.
	described func() (description, error)
	// How often a stream shows that it lives, and how long a frame of it may take.
	pulse, frameTime time.Duration
	// stopping ends when Stop is called: then nothing waits any more.
	stopping context.Context
	stop     context.CancelFunc
}

// NewHandler returns a handler. It starts nothing.
func NewHandler(g Gate, o *Options) *Handler {
	if o == nil {
		o = &Options{}
	}
	h := &Handler{gate: g, options: *o, log: o.Log, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection()}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.pulse, h.frameTime = pulse, frameTime
	h.large = make(chan struct{}, maxLarge)
	h.stopping, h.stop = context.WithCancel(context.Background())
	h.described = sync.OnceValues(func() (description, error) { return describeWire(h.options) })
	h.mount()
	return h
}

// Stop makes those who wait get their asks as they are, and refuses what comes
// later with 503. What is under way goes on.
func (h *Handler) Stop() { h.stop() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	h.mux.ServeHTTP(w, r)
}

// A call is one request on its way through a route.
type call struct {
	h    *Handler
	w    http.ResponseWriter
	r    *http.Request
	who  askback.Principal
	seat askback.Seat
	body []byte

	secret string // that it was let in with
}

// guard is what every request passes before its route: who is it, may it come
// from there, is the body whole.
func (h *Handler) guard(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{h: h, w: w, r: r}
		err := c.admit(rt)
		if err == nil {
			err = rt.serve(c)
		}
		if err == nil {
			return
		}
		p := describe(err)
		if r.Context().Err() != nil {
			// Most likely nobody is there any more. But a handler that says nothing
			// says 200, and a body that came too slowly ends the context too.
			h.log.Debug("a client left", "method", rt.method, "path", rt.path)
			if p.Status == http.StatusInternalServerError {
				p = describe(askback.ErrBusy)
			}
		}
		if p.Status == http.StatusInternalServerError {
			h.log.Error("a request failed", "method", rt.method, "path", rt.path, "error", err)
		}
		h.refuse(w, p)
	})
}

func (c *call) admit(rt route) error {
	if err := c.known(rt.doc.Query); err != nil || rt.open {
		return err
	}
	if c.h.stopping.Err() != nil {
		c.w.Header().Set("Connection", "close")
		return askback.ErrStopping
	}
	if err := c.h.cross.Check(c.r); err != nil {
		return problem{Status: http.StatusForbidden, Type: "cross-origin", Detail: "a page of another origin may not do that"}
	}
	secret, browser := shown(c.r)
	who, err := c.h.gate.Authenticate(c.r.Context(), secret)
	if err != nil {
		return err
	}
	if err := c.may(who, rt); err != nil {
		return err
	}
	// A cookie goes to every port of its host, so somebody else there may have
	// seen it. It opens what pages need and nothing else, and only as a cookie.
	if !browser && who.Via == askback.ViaWeb {
		return askback.ErrUnauthorized
	}
	if browser && (rt.action == askback.ActTokens || rt.action == askback.ActTokenList || rt.action == askback.ActYield) {
		return askback.ErrForbidden
	}
	c.who, c.secret = who, secret
	c.seat = c.h.gate.As(who)
	if err := c.read(rt.limit); err != nil || c.r.ContentLength == 0 {
		return err
	}
	// The body may have taken its time, and the token may be revoked by now.
	_, err = c.h.gate.Authenticate(c.r.Context(), secret)
	return err
}

// may says whether a principal may ever do what a route is for.
func (c *call) may(who askback.Principal, rt route) error {
	err := c.h.gate.May(who, rt.action)
	if err != nil && rt.or != "" {
		err = c.h.gate.May(who, rt.or)
	}
	return err
}

// shown returns what a request shows: a bearer token, or the cookie of a
// browser that logged in.
func shown(r *http.Request) (secret string, browser bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), false
	}
	return login.Secret(r), true
}

// known refuses query keys that mean nothing here: a misspelt filter must not
// select everything.
func (c *call) known(keys []openapi.Param) error {
	var bad askback.Invalid
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return askback.Invalid{{Pointer: "?", Detail: "the query cannot be read", Fix: "write it as key=value&key=value, with special characters escaped"}}
	}
	for key, values := range query {
		if !slices.ContainsFunc(keys, func(p openapi.Param) bool { return p.Name == key }) {
			bad = append(bad, askback.Problem{Pointer: "?" + key, Detail: "there is no such query key", Fix: "the keys are " + names(keys)})
		} else if len(values) > 1 {
			bad = append(bad, askback.Problem{Pointer: "?" + key, Detail: "this key stands twice", Fix: "send it once"})
		}
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

func names(keys []openapi.Param) string {
	var out []string
	for _, p := range keys {
		out = append(out, p.Name)
	}
	return strings.Join(out, ", ")
}

// read takes the whole body. An empty one needs no type.
func (c *call) read(limit int64) error {
	if c.r.ContentLength == 0 {
		return nil
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) && limit == 0:
		return problem{Status: http.StatusBadRequest, Type: "body", Detail: "this request has no body"}
	case errors.As(err, &large):
		return problem{Status: http.StatusRequestEntityTooLarge, Type: "too-large", Detail: fmt.Sprintf("the body has more than %d bytes, as many as this request may have", limit)}
	case err != nil:
		return problem{Status: http.StatusBadRequest, Type: "body", Detail: "the body did not come whole"}
	}
	c.body = raw
	if len(raw) == 0 {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return problem{Status: http.StatusUnsupportedMediaType, Type: "media-type", Detail: "send Content-Type: application/json"}
	}
	return nil
}

// writeTime is how long a reply may take to be read. Who reads slower than that
// would hold it in memory.
const writeTime = 30 * time.Second

// reply writes a value.
func (c *call) reply(status int, v any) error {
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime)) // a test's recorder has none
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	if err := encode(c.w, v); err != nil {
		c.h.log.Debug("a reply did not arrive", "error", err)
	}
	return nil
}

// text writes plain text.
func (c *call) text(said string) error {
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTime))
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	c.w.WriteHeader(http.StatusOK)
	if _, err := io.WriteString(c.w, said); err != nil {
		c.h.log.Debug("a reply did not arrive", "error", err)
	}
	return nil
}

// encode writes a value as JSON. What can write itself does so directly:
// json.Encoder would read all of it once more.
func encode(w io.Writer, v any) error {
	if m, ok := v.(json.Marshaler); ok {
		raw, err := m.MarshalJSON()
		if err == nil {
			_, err = w.Write(append(raw, '\n'))
		}
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
