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

// durationPart parses a number and its unit at the start of s. It returns the rest of
// s, and whether s starts with a number and a unit.
func durationPart(s string) (n int64, unit time.Duration, rest string, ok bool) {
	rest = strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(s, rest), 10, 64)
	if err != nil || rest == "" {
		return 0, 0, "", false
	}
	unit, ok = durationUnits[rest[0]]
	return n, unit, rest[1:], ok
}

var durationUnits = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
