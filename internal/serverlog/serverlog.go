// Package serverlog writes the logs of a server: what it does, one line for each request
// (the access log), and one line for each decision, log-in, token and grant (the audit
// log). No line has a secret.
package serverlog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Formats are the formats of a line.
const (
	Text = "text" // key=value
	JSON = "json" // one object
)

// A Log writes lines to one place. Its methods are safe for concurrent use.
type Log struct {
	// Logger is for what the server itself does.
	*slog.Logger

	audit     *slog.Logger
	strangers limiter // lines of requests without a valid token
	refused   limiter // lines of tokens and log-ins that were refused
}

// New returns a log that writes to w. Lines below the level are left out, but never those
// of the audit log.
func New(w io.Writer, format string, level slog.Level) *Log {
	o := &slog.HandlerOptions{Level: min(level, slog.LevelInfo), ReplaceAttr: redacted}
	var all slog.Handler = slog.NewTextHandler(w, o)
	if format == JSON {
		all = slog.NewJSONHandler(visible{w}, o)
	}
	return &Log{Logger: slog.New(leveled{all, level}), audit: slog.New(all)}
}

// Level returns the level of a name: debug, info, warn or error.
func Level(name string) (slog.Level, error) {
	var l slog.Level
	switch name {
	case "debug", "info", "warn", "error":
		return l, l.UnmarshalText([]byte(name))
	}
	return l, fmt.Errorf("%q is no level; write debug, info, warn or error", name)
}

// leveled leaves out lines below a level.
type leveled struct {
	slog.Handler
	level slog.Level
}

func (h leveled) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h leveled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return leveled{h.Handler.WithAttrs(attrs), h.level}
}

func (h leveled) WithGroup(name string) slog.Handler {
	return leveled{h.Handler.WithGroup(name), h.level}
}

// secret matches every secret that Askback makes: of tokens, log-in links and cookies.
var secret = regexp.MustCompile(`askback_[0-9A-Za-z_-]{8,}`)

// redacted replaces secrets in an attribute, wherever they came from: a path that
// someone pasted a token into, a label, the text of an error.
func redacted(_ []string, a slog.Attr) slog.Attr {
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

// maxValue bounds what a line repeats of a stranger's words, in bytes.
const maxValue = 2000

func redact(s string) string {
	if len(s) > maxValue {
		s = strings.ToValidUTF8(s[:maxValue], "") + "…"
	}
	if !strings.Contains(s, "askback_") {
		return s
	}
	return secret.ReplaceAllString(s, "askback_…")
}

// visible escapes what a terminal would obey or hide in lines of JSON: control characters
// beyond ASCII, which [slog.JSONHandler] leaves as they are, and those that turn text
// around. What a line says stays the same.
type visible struct{ io.Writer }

func (w visible) Write(line []byte) (int, error) {
	var out []byte // nil: nothing is escaped so far
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
