package serverlog

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/answerlink"
)

// Access returns a handler that calls next and then logs the request: method, path, status,
// size, duration and principal. Query, headers and body are never logged: they can contain
// secrets. For requests without a valid token, it logs the address of the client, and at most
// maxPerMinute lines a minute. The path of a link of a message is logged without its token.
func (l *Log) Access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{Context: r.Context(), begin: time.Now()}
		x.remote, x.response.ResponseWriter = remoteHost(r), w
		r = r.WithContext(x)
		defer l.logRequest(r, x)
		next.ServeHTTP(&x.response, r)
	})
}

// An exchange is a request with its response. It is the context of the request, and has its
// [requestInfo] as a value.
type exchange struct {
	context.Context
	requestInfo
	response responseCounter
	begin    time.Time
}

// Value implements [context.Context].
func (x *exchange) Value(key any) any {
	if key == (requestInfoKey{}) {
		return &x.requestInfo
	}
	return x.Context.Value(key)
}

// SetPrincipal records the principal of the request that ctx belongs to. Only the first call
// for a request has an effect.
func SetPrincipal(ctx context.Context, p askback.Principal) {
	info, ok := ctx.Value(requestInfoKey{}).(*requestInfo)
	if !ok || info.principal.Load() != nil {
		return
	}
	first := p // the copy is made only here, so that later calls allocate nothing
	info.principal.CompareAndSwap(nil, &first)
}

// A requestInfo has the data about a request for its log lines. It is a value of the context of the request.
type requestInfo struct {
	principal atomic.Pointer[askback.Principal] // nil until the principal is known
	remote    string                            // the address of the client, or of a proxy in front of this server
}

type requestInfoKey struct{}

func (l *Log) logRequest(r *http.Request, x *exchange) {
	took := time.Since(x.begin)
	if l.Served != nil {
		l.Served(r, cmp.Or(x.response.status, http.StatusOK), took)
	}
	level := slog.LevelInfo
	if isProbe(r) {
		level = slog.LevelDebug
	}
	if !l.Enabled(x, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 7),
		slog.String("method", r.Method), slog.String("path", answerlink.Redact(r.URL.Path)),
		slog.Int("status", cmp.Or(x.response.status, http.StatusOK)),
		slog.Int64("bytes", x.response.bytes), slog.Float64("ms", float64(took.Microseconds())/1000))
	if p := x.principal.Load(); p != nil {
		attrs = append(attrs, slog.String("kind", string(p.Kind)), slog.String("name", p.Name))
	} else {
		remote, ok := l.anonymous.attrs(&x.requestInfo)
		if !ok {
			return
		}
		attrs = append(attrs, remote...)
	}
	l.LogAttrs(context.WithoutCancel(x), level, "request", attrs...)
}

// isProbe reports whether r is a health check or fetches a file of a page. Both are frequent,
// and logged at level debug only.
func isProbe(r *http.Request) bool {
	return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/sw.js" ||
		r.URL.Path == "/manifest.webmanifest" ||
		strings.HasPrefix(r.URL.Path, "/assets/")
}

func remoteHost(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// responseCounter records the status and the size of a response.
type responseCounter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements [http.ResponseWriter].
func (w *responseCounter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *responseCounter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher].
func (w *responseCounter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap returns the underlying writer for an [http.ResponseController].
func (w *responseCounter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
