package view

import "strings"

// unfenced returns a preview without the lines that begin and end blocks of code in
// Markdown: a preview is drawn as code. Where they are not pairs, nothing is left out.
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
