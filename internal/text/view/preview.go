package view

import (
	"strings"

	"github.com/askback/askback/internal/text/markdown"
)

// fenced returns a preview as formatted text, if [unfenced] removes fences from the preview, and the preview
// has a label or text around its code. Otherwise it returns nil, and the preview is shown exactly.
func fenced(s string) Markdown {
	if unfenced(s) == s {
		return nil
	}
	doc := markdown.Parse(s)
	if len(doc) == 1 {
		if code, ok := doc[0].(markdown.Code); ok && code.Label.String() == "" {
			return nil
		}
	}
	return doc
}

// isLanguage reports whether the label of a block of code is only the name of a language, with no other text
// to read.
func isLanguage(label string) bool {
	label = strings.TrimSpace(label)
	return len(label) <= 20 && strings.Trim(
		label, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#._-",
	) == "" && !strings.ContainsAny(label, " \t")
}

// unfenced removes the Markdown code fences from a preview, which is shown as code anyway. It returns s
// unchanged if a fence is not closed. It also returns s if a fence has more text than the name of a language,
// because that text would be lost.
func unfenced(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	var out []string
	open := false
	for line := range strings.SplitSeq(s, "\n") {
		label, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		if fence && !open && !isLanguage(label) {
			return s
		}
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
