// Package search splits texts into words, and parses search queries. A word is a run of letters and digits;
// anything else separates words. Case is ignored. Each character of a script that is written without spaces,
// such as Chinese, is a word.
package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is the length in bytes at which a word ends. The rest is the next word. Without a
// limit, an encoded file would be one word.
const maxWord = 60

// A Phrase is a sequence of words that must be adjacent. If Prefix is true, the last word matches the
// beginning of a word.
type Phrase struct {
	Words  []string
	Prefix bool
}

// A word is a word in a text, with its position.
type word struct {
	text       string // the word in lower case
	start, end int
}

// unspaced are the scripts that are written without spaces.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// eachWord calls use for the words of a text, until use returns false.
func eachWord(text string, use func(word) bool) {
	start := -1
	flush := func(end int) bool {
		if start < 0 {
			return true
		}
		w := word{strings.ToLower(text[start:end]), start, end}
		start = -1
		return use(w)
	}
	for i, r := range text {
		inWord := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
		single := inWord && r >= 0x0e00 && unicode.In(r, unspaced...)
		if (!inWord || single || start >= 0 && i-start >= maxWord) && !flush(i) {
			return
		}
		switch {
		case single:
			start = i
			if !flush(i + utf8.RuneLen(r)) {
				return
			}
		case inWord && start < 0:
			start = i
		}
	}
	flush(len(text))
}

// AppendWords appends the words of a text to b, each with a space after it. It stops before b is longer than
// limit bytes.
func AppendWords(b []byte, text string, limit int) []byte {
	eachWord(text, func(w word) bool {
		if len(b)+len(w.text) >= limit {
			return false
		}
		b = append(append(b, w.text...), ' ')
		return true
	})
	return b
}

// maxPhrases is the maximum number of phrases in a search, and of words in a phrase. Further phrases and
// words are ignored.
const maxPhrases = 20

// Parse returns the phrases that a text must contain for a search. A phrase is the words in quotes, or words
// without a space in between, such as "db.migrate". The last word may be the beginning of a word, unless the
// last word is in quotes or is a single letter. For a single letter, the index would have to read all words
// that begin with that letter.
func Parse(query string) (all []Phrase) {
	for i, part := range strings.Split(query, `"`) {
		pieces := strings.FieldsFunc(part, unicode.IsSpace)
		if i%2 == 1 {
			pieces = []string{part}
		}
		for _, piece := range pieces {
			var p Phrase
			eachWord(piece, func(w word) bool {
				p.Words = append(p.Words, w.text)
				return len(p.Words) < maxPhrases
			})
			if len(p.Words) > 0 && len(all) < maxPhrases {
				all = append(all, p)
			}
		}
		if i%2 == 0 && len(pieces) > 0 && len(all) > 0 {
			all[len(all)-1].Prefix = strings.Count(query, `"`) == i && endsInWord(part) &&
				utf8.RuneCountInString(lastWord(all)) > 1
		}
	}
	return all
}

// lastWord returns the last word of the last phrase.
func lastWord(all []Phrase) string {
	words := all[len(all)-1].Words
	return words[len(words)-1]
}

// endsInWord reports whether a text ends in a letter or digit.
func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// A Match is a part of a text that a phrase matches: text[Start:End].
type Match struct{ Start, End int }

// Find returns at most limit parts of a text that phrases match. The parts are in order and do not overlap.
func Find(text string, phrases []Phrase, limit int) (found []Match) {
	var words []word
	eachWord(text, func(w word) bool {
		words = append(words, w)
		return true
	})
	for i := 0; i < len(words) && len(found) < limit; i++ {
		longest := 0
		for _, p := range phrases {
			if p.matches(words[i:]) {
				longest = max(longest, len(p.Words))
			}
		}
		if longest > 0 {
			found = append(found, Match{words[i].start, words[i+longest-1].end})
			i += longest - 1
		}
	}
	return found
}

// matches reports whether words begin with the phrase.
func (p Phrase) matches(words []word) bool {
	if len(words) < len(p.Words) {
		return false
	}
	for i, w := range p.Words {
		if got := words[i].text; got != w && !(p.Prefix && i == len(p.Words)-1 && strings.HasPrefix(got, w)) {
			return false
		}
	}
	return true
}
