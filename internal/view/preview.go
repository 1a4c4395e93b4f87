package view

import "strings"

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
