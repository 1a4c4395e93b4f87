package markdown

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// maxURL is the maximum length of a link's address, in bytes. A longer address is text.
const maxURL = 2000

// link reads [text](address). Otherwise the opening bracket is text. Brackets in the text and spaces in the
// address are not allowed, so that nothing is read twice. Titles are not supported, as they are hidden.
func (l *inline) link(rest string) {
	n := strings.IndexAny(rest[1:], "[]") + 1
	if n == 0 {
		n = len(rest)
	}
	l.work += n
	if !strings.HasPrefix(rest[n:], "](") {
		l.pos++
		return
	}
	size := destination(rest[n+2:])
	l.work += size
	end := n + 2 + size
	if end == len(rest) || rest[end] != ')' {
		l.pos++
		return
	}
	text := rest[1:n]
	link := linkTo(rest[n+2:end], text)
	if link == nil {
		l.pos++
		return
	}
	p := piece{text: text, link: link}
	if inner := strings.Trim(text, "`"); len(inner) == len(text)-2 && text[0] == '`' && !strings.Contains(inner, "`") {
		p.text, p.code = inner, true
	}
	l.put(p, l.pos+end+1)
}

// destination returns the length of the address at the start of s. The address ends before white space, one
// of [ < > " and \, or a parenthesis that closes no other parenthesis.
func destination(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		case ' ', '\t', '\n', '\r', '[', '<', '>', '"', '\\':
			return i
		}
	}
	return len(s)
}

// address reads an http or https address that is not part of [text](address).
func (l *inline) address(rest string) {
	before, _ := utf8.DecodeLastRuneInString(l.src[:l.pos])
	if !hasScheme(rest) ||
		l.pos > 0 && before < utf8.RuneSelf && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
		l.pos++
		return
	}
	size := strings.IndexFunc(rest, func(r rune) bool { return !inAddress(r) })
	if size < 0 {
		size = len(rest)
	}
	l.work += size
	size = len(trimAddress(rest[:size]))
	if link := linkTo(rest[:size], rest[:size]); link != nil {
		l.put(piece{text: rest[:size], link: link}, l.pos+size)
		return
	}
	l.pos += size
}

func hasScheme(s string) bool {
	s = strings.ToLower(s[:min(len(s), len("https://"))])
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// inAddress reports whether an address outside [text](address) may contain r. It may
// contain letters of all scripts: a link that ended before an unusual letter would lead to
// another address.
func inAddress(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r != 0x7f && !strings.ContainsRune("<>\"`\\^{}|", r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// trimAddress removes the characters that end a sentence, stars, and a closing parenthesis
// that was opened before the address.
func trimAddress(s string) string {
	open := strings.Count(s, "(") - strings.Count(s, ")")
	for s != "" {
		last := s[len(s)-1]
		switch {
		case last == ')' && open < 0:
			open++
		case strings.IndexByte(".,;:!?'*]_~", last) < 0:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

// linkTo returns the link to an http, https or mailto address, or nil if the address is too
// long or not valid. It also returns nil unless the address is displayed exactly as a
// browser reads it. Browsers read a backslash as a slash, so such an address is text.
func linkTo(address, text string) *Link {
	if len(address) > maxURL || strings.Contains(address, `\`) || safetext.Code(address).String() != address {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	host := u.Hostname()
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Opaque != "" || host == "" {
			return nil
		}
	case "mailto":
		to, _, _ := strings.Cut(u.Opaque, "?")
		if host = to[strings.LastIndex(to, "@")+1:]; host == to || host == "" {
			return nil
		}
	default:
		return nil
	}
	l := &Link{URL: safetext.Code(address), Host: safetext.Code(host)}
	if text == address {
		text = "" // the text is the address
	}
	if l.Suspicious = suspicion(host, u.User != nil, text); l.Suspicious != "" {
		l.Host = safetext.Code(withCodePoints(host))
	}
	return l
}

// withCodePoints replaces characters that are not ASCII by their code points. Otherwise a
// deceptive letter would deceive in the warning, too.
func withCodePoints(host string) string {
	var b strings.Builder
	for _, r := range host {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
