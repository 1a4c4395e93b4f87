package serverlog

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
)

// Access returns a handler that calls next and then writes a line about the request:
// method, path, status, size and duration, and the principal. It writes no query, no
// header and no body: secrets travel there.
func (l *Log) Access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{remote: remote(r)}
		counted := &writer{ResponseWriter: w}
		begin := time.Now()
		defer func() { l.requested(r, v, counted, begin) }()
		next.ServeHTTP(counted, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
	})
}

// Note records the principal of the request that ctx belongs to.
func Note(ctx context.Context, p askback.Principal) {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		v.who.CompareAndSwap(nil, &p)
	}
}

// A visit is what becomes known of a request while it is handled.
type visit struct {
	who    atomic.Pointer[askback.Principal]
	remote string // the address of the client, or of the proxy before this server
}

type visitKey struct{}

func (l *Log) requested(r *http.Request, v *visit, w *writer, begin time.Time) {
	level := slog.LevelInfo
	if isProbe(r) {
		level = slog.LevelDebug
	}
	ctx := context.WithoutCancel(r.Context())
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", w.code()), slog.Int64("bytes", w.bytes),
		slog.Float64("ms", float64(time.Since(begin).Microseconds())/1000),
	}
	if who := v.who.Load(); who != nil {
		attrs = append(attrs, slog.String("kind", string(who.Kind)), slog.String("name", who.Name))
	} else {
		left, ok := l.strangers.next(time.Now())
		if !ok {
			return
		}
		attrs = append(attrs, slog.String("remote", v.remote))
		if left > 0 {
			attrs = append(attrs, slog.Int("left_out", left))
		}
	}
	l.LogAttrs(ctx, level, "request", attrs...)
}

// isProbe reports whether programs send such requests all the time, or a page brings
// them along.
func isProbe(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || strings.HasPrefix(r.URL.Path, "/assets/")
}

func remote(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// A writer counts what is written.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

func (w *writer) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// Flush implements [http.Flusher].
func (w *writer) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for an [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
