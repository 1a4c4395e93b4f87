package askback

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseDuration parses a duration such as "90s", "10m", "2h" or "7d", a sum such as "1h30m", or a whole
// number of seconds (docs/wire.md §2). The result is not negative.
func ParseDuration(s string) (time.Duration, error) {
	d, ok := parseDuration(s)
	if !ok {
		return 0, fmt.Errorf("%s is not a duration; use 90s, 10m, 2h or 7d", quote(s))
	}
	return d, nil
}

func parseDuration(s string) (sum time.Duration, ok bool) {
	if strings.Trim(s, "0123456789") == "" {
		n, err := strconv.ParseInt(s, 10, 64)
		return time.Duration(n) * time.Second, err == nil && n <= int64(math.MaxInt64/time.Second)
	}
	for s != "" {
		n, unit, rest, ok := durationPart(s)
		if !ok || n > int64((math.MaxInt64-sum)/unit) {
			return 0, false
		}
		sum, s = sum+time.Duration(n)*unit, rest
	}
	return sum, true
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
