package pages

import (
	"context"
	"io"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// longWord is the number of characters of a word that may be longer than a row on a phone.
const longWord = 16

// breakable writes a text in which a browser breaks a long identifier between its parts, such as before Split in
// TestCheckoutSplitPayments. The text stays the same, also when it is copied.
func breakable(t view.Text) templ.Component { return breakableString(t.String()) }

// breakableString is like [breakable], for a part of a text.
func breakableString(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for i, part := range wordParts(s) {
			if i > 0 {
				b.WriteString("<wbr>")
			}
			b.WriteString(templ.EscapeString(part))
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// pathParts splits the path of a file after its last separator.
func pathParts(t view.Text) (folder, name string) {
	s := t.String()
	at := strings.LastIndexAny(strings.TrimRight(s, `/\`), `/\`) + 1
	return s[:at], s[at:]
}

// wordParts splits a text at the places inside of long words at which it may be broken: before a capital after a
// small letter or a digit, and after a sign that joins words.
func wordParts(s string) (parts []string) {
	start := 0
	for at := 0; at < len(s); {
		length := strings.IndexFunc(s[at:], unicode.IsSpace)
		if length < 0 {
			length = len(s) - at
		}
		word := s[at : at+length]
		if len(word) >= longWord {
			before := ' '
			for i, r := range word {
				isPart := unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) ||
					strings.ContainsRune("_./:=,@&?", before) && (unicode.IsLetter(r) || unicode.IsDigit(r))
				if isPart {
					parts, start = append(parts, s[start:at+i]), at+i
				}
				before = r
			}
		}
		at += length + 1
	}
	return append(parts, s[start:])
}
