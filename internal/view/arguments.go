package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// maxIndent is how many levels are indented: deeper ones would push the text out of a
// narrow window. The brackets still tell the level.
const maxIndent = 8

// FormatJSON draws JSON so that a person sees what a program will read (T3): every
// member in its order, every number with its own digits, and each \u escape as the
// character it stands for. An escape of something that cannot be seen stays an escape,
// and hidden reports that there was one. After a \n inside a string the row ends, the
// \n stays. What is no JSON is shown as it is.
func FormatJSON(raw json.RawMessage) (t safetext.Text, hidden bool) {
	d := draw(raw)
	return d.text, d.hidden
}

// A drawing is JSON as a person sees it.
type drawing struct {
	text   safetext.Text
	hidden bool
	twins  twins
}

func draw(raw json.RawMessage) drawing {
	if !json.Valid(raw) {
		return drawing{text: safetext.Code(string(raw)), hidden: safetext.Hidden(string(raw))}
	}
	p := printer{src: string(raw)}
	p.value(0)
	out := string(p.out)
	return drawing{safetext.Code(out), p.hidden || safetext.Hidden(out), p.twins}
}

// maxBrief is how many characters of the arguments a list reads.
const maxBrief = 2000

// oneLine returns the beginning of the arguments, for lists. Arguments that are longer
// than a list reads are shown as they were sent.
func oneLine(raw json.RawMessage) safetext.Text {
	t, _ := FormatJSON(front(raw, maxBrief))
	rows := strings.Split(t.String(), "\n")
	for i, row := range rows {
		rows[i] = strings.TrimLeft(row, " ")
	}
	line := safetext.Line(strings.Join(rows, " "))
	if cut := front(line.String(), maxHeadline); cut != line.String() {
		return safetext.Line(cut + "…")
	}
	return line
}

// editable writes JSON so that a person can change it: like [FormatJSON], but it is JSON
// again, with the same meaning. What cannot be seen in a field is an escape.
func editable(raw json.RawMessage) string {
	if !json.Valid(raw) {
		return string(raw)
	}
	p := printer{src: string(raw), exact: true}
	p.value(0)
	return string(p.out)
}

// printer walks over valid JSON once.
type printer struct {
	src    string
	pos    int
	out    []byte
	exact  bool // what comes out is JSON
	hidden bool
	twins  twins
}

func (p *printer) space() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *printer) newline(depth int) {
	p.out = append(p.out, '\n')
	for range min(depth, maxIndent) {
		p.out = append(p.out, "  "...)
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
		p.out = append(p.out, p.src[p.pos:p.pos+end]...)
		p.pos += end
	}
}

// container draws an object or an array, one member or element a row.
func (p *printer) container(depth int) {
	open := p.src[p.pos]
	end := open + 2 // the closing bracket, in ASCII
	p.out = append(p.out, open)
	p.pos++
	p.space()
	if p.src[p.pos] == end {
		p.out = append(p.out, end)
		p.pos++
		return
	}
	names := object{}
	for p.src[p.pos] != end {
		if p.src[p.pos] == ',' {
			p.out = append(p.out, ',')
			p.pos++
		}
		p.newline(depth + 1)
		p.space()
		if open == '{' {
			begin := len(p.out)
			p.text(depth + 1)
			p.twins.meet(names, string(p.out[begin+1:len(p.out)-1]))
			p.space()
			p.pos++ // the colon
			p.out = append(p.out, ": "...)
		}
		p.value(depth + 1)
		p.space()
	}
	p.newline(depth)
	p.out = append(p.out, end)
	p.pos++
}

// text draws a string.
func (p *printer) text(depth int) {
	begin := len(p.out)
	p.out = append(p.out, '"')
	p.pos++
	for p.src[p.pos] != '"' {
		if p.src[p.pos] == '\\' {
			p.escape(depth)
			continue
		}
		end := strings.IndexAny(p.src[p.pos:], `"\`)
		p.out = append(p.out, p.src[p.pos:p.pos+end]...)
		p.pos += end
	}
	p.out = append(p.out, '"')
	p.pos++
	if p.exact {
		p.reveal(begin)
	}
}

func (p *printer) escape(depth int) {
	rest := p.src[p.pos:]
	if rest[1] != 'u' {
		p.pos += 2
		if rest[1] == '/' {
			p.out = append(p.out, '/')
			return
		}
		p.out = append(p.out, rest[:2]...)
		if rest[1] == 'n' && p.src[p.pos] != '"' && !p.exact {
			p.newline(depth + 1)
		}
		return
	}
	r, size := unescape(rest)
	p.pos += size
	s := string(r)
	switch {
	case r == '"' || r == '\\':
		p.out = append(p.out, `\`+s...)
	case r == utf8.RuneError || r == '\n' || safetext.Code("x"+s).String() != "x"+s: // x, for a mark to stand on
		p.hidden = p.hidden || r != '\n' && r != '\t' && r != '\r'
		p.out = append(p.out, rest[:size]...)
	default:
		p.out = append(p.out, s...)
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

// reveal escapes all that is not ASCII in the string that was written last, if any of it
// cannot be seen.
func (p *printer) reveal(begin int) {
	said := string(p.out[begin:])
	if safetext.Code(said).String() == said {
		return
	}
	p.out = p.out[:begin]
	for _, r := range said {
		if r < utf8.RuneSelf && r != 0x7f {
			p.out = utf8.AppendRune(p.out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			p.out = fmt.Appendf(p.out, `\u%04x`, unit)
		}
	}
}
