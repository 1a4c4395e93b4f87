package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// maxIndent is the deepest level that has more indentation than the level above. Deeper indentation would
// push the text out of a narrow window.
const maxIndent = 8

// FormatJSON indents JSON so that a person reads the same values as a program (T3). It keeps the order of
// members and the digits of numbers. It decodes \u escapes, except escapes of invisible characters. hidden
// reports whether raw has such characters, escaped or not. A line break follows each \n in a string, except
// at its end. Text that is not valid JSON keeps its layout.
func FormatJSON(raw json.RawMessage) (t safetext.Text, hidden bool) {
	f := format(raw)
	return f.text, f.hidden
}

// formatted is JSON for a person to read.
type formatted struct {
	text       safetext.Text
	hidden     bool
	duplicates duplicates
}

func format(raw json.RawMessage) formatted {
	if !json.Valid(raw) {
		return formatted{text: safetext.Code(string(raw)), hidden: safetext.Hidden(string(raw))}
	}
	p := printer{src: string(raw)}
	p.value(0)
	out := string(p.out)
	return formatted{safetext.Code(out), p.hidden || safetext.Hidden(out), p.duplicates}
}

// maxBrief is the maximum number of characters of the arguments that are formatted for a
// list.
const maxBrief = 2000

// oneLine returns the beginning of the arguments in one line, for lists. Arguments that
// were cut at [maxBrief] are not valid JSON and are returned unformatted.
func oneLine(raw json.RawMessage) safetext.Text {
	t, _ := FormatJSON(firstRunes(raw, maxBrief))
	rows := strings.Split(t.String(), "\n")
	for i, row := range rows {
		rows[i] = strings.TrimLeft(row, " ")
	}
	return safetext.Line(shorten(safetext.Line(strings.Join(rows, " ")).String(), maxHeadline))
}

// editable returns JSON for a person to edit. Unlike the result of [FormatJSON], it is
// valid JSON with the same meaning. Invisible characters are escaped. If raw is not valid
// JSON, it is returned unchanged.
func editable(raw json.RawMessage) string {
	if !json.Valid(raw) {
		return string(raw)
	}
	p := printer{src: string(raw), exact: true}
	p.value(0)
	return string(p.out)
}

// printer formats valid JSON in one pass.
type printer struct {
	src        string
	pos        int
	out        []byte
	exact      bool // whether the output is valid JSON
	hidden     bool // whether the input had an escape of an invisible character
	duplicates duplicates
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
	default: // a number, true, false or null, unchanged
		end := strings.IndexAny(p.src[p.pos:], " \t\r\n,]}")
		if end < 0 {
			end = len(p.src) - p.pos
		}
		p.out = append(p.out, p.src[p.pos:p.pos+end]...)
		p.pos += end
	}
}

// container writes an object or an array, one member or element per row.
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
	names := seenNames{}
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
			p.duplicates.add(names, string(p.out[begin+1:len(p.out)-1]))
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

// text writes a string, with the escapes that [FormatJSON] or [editable] requires.
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
		p.escapeHidden(begin)
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
	case r == utf8.RuneError || r == '\n' || safetext.Code("x"+s).String() != "x"+s: // x carries a combining mark
		p.hidden = p.hidden || r != '\n' && r != '\t' && r != '\r'
		p.out = append(p.out, rest[:size]...)
	default:
		p.out = append(p.out, s...)
	}
}

// unescape decodes \uXXXX, or a pair of surrogates. It returns [utf8.RuneError] for a
// surrogate without its partner.
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

// escapeHidden escapes characters of the output from begin, if any of the characters is invisible. It then
// escapes all characters that are not ASCII, and U+007F.
func (p *printer) escapeHidden(begin int) {
	text := string(p.out[begin:])
	if safetext.Code(text).String() == text {
		return
	}
	p.out = p.out[:begin]
	for _, r := range text {
		if r < utf8.RuneSelf && r != 0x7f {
			p.out = utf8.AppendRune(p.out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			p.out = fmt.Appendf(p.out, `\u%04x`, unit)
		}
	}
}
