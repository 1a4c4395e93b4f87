package askback

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses "90s", "10m", "2h", "7d", sums of them such as "1h30m", or
// a whole number of seconds (docs/wire.md §2). The result is not negative.
func ParseDuration(s string) (time.Duration, error) {
	wrong := fmt.Errorf("%s is not a duration; use 90s, 10m, 2h or 7d", quote(s))
	if s == "" {
		return 0, wrong
	}
	if strings.Trim(s, "0123456789") == "" {
		s += "s"
	}
	var sum time.Duration
	for rest := s; rest != ""; {
		n, unit, after, ok := durationPart(rest)
		if !ok || n > int64((math.MaxInt64-sum)/unit) {
			return 0, wrong
		}
		sum, rest = sum+time.Duration(n)*unit, after
	}
	return sum, nil
}

// durationPart parses a number and its unit at the start of s.
func durationPart(s string) (n int64, unit time.Duration, rest string, ok bool) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	if err != nil || i == len(s) {
		return 0, 0, "", false
	}
	switch s[i] {
	case 's':
		unit = time.Second
	case 'm':
		unit = time.Minute
	case 'h':
		unit = time.Hour
	case 'd':
		unit = 24 * time.Hour
	default:
		return 0, 0, "", false
	}
	return n, unit, s[i+1:], true
}
