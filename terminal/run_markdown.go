package terminal

import (
	"strings"

	"github.com/askback/askback/internal/text/markdown"
	"github.com/askback/askback/internal/text/safetext"
)

// maxRunIndent is the maximum number of spaces before a line of the agent that are kept.
const maxRunIndent = 12

// agentLine draws a whole line of the agent as Markdown. Each line is drawn as soon as it has arrived, so marks that
// span several lines are text, and so are the bars of a table. Lines between fences are drawn exactly. The first
// line of a message has the word "agent" in the margin.
func (v *RunView) agentLine(f *frame, line safetext.Text, isFirst bool) {
	word := ""
	if isFirst {
		word, v.fence = "agent", ""
	}
	text := strings.TrimLeft(line.String(), " ")
	mark := fenceMark(text)
	rest := strings.TrimSpace(text[len(mark):])
	switch {
	case v.fence != "" && strings.HasPrefix(mark, v.fence) && rest == "":
		v.fence = ""
	case v.fence != "":
		f.exactLines(word, plain, "  ", line)
	case mark != "":
		if v.fence = mark; rest != "" || isFirst {
			f.row(word, gutter, dim, cutRow(rest, f.width))
		}
	default:
		indent := strings.Repeat(" ", min(len(line.String())-len(text), maxRunIndent, f.width/3))
		if doc := markdown.Parse(text); len(doc) > 0 {
			f.document(word, plain, indent, doc)
		} else {
			f.row(word, gutter, plain, "")
		}
	}
}

// fenceMark returns the backticks of a line that begins or ends a block of code, or "".
func fenceMark(line string) string {
	n := len(line) - len(strings.TrimLeft(line, "`"))
	if n < 3 || strings.Contains(line[n:], "`") {
		return ""
	}
	return line[:n]
}
