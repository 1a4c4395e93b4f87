// Package lookalike finds texts that people cannot tell apart (T9).
package lookalike

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// latin maps letters to the Latin letters that most typefaces draw alike. It is the part of the table of UTS
// 39 for the scripts that are used for such deception.
var latin = strings.NewReplacer(pairs(
	"aаα", "bЬ", "cсϲց", "dԁ", "eе", "gց", "hһհ", "iіι", "jјյ", "kкκ", "lӏ", "nпո", "oоοօ", "pрρ", "qԛզ", "rг", "sѕ",
	"tтτ", "uцυս", "vѵν", "wԝω", "xхχ", "yуγ",
	"AАΑ", "BВΒ", "CС", "EЕΕ", "HНΗ", "IІΙӀ", "JЈ", "KКΚ", "MМΜ", "NΝ", "OОΟՕ", "PРΡ", "SЅՏ", "TТΤ", "UՍ", "XХΧ",
	"YУΥ", "ZΖ",
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

// Skeleton returns the visible form of a text. Texts with the same skeleton look alike. They differ only in
// invisible characters, in white space, in the Unicode form of characters such as full-width letters, or in
// letters of several scripts. Capitals stay different.
func Skeleton(s string) string {
	if isPlain(s) {
		return strings.TrimSpace(s)
	}
	s = strings.Map(func(r rune) rune {
		if IsInvisible(r) {
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

// IsInvisible reports whether a character is not drawn: marks of the direction, joiners, soft
// hyphens, variation selectors, fillers and the like.
func IsInvisible(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x034F:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector) || unicode.IsControl(r) && !unicode.IsSpace(r)
}

// Fold returns the same string for names that look alike or differ only in case. Some programs ignore case.
func Fold(s string) string { return strings.ToLower(strings.ToUpper(Skeleton(s))) }

// Of returns the skeleton of name, and reports whether name imitates another name. An imitation looks like
// ASCII, has compatibility characters such as full-width letters, or mixes Latin letters with a similar
// script in a word. Invisible characters alone are not reported: package safetext marks them.
func Of(name string) (as string, ok bool) {
	seen := strings.Map(func(r rune) rune {
		if IsInvisible(r) {
			return -1
		}
		return r
	}, name)
	seen = strings.Join(strings.Fields(seen), " ")
	if as = Skeleton(name); as == seen {
		return "", false
	}
	return as, isASCII(as) || norm.NFC.String(seen) != norm.NFKC.String(seen) || mixed(seen)
}

// mixed reports whether a word of name has both Latin letters and Cyrillic, Greek or Armenian letters.
func mixed(name string) bool {
	var latin, other bool
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.Is(unicode.M, r):
			latin, other = false, false
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian):
			other = true
		}
		if latin && other {
			return true
		}
	}
	return false
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }
