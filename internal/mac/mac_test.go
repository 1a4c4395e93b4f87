package mac_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/askback/askback/internal/mac"
)

var key = bytes.Repeat([]byte{1}, 32)

// A sum depends on the key, the purpose, each part, and the boundaries of the parts.
func TestSumsOfDifferentInputsDiffer(t *testing.T) {
	seen := map[string]string{}
	for name, sum := range map[string][]byte{
		"one purpose":           mac.Sum(key, "reply", "ab", "c"),
		"another purpose":       mac.Sum(key, "page", "ab", "c"),
		"another key":           mac.Sum(bytes.Repeat([]byte{2}, 32), "reply", "ab", "c"),
		"a moved border":        mac.Sum(key, "reply", "a", "bc"),
		"one part":              mac.Sum(key, "reply", "abc"),
		"an empty part":         mac.Sum(key, "reply", "ab", "c", ""),
		"no part":               mac.Sum(key, "reply"),
		"a part with lengths":   mac.Sum(key, "reply", "ab\n1 c"),
		"a longer purpose":      mac.Sum(key, "reply 2", "ab", "c"),
		"a part like a purpose": mac.Sum(key, "rep", "ly\n2 ab", "c"),
	} {
		if other, ok := seen[string(sum)]; ok {
			t.Errorf("%s has the sum of %s", name, other)
		}
		seen[string(sum)] = name
	}
}

// The form of a sum must never change, because mails that people have received contain sums.
func TestSumOfAnEarlierReleaseIsTheSame(t *testing.T) {
	const want = "78baa267915d6a3b6cfd3054cf3ed27c0501527dd91a41570fd7a449a62b4f79"
	if got := hex.EncodeToString(mac.Sum(key, "email reply", "ask_1", "ana", "0")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
