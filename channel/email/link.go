package email

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// joiner is an invisible character at which no line breaks. Mail programs make links of text that looks like
// an address. A joiner in the text prevents this.
const joiner = '\u2060'

// linkable matches text of which mail programs make a link, and text that may be the name of a host.
var linkable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://\S+` +
		`|www\.\S+` +
		`|mailto:\S+|(?:tel|sms|callto):[+\d]\S*|magnet:\?\S+` +
		`|\\\\[\p{L}\p{N}_.-]+\\\S*` +
		`|[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+` +
		`|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
})

// host matches a text that consists of the name of a host.
var host = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$`)
})

// addresses returns the parts of s of which a mail program makes links, as indexes of the first byte and of
// the byte after the last. Names of files and of functions are parts only if they end like the name of a
// host, and if they are neither in a code span nor in a path.
func addresses(s string) (all [][]int) {
	if !strings.ContainsAny(s, `.:@\`) {
		return nil
	}
	code := codeSpans(s)
	for _, at := range linkable().FindAllStringIndex(s, -1) {
		found := s[at[0]:at[1]]
		before, _ := utf8.DecodeLastRuneInString(s[:at[0]])
		inWord := at[0] > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before))
		_, domain, isMail := strings.Cut(found, "@")
		switch {
		case strings.Contains(found, "://"), isMail && isHost(domain):
		case host().MatchString(found) && !hasFold(found, "www."):
			after, _ := utf8.DecodeRuneInString(s[at[1]:])
			inPath := at[0] > 0 && strings.ContainsRune(`/\._~@-`, before)
			if inPath || strings.ContainsRune("([{=_\\", after) && at[1] < len(s) || !isRegistered(found) ||
				slices.ContainsFunc(code, func(c []int) bool { return c[0] <= at[0] && at[1] <= c[1] }) {
				continue
			}
		case isMail && !hasFold(found, "mailto:"), inWord, strings.HasPrefix(found, `\\`) && before == ':':
			continue
		}
		all = append(all, at)
	}
	return all
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// isHost reports whether the last label of a name consists of letters, unlike the version in pkg@1.2.3.
func isHost(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return utf8.RuneCountInString(last) > 1 &&
		!strings.ContainsFunc(last, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isRegistered reports whether a name ends with a suffix below which people register names, such as com.
func isRegistered(name string) bool {
	suffix, icann := publicsuffix.PublicSuffix(strings.ToLower(name))
	return icann || strings.Contains(suffix, ".")
}

// codeSpans returns the parts of a line between backticks.
func codeSpans(s string) (all [][]int) {
	open := -1
	for i := range len(s) {
		switch {
		case s[i] != '`':
		case open < 0:
			open = i
		default:
			all, open = append(all, []int{open, i + 1}), -1
		}
	}
	return all
}

// linkBreaks returns the indexes of bytes in s before which a break prevents a link.
func linkBreaks(s string) (at []int) {
	for _, part := range addresses(s) {
		previous := ' '
		for i, r := range s[part[0]:part[1]] {
			if strings.ContainsRune(`.:@\`, previous) {
				at = append(at, part[0]+i)
			}
			previous = r
		}
	}
	return at
}

// unlink returns s with a joiner at each break of a link (T7).
func unlink(s string) string {
	var b strings.Builder
	last := 0
	for _, i := range linkBreaks(s) {
		b.WriteString(s[last:i])
		b.WriteRune(joiner)
		last = i
	}
	return b.String() + s[last:]
}

// exactMarkup returns s as HTML for an element in which spaces are kept. What a person copies is s: an
// element without text is at each break of a link.
func exactMarkup(s string) string {
	var b strings.Builder
	last := 0
	for _, i := range linkBreaks(s) {
		b.WriteString(html.EscapeString(s[last:i]) + "<wbr>")
		last = i
	}
	return b.String() + html.EscapeString(s[last:])
}
