package ids

import (
	"strings"
	"time"
)

// Time returns the time of creation of an id, which must be valid.
func Time(id string) time.Time {
	_, digits, _ := strings.Cut(id, "_")
	ms := int64(0)
	for _, c := range digits[:10] { // ten digits have 50 bits, of which the first two are 0
		ms = ms<<5 | int64(strings.IndexRune(alphabet, c))
	}
	return time.UnixMilli(ms)
}
