package askback

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
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
	low, high string // as written in the format; "" is no bound
}

// parseFormat parses s, and reports whether s is a format. The empty string is not a format.
func parseFormat(s string) (format, bool) {
	kind, bounds, bounded := strings.Cut(s, " ")
	f := format{kind: kind}
	if !slices.Contains(
		[]string{formatText, formatInteger, formatNumber, formatDate, formatDateTime, formatEmail, formatURI}, kind,
	) {
		return format{}, false
	}
	if !bounded {
		return f, kind != formatText
	}
	var ok bool
	f.low, f.high, ok = strings.Cut(bounds, "..")
	canHave := kind == formatText || kind == formatInteger || kind == formatNumber
	return f, ok && canHave && f.low+f.high != "" && f.isPossible()
}

// maxExact is the greatest integer that every JSON reader reads exactly.
const maxExact = 1<<53 - 1

// isPossible reports whether the bounds are numbers that allow at least one answer.
func (f format) isPossible() bool {
	low, lowOK := parseNumber(f.low)
	high, highOK := parseNumber(f.high)
	if !lowOK && f.low != "" || !highOK && f.high != "" {
		return false
	}
	if f.kind == formatNumber {
		return !lowOK || !highOK || low.Cmp(high) <= 0
	}
	first, last := big.NewInt(-maxExact), big.NewInt(maxExact)
	if f.kind == formatText {
		first, last = big.NewInt(1), big.NewInt(limits.MaxText)
	}
	if lowOK {
		up := new(big.Int).Neg(new(big.Int).Div(new(big.Int).Neg(low.Num()), low.Denom()))
		first = slices.MaxFunc([]*big.Int{first, up}, (*big.Int).Cmp)
	}
	if highOK {
		last = slices.MinFunc([]*big.Int{last, new(big.Int).Div(high.Num(), high.Denom())}, (*big.Int).Cmp)
	}
	return first.Cmp(last) <= 0
}

// maxNumber is the maximum length of a number in an answer, in bytes.
const maxNumber = 100

// parseNumber parses a JSON number exactly. It rejects a number of more than maxNumber bytes. It also rejects
// a number that is too large for JSON readers, or so small that they read zero.
func parseNumber(s string) (*big.Rat, bool) {
	if s == "" || len(s) > maxNumber || s[0] != '-' && (s[0] < '0' || s[0] > '9') || !json.Valid([]byte(s)) {
		return nil, false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	if n, err := strconv.ParseFloat(s, 64); err != nil || n == 0 && strings.ContainsAny(mantissa, "123456789") {
		return nil, false
	} else if n == 0 {
		return new(big.Rat), true // the number is zero, whatever its exponent, as in 0e999999999
	}
	return new(big.Rat).SetString(s)
}

// String describes an answer in the format, such as "a whole number from 1 to 100".
func (f format) String() string {
	what := map[string]string{
		formatText: "a text", formatInteger: "a whole number", formatNumber: "a number",
		formatDate:     "a date, such as 2027-01-31",
		formatDateTime: "a date with a time, such as 2027-01-31T18:00:00Z", formatEmail: "an e-mail address",
		formatURI: "an address, such as https://example.com/",
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
	switch f.kind {
	case formatText:
		return f.holds(big.NewRat(int64(utf8.RuneCountInString(text)), 1))
	case formatNumber:
		n, ok := parseNumber(text)
		return ok && f.holds(n)
	case formatInteger:
		n, ok := parseNumber(text)
		return ok && n.IsInt() && n.Num().CmpAbs(big.NewInt(maxExact)) <= 0 && f.holds(n)
	case formatDate:
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	case formatDateTime:
		return isDateTime(text)
	case formatEmail:
		return isEmail(text)
	case formatURI:
		u, err := url.Parse(text)
		return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "") && isVisible(text)
	}
	return false
}

// holds reports whether a number is within the bounds.
func (f format) holds(n *big.Rat) bool {
	low, lowOK := parseNumber(f.low)
	high, highOK := parseNumber(f.high)
	return (!lowOK || n.Cmp(low) >= 0) && (!highOK || n.Cmp(high) <= 0)
}

// isDateTime reports whether a text is a time of RFC 3339. Package time also accepts an hour of one digit and
// a decimal comma, which isDateTime rejects.
func isDateTime(text string) bool {
	text = strings.ToUpper(text) // "t" and "z" are allowed, too
	_, err := time.Parse(time.RFC3339, text)
	return err == nil && text[len("2006-01-02T15")] == ':' && !strings.Contains(text, ",")
}

// isVisible reports whether a text has only visible characters: no spaces, controls or characters without
// width.
func isVisible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}

// isEmail reports whether a text is an e-mail address without a display name.
func isEmail(text string) bool {
	local, domain, ok := strings.Cut(text, "@")
	return ok && local != "" && domain != "" && isVisible(text) && !strings.ContainsAny(text, "<>(),;:\"[]\\") &&
		!strings.Contains(domain, "@") && !strings.Contains(domain, "..") && strings.Trim(domain, ".-") == domain
}

// Expects describes what an answer must be, such as "a whole number from 1 to 100". If any text is an answer,
// Expects returns "".
func (q Question) Expects() string {
	if f, ok := parseFormat(q.Format); ok {
		return f.String()
	}
	return ""
}

// Fits reports whether a text is an answer in the format of the question, ignoring white space around it. If
// the format is empty or not valid, every text fits.
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
		bad.add("/format", fmt.Sprintf("%s is not a format", quote(q.Format)), "write integer, number, date, "+
			"date-time, email or uri; bounds follow, as in integer 1..100, number 0.. or text ..20")
		return
	}
	if len(q.Options) > 0 {
		bad.add("/format", "a question with options has no format", "leave it out, or leave the options out")
	}
	for _, d := range q.Default {
		if !q.Fits(d) {
			bad.add("/default", fmt.Sprintf("%s is not %s", quote(d), q.Expects()),
				"write a default that fits the format")
		}
	}
}
