package markdown

import (
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// item is the beginning of a list item.
type item struct {
	kind   kind
	marker string // "-", or "3."
	width  int    // columns from the marker to the text
}

// itemOf reads the marker of "- text", "* text", "+ text", "3. text" or "3) text". A marker
// without text is not an item.
func itemOf(front string) item {
	n := len(front) - len(strings.TrimLeft(front, "0123456789"))
	it := item{kind: number}
	switch {
	case n > 0 && n < min(len(front), 10) && (front[n] == '.' || front[n] == ')'):
		n++
	case n == 0 && front != "" && strings.IndexByte("-*+", front[0]) >= 0:
		it.kind = bullet
		n = 1
	default:
		return item{}
	}
	it.marker = front[:n]
	it.width = n + indent(front[n:])
	if it.width == n || strings.TrimSpace(front[n:]) == "" {
		return item{}
	}
	return it
}

// list reads the items of a list, with blank lines between them. It returns the list and the number of lines.
func (p *parser) list(rest []string, depth int) (Block, int) {
	var l List
	n, end := 0, 0
	for n < len(rest) {
		k := p.kind(rest[n:], depth)
		if k == blank {
			n++
			continue
		}
		if k != bullet && k != number {
			break
		}
		it, size := p.item(rest[n:], depth)
		l.Items = append(l.Items, it)
		n += size
		end = n
	}
	return l, end
}

// item reads one item, with the lines below it that are indented by at least two spaces
// more than its marker.
func (p *parser) item(rest []string, depth int) (Item, int) {
	in := indent(rest[0])
	head := itemOf(rest[0][in:])
	inner := []string{rest[0][in+head.width:]}
	n := 1
	for i, line := range rest[1:] {
		p.work += len(line) + 1
		empty := strings.TrimSpace(line) == ""
		if !empty && indent(line) < in+2 {
			break
		}
		inner = append(inner, dedent(line, in+head.width))
		if !empty {
			n = i + 2
		}
	}
	it := Item{Blocks: p.blocks(inner[:n], depth+1)}
	if head.kind == number {
		it.Marker = safetext.Line(head.marker)
	}
	return it, n
}
