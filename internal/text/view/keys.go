package view

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/askback/askback"
)

// An alphabet determines the keys for the choices of a question. In the alphabet "", the keys are 1, 2 and so
// on. In the alphabet "a", they are a, b and so on. In the alphabets "#" and "##", each number has these
// signs in front, as in #1 and ##1.
type alphabet string

const letters alphabet = "a"

// numberSigns are the signs in numbers and dates, such as -1, 2.5, 1,000 and 2026-01-31.
const numberSigns = "+-.,_ "

// keysFor returns the first alphabet in which no label looks like a key: numbers, letters,
// or numbers after one or more # (docs/wire.md §9). So input is never ambiguous.
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

// isNumber reports whether s has at least one digit, and no characters but digits and the
// given signs.
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

// key returns the key of the choice with index i.
func (k alphabet) key(i int) string {
	if k != letters {
		return string(k) + strconv.Itoa(i+1)
	}
	if i < 26 {
		return string(rune('a' + i))
	}
	return string(rune('a'+i/26-1)) + string(rune('a'+i%26))
}

// has reports whether s has the form of a key. In the alphabet letters, only a single letter has this form.
func (k alphabet) has(s string) bool {
	if k == letters {
		return len(s) == 1 && unicode.IsLetter(rune(s[0]))
	}
	digits, ok := strings.CutPrefix(s, string(k))
	_, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil
}
