package askback

import "strings"

// The tags of a resume context, which tells an agent what happened while its turn was over.
const (
	ResumeOpen  = "<resume-context>"
	ResumeClose = "</resume-context>"
)

// StripResumeContext removes each whole resume context, and the space after it, from a
// text that people are to see. A block that does not end is no block: nothing can be
// hidden by leaving the end out.
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
