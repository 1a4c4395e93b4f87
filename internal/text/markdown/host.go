package markdown

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// suspicion returns the reason to check the target of a link, or "". The argument user is true if the address
// has a user name. The argument text is the text of the link, unless the text is the address.
func suspicion(host string, user bool, text string) string {
	host = strings.ToLower(host)
	switch {
	case user:
		return "Check this link: its address has a name before an @, and leads to the host after it."
	case strings.HasPrefix(host, "xn--") || strings.Contains(host, ".xn--"):
		return "Check this link: the host is encoded (xn--), and browsers may display it as another."
	case isOddNumber(host):
		return "Check this link: the host is a number in a form that is hard to read."
	case strings.ContainsFunc(host, isOdd):
		return "Check this link: the host has characters that only look like ordinary ones."
	}
	for label := range strings.SplitSeq(host, ".") {
		if isMixed(label) {
			return "Check this link: the host mixes letters of several scripts that can look alike."
		}
		if imitatesLatin(label, host) {
			return "Check this link: the host has letters that look Latin but are not."
		}
	}
	if named := hostsIn(text); len(named) > 0 && !slices.Contains(named, trimHost(host)) {
		return "Check this link: its text names another host than its address."
	}
	return ""
}

// trimHost returns a host in lower case, without "www." and a final dot.
func trimHost(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(host), "www."), ".")
}

// isOdd reports whether a character is unusual in a host: not ASCII, and not a letter,
// mark, digit or middle dot. An example is a full-width full stop.
func isOdd(r rune) bool {
	return r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsMark(r) &&
		!unicode.IsDigit(r) && r != '·' && r != '・'
}

// isOddNumber reports whether a host ends in a number, but is not four plain decimal
// numbers. Browsers read many such hosts as an IP address, as in 2130706433, 0x7f.1 or
// 010.0.0.1.
func isOddNumber(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	if _, err := strconv.ParseUint(last, 0, 64); err != nil && strings.Trim(last, "0123456789") != "" {
		return false
	}
	if host == "" || strings.Contains(host, ":") {
		return false // not a number, or IPv6
	}
	for _, l := range labels {
		n, err := strconv.ParseUint(l, 10, 8)
		if err != nil || strconv.FormatUint(n, 10) != l {
			return true
		}
	}
	return len(labels) != 4
}

// scriptSets are the sets of scripts that one word may mix (UTS 39, highly restrictive).
var scriptSets = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// isMixed reports whether a label has letters of several scripts that are not all in one of
// scriptSets.
func isMixed(label string) bool {
	var scripts []string
	for _, r := range label {
		if s := scriptOf(r); s != "" && !slices.Contains(scripts, s) {
			scripts = append(scripts, s)
		}
	}
	return len(scripts) > 1 && !slices.ContainsFunc(scriptSets, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// scriptOf returns the script of a letter, or "" if several scripts share the character. No
// character is in two tables, so the order of the search does not matter.
func scriptOf(r rune) string {
	if r <= unicode.MaxASCII {
		if unicode.IsLetter(r) {
			return "Latin"
		}
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) && name != "Common" && name != "Inherited" {
			return name
		}
	}
	return ""
}

// imitatesLatin reports whether a label has letters that imitate common Latin letters: rare Latin letters, or
// letters of other scripts. Letters of other scripts count only if the top-level domain of host is in ASCII
// and the whole label looks like ASCII.
func imitatesLatin(label, host string) bool {
	if strings.ContainsFunc(label, func(r rune) bool { return unicode.Is(unicode.Latin, r) && !isCommon(r) }) {
		return true
	}
	top := host[strings.LastIndex(host, ".")+1:]
	return isASCII(top) && !isASCII(label) && isASCII(Skeleton(label))
}

// isCommon reports whether European languages or Vietnamese use a Latin letter.
func isCommon(r rune) bool {
	switch {
	case r == 'ı', r == 'ĸ', r == 'ŀ', r == 'ŉ', r == 'ſ':
		return false
	case r < 0x180, r >= 0x218 && r <= 0x21b, r >= 0x1ea0 && r <= 0x1ef9:
		return true
	}
	return strings.ContainsRune("ƠơƯư", r)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// hostsIn returns the hosts that the text of a link seems to name.
func hostsIn(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "()[]<>\"'`*.,;:!?")
		_, after, full := strings.Cut(word, "://")
		if !full {
			after = word
		}
		host := after[strings.LastIndex(before(after, "/"), "@")+1:]
		host = trimHost(before(before(before(host, "/"), ":"), "?"))
		if full || isHost(host) {
			out = append(out, host)
		}
	}
	return out
}

func before(s, mark string) string {
	s, _, _ = strings.Cut(s, mark)
	return s
}

// isHost reports whether a word is probably a host such as example.com, and not a file such
// as main.go. If the last label is also a file extension, a host has at least three labels.
func isHost(s string) bool {
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || strings.ContainsFunc(l, func(r rune) bool {
			return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return false
		}
	}
	end := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || strings.ContainsFunc(end, unicode.IsDigit):
		return false
	case slices.Contains(domains, end):
		return true
	case len(end) == 2:
		return !slices.Contains(files, end) || len(labels) > 2
	}
	return !isASCII(s)
}

var (
	domains = []string{
		"com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "app", "dev", "cloud", "online", "site",
		"shop", "xyz", "example", "test",
	}
	files = []string{
		"as", "bz", "cc", "cs", "db", "el", "ex", "go", "gz", "hs", "jl", "js", "kt", "md", "mk", "ml", "mm", "pl",
		"ps", "py", "rb", "rs", "sh", "so", "tf", "ts", "vb", "vi", "xz",
	}
)
