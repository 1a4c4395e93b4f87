package view

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// maxIndent is how many levels are indented: deeper ones would push the text out of a
// narrow window. The brackets still tell the level.
const maxIndent = 8

// Arguments draws JSON so that a person sees what a program will read (T3): every
// member in its order, every number with its own digits, and each \u escape as the
// character it stands for. An escape of something that cannot be seen stays an escape,
// and hidden reports that there was one. After a \n inside a string the row ends, the
// \n stays. What is no JSON is shown as it is.
func Arguments(raw json.RawMessage) (t safetext.Text, hidden bool) {
	if !json.Valid(raw) {
		return safetext.Code(string(raw)), safetext.Hidden(string(raw))
	}
	p := printer{src: string(raw)}
	p.value(0)
	out := p.out.String()
	return safetext.Code(out), p.hidden || safetext.Hidden(out)
}

// printer walks over valid JSON once.
type printer struct {
	src    string
	pos    int
	out    strings.Builder
	hidden bool
}

func (p *printer) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *printer) newline(depth int) {
	p.out.WriteByte('\n')
	for range min(depth, maxIndent) {
		p.out.WriteString("  ")
	}
}

func (p *printer) value(depth int) {
	p.space()
	switch p.src[p.pos] {
	case '{', '[':
		p.container(depth)
	case '"':
		p.text(depth)
	default: // a number or a word, as it stands
		end := strings.IndexAny(p.src[p.pos:], " \t\r\n,]}")
		if end < 0 {
			end = len(p.src) - p.pos
		}
		p.out.WriteString(p.src[p.pos : p.pos+end])
		p.pos += end
	}
}

// container draws an object or an array, one member or element a row.
func (p *printer) container(depth int) {
	open := p.src[p.pos]
	end := open + 2 // the closing bracket, in ASCII
	p.out.WriteByte(open)
	p.pos++
	p.space()
	if p.src[p.pos] == end {
		p.out.WriteByte(end)
		p.pos++
		return
	}
	for p.src[p.pos] != end {
		if p.src[p.pos] == ',' {
			p.out.WriteByte(',')
			p.pos++
		}
		p.newline(depth + 1)
		p.space()
		if open == '{' {
			p.text(depth + 1)
			p.space()
			p.pos++ // the colon
			p.out.WriteString(": ")
		}
		p.value(depth + 1)
		p.space()
	}
	p.newline(depth)
	p.out.WriteByte(end)
	p.pos++
}

// text draws a string.
func (p *printer) text(depth int) {
	p.out.WriteByte('"')
	p.pos++
	for p.src[p.pos] != '"' {
		if p.src[p.pos] == '\\' {
			p.escape(depth)
			continue
		}
		end := strings.IndexAny(p.src[p.pos:], `"\`)
		p.out.WriteString(p.src[p.pos : p.pos+end])
		p.pos += end
	}
	p.out.WriteByte('"')
	p.pos++
}

func (p *printer) escape(depth int) {
	rest := p.src[p.pos:]
	if rest[1] != 'u' {
		p.pos += 2
		if rest[1] == '/' {
			p.out.WriteByte('/')
			return
		}
		p.out.WriteString(rest[:2])
		if rest[1] == 'n' && p.src[p.pos] != '"' {
			p.newline(depth + 1)
		}
		return
	}
	r, size := unescape(rest)
	p.pos += size
	s := string(r)
	switch {
	case r == '"' || r == '\\':
		p.out.WriteString(`\` + s)
	case r == utf8.RuneError || r == '\n' || safetext.Code("x"+s).String() != "x"+s: // x, for a mark to stand on
		p.hidden = p.hidden || r != '\n' && r != '\t' && r != '\r'
		p.out.WriteString(rest[:size])
	default:
		p.out.WriteString(s)
	}
}

// unescape reads \uXXXX, or two of them that make one character. A surrogate alone is
// [utf8.RuneError].
func unescape(s string) (r rune, size int) {
	unit := func(at int) rune {
		if len(s) < at+6 || s[at] != '\\' || s[at+1] != 'u' {
			return utf8.RuneError
		}
		n, _ := strconv.ParseUint(s[at+2:at+6], 16, 16)
		return rune(n)
	}
	first := unit(0)
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if pair := utf16.DecodeRune(first, unit(6)); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}
