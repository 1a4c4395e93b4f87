// Package lookalike finds texts that people cannot tell apart.
package lookalike

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// latin replaces letters that most typefaces draw like a Latin letter. It has the part
// of the table of UTS 39 for the scripts that are used for such deception.
var latin = strings.NewReplacer(pairs(
	"aаα", "bЬ", "cсϲց", "dԁ", "eе", "gց", "hһհ", "iіι", "jјյ", "kкκ", "lӏ", "nпո", "oоοօ", "pрρ", "qԛզ", "rг", "sѕ",
	"tтτ", "uцυս", "vѵν", "wԝω", "xхχ", "yуγ",
	"AАΑ", "BВΒ", "CС", "EЕΕ", "HНΗ", "IІΙӀ", "JЈ", "KКΚ", "MМΜ", "NΝ", "OОΟՕ", "PРΡ", "SЅՏ", "TТΤ", "UՍ", "XХΧ", "YУΥ", "ZΖ",
)...)

func pairs(rows ...string) []string {
	var out []string
	for _, row := range rows {
		for _, r := range row[1:] {
			out = append(out, string(r), row[:1])
		}
	}
	return out
}

// Latin returns s with letters that look Latin replaced by Latin letters.
func Latin(s string) string { return latin.Replace(s) }

// Skeleton returns what people see of a text. Texts with the same skeleton look alike: they differ
// only in characters that are not seen, in spaces around words, in the Unicode form of characters,
// such as full-width ones, or in letters of several scripts. Capitals stay different.
func Skeleton(s string) string {
	if isPlain(s) {
		return strings.TrimSpace(s)
	}
	s = strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(s))
	return strings.Join(strings.Fields(Latin(s)), " ")
}

// isPlain reports whether s has only printable characters of ASCII, and no two spaces in a row.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == ' ' && i > 0 && s[i-1] == ' ' {
			return false
		}
	}
	return true
}

// isInvisible reports whether a character is not drawn: marks of the direction, joiners, soft
// hyphens, variation selectors, fillers and the like.
func isInvisible(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x034F:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector) || unicode.IsControl(r) && !unicode.IsSpace(r)
}
