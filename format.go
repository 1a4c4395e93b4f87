package askback

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The kinds of a [Question.Format].
const (
	formatText     = "text" // its bounds are numbers of characters
	formatInteger  = "integer"
	formatNumber   = "number"
	formatDate     = "date"      // RFC 3339, full-date
	formatDateTime = "date-time" // RFC 3339
	formatEmail    = "email"
	formatURI      = "uri"
)

// A format is a parsed [Question.Format]: a kind, and for numbers and texts the bounds, such as
// integer 1..100, number 0.. or text ..20.
type format struct {
	kind      string
	low, high string // as they were written; "" is no bound
}

// parseFormat parses a format that is not "". It reports whether it is one.
func parseFormat(s string) (format, bool) {
	kind, bounds, bounded := strings.Cut(s, " ")
	f := format{kind: kind}
	if !slices.Contains([]string{formatText, formatInteger, formatNumber, formatDate, formatDateTime, formatEmail, formatURI}, kind) {
		return format{}, false
	}
	if !bounded {
		return f, kind != formatText
	}
	var ok bool
	f.low, f.high, ok = strings.Cut(bounds, "..")
	low, lowOK := parseBound(f.low, math.Inf(-1))
	high, highOK := parseBound(f.high, math.Inf(1))
	canHave := kind == formatText || kind == formatInteger || kind == formatNumber
	return f, ok && lowOK && highOK && canHave && low <= high && f.low+f.high != ""
}

func parseBound(s string, none float64) (float64, bool) {
	if s == "" {
		return none, true
	}
	return parseNumber(s)
}

// parseNumber parses a number as JSON writes it.
func parseNumber(s string) (float64, bool) {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || !json.Valid([]byte(s)) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// String describes what fits the format, such as "a whole number from 1 to 100".
func (f format) String() string {
	what := map[string]string{
		formatText: "a text", formatInteger: "a whole number", formatNumber: "a number", formatDate: "a date, such as 2027-01-31",
		formatDateTime: "a date with a time, such as 2027-01-31T18:00:00Z", formatEmail: "an e-mail address", formatURI: "an address, such as https://example.com/",
	}[f.kind]
	unit := ""
	if f.kind == formatText {
		what, unit = "a text of", " characters"
	}
	switch {
	case f.low != "" && f.high != "" && unit != "":
		return what + " " + f.low + " to " + f.high + unit
	case f.low != "" && f.high != "":
		return what + " from " + f.low + " to " + f.high
	case f.low != "":
		return what + " at least " + f.low + unit
	case f.high != "":
		return what + " at most " + f.high + unit
	}
	return what
}

// fits reports whether a text fits the format.
func (f format) fits(text string) bool {
	n, ok := 0.0, true
	switch f.kind {
	case formatText:
		n = float64(utf8.RuneCountInString(text))
	case formatNumber:
		n, ok = parseNumber(text)
	case formatInteger:
		n, ok = parseNumber(text)
		ok = ok && n == math.Trunc(n) && math.Abs(n) < 1<<53 // larger ones are not exact in JSON
	case formatDate:
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case formatDateTime:
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	case formatEmail:
		return isEmail(text)
	case formatURI:
		u, err := url.Parse(text)
		return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "")
	}
	low, _ := parseBound(f.low, math.Inf(-1))
	high, _ := parseBound(f.high, math.Inf(1))
	return ok && n >= low && n <= high
}

// isEmail reports whether a text is one address, without a name.
func isEmail(text string) bool {
	local, domain, ok := strings.Cut(text, "@")
	return ok && local != "" && domain != "" && !strings.ContainsAny(text, " \t\n<>(),;:\"[]\\") && !strings.Contains(domain, "@") && strings.Trim(domain, ".-") == domain
}

// Expects describes what an answer must be, such as "a whole number from 1 to 100", or returns "" if any
// text is an answer.
func (q Question) Expects() string {
	if f, ok := parseFormat(q.Format); ok {
		return f.String()
	}
	return ""
}

// Fits reports whether a text is an answer in the format of the question. Spaces around it do not
// count.
func (q Question) Fits(text string) bool {
	f, ok := parseFormat(q.Format)
	return !ok || f.fits(strings.TrimSpace(text))
}

// checkFormat checks the format of a question, and whether its default fits it.
func (q *Question) checkFormat(bad *problems) {
	if q.Format == "" {
		return
	}
	if _, ok := parseFormat(q.Format); !ok {
		bad.add("/format", fmt.Sprintf("%s is not a format", quote(q.Format)), "write integer, number, date, date-time, email or uri; bounds follow, as in integer 1..100, number 0.. or text ..20")
		return
	}
	if len(q.Options) > 0 {
		bad.add("/format", "a question with options has no format", "leave it out, or leave the options out")
	}
	for _, d := range q.Default {
		if !q.Fits(d) {
			bad.add("/default", fmt.Sprintf("%s is not %s", quote(d), q.Expects()), "write a default that fits the format")
		}
	}
}
