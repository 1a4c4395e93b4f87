// Package serverlog writes the logs of a server: its own messages, an access log of requests, and an audit
// log. The audit log records how asks end, log-ins and log-outs, rejected secrets, and the changes that
// people make to tokens, grants and other objects. No line contains a secret that Askback generated.
package serverlog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The formats of a log line.
const (
	Text = "text" // key=value pairs
	JSON = "json" // a JSON object
)

// A Log writes all logs of a server to one writer. Its methods are safe for concurrent use.
type Log struct {
	*slog.Logger // for messages of the server itself

	// Served is called after each request, with its status and its duration, unless it is nil. It is set
	// before the first request.
	Served func(r *http.Request, status int, took time.Duration)

	audit     *slog.Logger
	anonymous limiter // limits the lines for requests without a valid token
	rejected  limiter // limits the lines for rejected tokens and log-ins
}

// New returns a log that writes to w. It leaves out lines below level, except lines of the audit log.
func New(w io.Writer, format string, level slog.Level) *Log {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr}
	var all slog.Handler = slog.NewTextHandler(w, o)
	if format == JSON {
		all = slog.NewJSONHandler(escapingWriter{w}, o)
	}
	return &Log{Logger: slog.New(all), audit: slog.New(everyLevel{all})}
}

// ParseLevel returns the level with the given name: debug, info, warn or error.
func ParseLevel(name string) (slog.Level, error) {
	var l slog.Level
	switch name {
	case "debug", "info", "warn", "error":
		return l, l.UnmarshalText([]byte(name))
	}
	return l, fmt.Errorf("unknown log level %q; use debug, info, warn or error", name)
}

// An everyLevel is a [slog.Handler] that writes lines of every level.
type everyLevel struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (everyLevel) Enabled(context.Context, slog.Level) bool { return true }

// secretPattern matches every secret that Askback generates: in tokens, log-in links and cookies.
var secretPattern = regexp.MustCompile(`askback_[0-9A-Za-z_-]{8,}`)

// redactAttr replaces secrets in an attribute and truncates long values. A secret can be anywhere, such as in
// a path with a pasted token, in a label, or in an error.
func redactAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(redact(a.Value.String()))
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(redact(err.Error()))
		}
	}
	return a
}

// maxValue is the maximum length of a value in bytes. Values are limited, because clients
// choose paths and names.
const maxValue = 2000

func redact(s string) string {
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "") + "…"
	}
	if !strings.Contains(s, "askback_") {
		return s
	}
	return secretPattern.ReplaceAllString(s, "askback_…")
}

// escapingWriter escapes the characters in lines of JSON that can change the output of a terminal: DEL and
// the non-printable characters beyond ASCII. Some of these characters reverse text. [slog.JSONHandler] does
// not escape these characters. The JSON value stays the same.
type escapingWriter struct{ io.Writer }

// Write implements [io.Writer].
func (w escapingWriter) Write(line []byte) (int, error) {
	var out []byte // nil until the first character that must be escaped
	for i, r := range string(line) {
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			if out != nil {
				out = utf8.AppendRune(out, r)
			}
			continue
		case out == nil:
			out = append(make([]byte, 0, len(line)+64), line[:i]...)
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	if out == nil {
		return w.Writer.Write(line)
	}
	_, err := w.Writer.Write(out)
	return len(line), err
}
