package view

import (
	"strings"

	"github.com/askback/askback/internal/markdown"
)

// fenced returns a preview as formatted text if it has blocks of code between fences and
// text around them. Otherwise it returns nil, and the preview is shown exactly.
func fenced(s string) Markdown {
	if unfenced(s) == s {
		return nil
	}
	doc := markdown.Parse(s)
	if len(doc) < 2 {
		return nil
	}
	return doc
}

// unfenced removes the Markdown code fences from a preview, which is shown as code
// anyway. It returns s unchanged if a fence is not closed.
func unfenced(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	var out []string
	open := false
	for line := range strings.SplitSeq(s, "\n") {
		label, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		if fence && !strings.Contains(label, "`") && (label == "" || !open) {
			open = !open
			continue
		}
		out = append(out, line)
	}
	if open {
		return s
	}
	return strings.Join(out, "\n")
}
