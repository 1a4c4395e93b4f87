package markdown

import (
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// maxDepth is the maximum depth of nested lists and quotes. Deeper marks are text.
const maxDepth = 4

// parser parses a document. It counts the bytes that it reads, so that a test can check
// that parsing takes linear time.
type parser struct{ work int }

// kind is the kind of block that begins with a line.
type kind uint8

const (
	words kind = iota
	blank
	fence
	indented
	heading
	rule
	quote
	table
	bullet
	number
)

// lines splits src into lines that end with \n or \r\n. It replaces each tab at the start
// of a line by four spaces.
func lines(src string) []string {
	all := strings.Split(src, "\n")
	for i, line := range all {
		if i < len(all)-1 {
			line = strings.TrimSuffix(line, "\r")
		}
		front := len(line) - len(strings.TrimLeft(line, " \t"))
		if strings.Contains(line[:front], "\t") {
			line = strings.ReplaceAll(line[:front], "\t", "    ") + line[front:]
		}
		all[i] = line
	}
	return all
}

func (p *parser) blocks(rest []string, depth int) []Block {
	var out []Block
	for len(rest) > 0 {
		var b Block
		n := 1
		switch p.kind(rest, depth) {
		case blank:
		case fence:
			b, n = p.fence(rest)
		case indented:
			b, n = p.indented(rest)
		case heading:
			b = p.heading(rest[0])
		case rule:
			b = Rule{}
		case quote:
			b, n = p.quote(rest, depth)
		case table:
			b, n = p.table(rest)
		case bullet, number:
			b, n = p.list(rest, depth)
		default:
			b, n = p.paragraph(rest, depth)
		}
		if b != nil {
			out = append(out, b)
		}
		rest = rest[n:]
	}
	return out
}

// kind returns the kind of block that begins with the first line. For a table it also reads
// the second line.
func (p *parser) kind(rest []string, depth int) kind {
	line := rest[0]
	p.work += len(line) + 1
	in := indent(line)
	front := line[in:]
	switch {
	case strings.TrimSpace(front) == "":
		return blank
	case in >= 4:
		return indented
	case fenceOf(front) != "":
		return fence
	case headingOf(front) > 0:
		return heading
	case isRule(front):
		return rule
	case depth < maxDepth && front[0] == '>':
		return quote
	case len(rest) > 1 && strings.Contains(front, "|") && p.isDivider(rest[1]):
		return table
	case depth < maxDepth:
		return itemOf(front).kind
	}
	return words
}

// indent returns the number of spaces at the start of a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// dedent removes at most n spaces from the start of a line.
func dedent(line string, n int) string { return line[min(indent(line), n):] }

// run returns the number of times that c is repeated at the start of s.
func run(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(rune(c)))) }

// fenceOf returns the fence at the start of a line without its indentation, or "".
func fenceOf(front string) string {
	for _, c := range []byte("`~") {
		n := run(front, c)
		if n >= 3 && (c == '~' || !strings.Contains(front[n:], "`")) {
			return front[:n]
		}
	}
	return ""
}

// fence reads code up to a closing fence, or to the end. It also returns the number of
// lines read.
func (p *parser) fence(rest []string) (Block, int) {
	in := indent(rest[0])
	open := fenceOf(rest[0][in:])
	label := strings.TrimSpace(rest[0][in+len(open):])
	n := 1
	var code []string
	for n < len(rest) {
		line := rest[n]
		p.work += len(line) + 1
		n++
		if end := strings.TrimSpace(line); indent(line) < 4 && len(end) >= len(open) && run(end, open[0]) == len(end) {
			break
		}
		code = append(code, dedent(line, in))
	}
	return Code{Label: safetext.Line(label), Text: safetext.Code(strings.Join(code, "\n"))}, n
}

// indented reads code that is indented by four spaces, and returns the number of its lines. Blank lines
// inside the code belong to the code.
func (p *parser) indented(rest []string) (Block, int) {
	var code []string
	n := 0
	for i, line := range rest {
		p.work += len(line) + 1
		empty := strings.TrimSpace(line) == ""
		if !empty && indent(line) < 4 {
			break
		}
		code = append(code, dedent(line, 4))
		if !empty {
			n = i + 1
		}
	}
	return Code{Text: safetext.Code(strings.Join(code[:n], "\n"))}, n
}

// headingOf returns the level of the heading in a line without its indentation, or 0.
func headingOf(front string) int {
	n := run(front, '#')
	if n > 6 || len(front) == n || front[n] != ' ' || strings.TrimSpace(front[n:]) == "" {
		return 0
	}
	return n
}

func (p *parser) heading(line string) Block {
	line = strings.TrimSpace(line)
	level := headingOf(line)
	return Heading{level, p.spans(strings.TrimSpace(line[level:]))}
}

// isRule reports whether a line consists of white space and at least three of the same
// mark: -, * or _.
func isRule(front string) bool {
	n := 0
	for i := range len(front) {
		switch front[i] {
		case front[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3 && strings.IndexByte("-*_", front[0]) >= 0
}

func (p *parser) quote(rest []string, depth int) (Block, int) {
	var inner []string
	for _, line := range rest {
		p.work += len(line) + 1
		after, ok := strings.CutPrefix(dedent(line, 3), ">")
		if !ok {
			break
		}
		inner = append(inner, strings.TrimPrefix(after, " "))
	}
	return Quote{p.blocks(inner, depth+1)}, len(inner)
}

// paragraph reads the lines up to the next block. A numbered list interrupts a paragraph
// only if it starts at 1, because a line of text may begin with "2019."
func (p *parser) paragraph(rest []string, depth int) (Block, int) {
	n := 1
	for n < len(rest) {
		k := p.kind(rest[n:], depth)
		if k != words && k != indented && (k != number || beginsAtOne(rest[n])) {
			break
		}
		n++
	}
	return Paragraph{p.spans(strings.Join(rest[:n], "\n"))}, n
}

func beginsAtOne(line string) bool {
	marker := itemOf(line[indent(line):]).marker
	return marker == "1." || marker == "1)"
}
