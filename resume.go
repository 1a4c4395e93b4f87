package askback

import "strings"

// The tags around a resume context, which lists for an agent the asks that were settled
// since its turn ended (docs/wire.md §6).
const (
	ResumeOpen  = "<resume-context>"
	ResumeClose = "</resume-context>"
)

// StripResumeContext removes each resume context, and the white space after it, from
// text for people. A context without a closing tag is kept, so that an agent cannot
// hide text by omitting the tag.
func StripResumeContext(text string) string {
	var b strings.Builder
	for rest := text; ; {
		before, after, found := strings.Cut(rest, ResumeOpen)
		_, after, ends := strings.Cut(after, ResumeClose)
		if !found || !ends {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(before)
		rest = strings.TrimLeft(after, " \t\r\n")
	}
}
