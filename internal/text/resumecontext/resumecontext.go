// Package resumecontext defines the form of a resume context, which lists for an agent the asks that were
// settled since its turn ended (docs/wire.md §6).
package resumecontext

import "strings"

// Tags around a resume context.
const (
	Open  = "<resume-context>"
	Close = "</resume-context>"
)

// Strip removes each resume context from text for people, together with the white space after the context. A
// context without a closing tag is kept, so that an agent cannot hide text by omitting the tag.
func Strip(text string) string {
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, Open)
		_, after, ends := strings.Cut(after, Close)
		if !found || !ends {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(before)
		rest = strings.TrimLeft(after, " \t\r\n")
	}
}
