package jcs

import (
	"strconv"
	"strings"
)

// A decimal is the exact value ±0.digits × 10^point. The digits have no zero at either
// end, and are empty for zero. So two decimals are the same number if they are equal.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// farAway is an exponent too large for any double, even if megabytes of zeros precede
// the digits. It fits into an int of 32 bits.
const farAway = 1 << 30

// isCanonicalInteger reports whether the text of a JSON number is an integer in its canonical form. It
// returns false for some large integers.
func isCanonicalInteger(text string) bool {
	const exact = 15 // a double holds all integers of this many digits
	digits := strings.TrimPrefix(text, "-")
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return false
		}
	}
	return len(digits) <= exact && text != "-0"
}

// parseDecimal parses the text of a JSON number. Its time is linear in the text and does
// not depend on the exponent.
func parseDecimal(text string) decimal {
	var d decimal
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], clampedInt(text[i+1:])
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	trimmed := strings.TrimLeft(all, "0")
	d.point = len(whole) - (len(all) - len(trimmed)) + exponent
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// clampedInt parses [+-]?[0-9]+ and returns a number between -farAway and farAway.
func clampedInt(s string) int {
	n, _ := strconv.Atoi(s) // a number that does not fit is the largest or smallest int
	return max(-farAway, min(n, farAway))
}

// double returns the shortest decimal form of the nearest double. It reports whether that form is the same
// number as d.
func (d decimal) double() (decimal, bool) {
	// 17 digits distinguish any two doubles, so no shortest form has more.
	// Doubles range from 5e-324 to 1.8e308.
	if len(d.digits) > 17 || d.point < -330 || d.point > 310 {
		return decimal{}, false
	}
	if d.digits == "" {
		return d, true
	}
	f, err := strconv.ParseFloat(d.digits+"e"+strconv.Itoa(d.point-len(d.digits)), 64)
	if err != nil {
		return decimal{}, false
	}
	shortest := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	shortest.negative = d.negative
	return shortest, shortest == d
}

// append appends the form of the number in ECMAScript (Number::toString), which RFC 8785
// section 3.2.2.3 requires.
func (d decimal) append(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	n, k := d.point, len(d.digits)
	switch {
	case k <= n && n <= 21:
		dst = append(dst, d.digits...)
		return append(dst, strings.Repeat("0", n-k)...)
	case 0 < n && n <= 21:
		dst = append(dst, d.digits[:n]...)
		dst = append(dst, '.')
		return append(dst, d.digits[n:]...)
	case -6 < n && n <= 0:
		dst = append(dst, "0."...)
		dst = append(dst, strings.Repeat("0", -n)...)
		return append(dst, d.digits...)
	}
	dst = append(dst, d.digits[0])
	if k > 1 {
		dst = append(dst, '.')
		dst = append(dst, d.digits[1:]...)
	}
	dst = append(dst, 'e')
	if n > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(n-1), 10)
}

// int64 returns the value of d as an int64. It returns 0 and false if d is not an integer, or does not fit.
func (d decimal) int64() (int64, bool) {
	const most = 19 // digits of the largest int64
	if d.digits == "" {
		return 0, true
	}
	if d.point < len(d.digits) || d.point > most {
		return 0, false
	}
	text := d.digits + strings.Repeat("0", d.point-len(d.digits))
	if d.negative {
		text = "-" + text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}
