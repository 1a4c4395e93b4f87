package view

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/askback/askback"
)

// An alphabet numbers the choices of a question: "" gives the keys 1, 2, 3; "a" gives
// a, b, c; "#" gives #1, #2, #3; "##" gives ##1, ##2, ##3.
type alphabet string

const letters alphabet = "a"

// numberSigns are the signs in numbers and dates, such as -1, 2.5, 1,000 and 2026-01-31.
const numberSigns = "+-.,_ "

// keysFor returns numbers, or letters if a label is a number (docs/wire.md, section 9).
// If a label is also one of these letters, it puts # before the numbers until no label
// looks like a key. So input is never ambiguous.
func keysFor(q askback.Question) alphabet {
	for keys := alphabet(""); ; keys = keys.next() {
		if !keys.clashes(q) {
			return keys
		}
	}
}

func (k alphabet) next() alphabet {
	switch k {
	case "":
		return letters
	case letters:
		return "#"
	}
	return k + "#"
}

// clashes reports whether a label of the question looks like a key.
func (k alphabet) clashes(q askback.Question) bool {
	for _, o := range q.Options {
		label := strings.TrimSpace(o.Label)
		if k.has(label) || k == "" && isNumber(label, numberSigns) {
			return true
		}
		for i := range len(q.Options) + 1 {
			if strings.EqualFold(label, k.key(i)) {
				return true
			}
		}
	}
	return false
}

// isNumber reports whether s is made of digits and the given signs.
func isNumber(s, signs string) bool {
	digits := false
	for _, r := range s {
		digits = digits || unicode.IsDigit(r)
		if !unicode.IsDigit(r) && !strings.ContainsRune(signs, r) {
			return false
		}
	}
	return digits
}

// key returns the i-th key, from 0.
func (k alphabet) key(i int) string {
	if k != letters {
		return string(k) + strconv.Itoa(i+1)
	}
	if i < 26 {
		return string(rune('a' + i))
	}
	return string(rune('a'+i/26-1)) + string(rune('a'+i%26))
}

// has reports whether s has the form of a key.
func (k alphabet) has(s string) bool {
	if k == letters {
		return len(s) == 1 && unicode.IsLetter(rune(s[0]))
	}
	digits, ok := strings.CutPrefix(s, string(k))
	_, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil
}
