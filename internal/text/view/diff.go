package view

import (
	"slices"
	"strings"
	"unicode"

	"github.com/askback/askback/internal/text/linediff"
	"github.com/askback/askback/internal/text/safetext"
)

// A DiffLine is a line of a comparison. Sign is "-" for a removed line, "+" for an added line, and " " for an
// unchanged line. If Sign is "…", Text is the number of unchanged lines that are omitted.
type DiffLine struct {
	Sign string
	Text Text

	begin, end int // the part of Text that differs from the line that it replaces, in bytes; equal for no such part
}

// diffContext is the number of unchanged lines around a change.
const diffContext = 3

// Diff compares two texts line by line. Lines that differ only in invisible characters are
// different. It returns nil if the texts are equal.
func Diff(before, after string) []DiffLine {
	if before == after {
		return nil
	}
	var all []DiffLine
	for _, l := range linediff.Compare(strings.Split(before, "\n"), strings.Split(after, "\n")) {
		all = append(all, DiffLine{Sign: string(l.Sign), Text: safetext.Code(l.Text)})
	}
	markWords(all)
	return foldUnchanged(all)
}

// markWords marks the words that differ between removed lines and the lines that replace them, one by one.
func markWords(lines []DiffLine) {
	for i := 0; i < len(lines); i++ {
		removed := countSign(lines[i:], "-")
		added := countSign(lines[i+removed:], "+")
		if removed > 0 && removed == added {
			for n := range removed {
				markPair(&lines[i+n], &lines[i+removed+n])
			}
		}
		i += max(removed+added-1, 0)
	}
}

// countSign returns the number of lines with a sign at the beginning of lines.
func countSign(lines []DiffLine, sign string) int {
	n := slices.IndexFunc(lines, func(l DiffLine) bool { return l.Sign != sign })
	if n < 0 {
		return len(lines)
	}
	return n
}

// markPair marks the words that differ between two lines. It marks nothing if the lines have little in common, or
// characters that are not in ASCII, which a mark could separate.
func markPair(removed, added *DiffLine) {
	a, b := removed.Text.String(), added.Text.String()
	if !isASCII(a) || !isASCII(b) {
		return
	}
	shorter := min(len(a), len(b))
	front := 0
	for front < shorter && a[front] == b[front] {
		front++
	}
	if front < len(a) && isWordByte(a[front]) || front < len(b) && isWordByte(b[front]) {
		front -= len(wordEnd(a[:front]))
	}
	back := 0
	for back < shorter-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	if from, to := len(a)-back, len(b)-back; from > 0 && isWordByte(a[from-1]) || to > 0 && isWordByte(b[to-1]) {
		back -= len(wordStart(a[from:]))
	}
	if same := strings.TrimSpace(a[:front] + a[len(a)-back:]); 3*len(same) < shorter {
		return
	}
	removed.begin, removed.end = front, len(a)-back
	added.begin, added.end = front, len(b)-back
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// wordStart returns the letters and digits at the beginning of s.
func wordStart(s string) string {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return s[:i]
		}
	}
	return s
}

// wordEnd returns the letters and digits at the end of s.
func wordEnd(s string) string {
	for i := len(s); i > 0; i-- {
		if !isWordByte(s[i-1]) {
			return s[i:]
		}
	}
	return s
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

// Parts returns the text of a line before, in and after the part that differs from the line that it replaces. If
// changed is empty, no part is marked.
func (l DiffLine) Parts() (before, changed, after Text) {
	if l.begin >= l.end {
		return l.Text, Text{}, Text{}
	}
	s := l.Text.String()
	return safetext.Code(s[:l.begin]), safetext.Code(s[l.begin:l.end]), safetext.Code(s[l.end:])
}

// foldUnchanged replaces long runs of unchanged lines by their number. It keeps diffContext lines around each
// change.
func foldUnchanged(lines []DiffLine) (out []DiffLine) {
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && lines[end].Sign == " " {
			end++
		}
		before, after := diffContext, diffContext
		if i == 0 {
			before = 0
		}
		if end == len(lines) {
			after = 0
		}
		if end-i > before+after+1 {
			out = append(out, lines[i:i+before]...)
			out = append(out, DiffLine{
				Sign: "…", Text: safetext.Line(Count(end-i-before-after, "unchanged line")),
			})
			out = append(out, lines[end-after:end]...)
		} else {
			out = append(out, lines[i:end]...)
		}
		if i = end; i < len(lines) {
			out = append(out, lines[i])
			i++
		}
	}
	return out
}

// A TextChange is a replacement of text in a file by a call. The tools of coding agents that edit files make
// such calls.
type TextChange struct {
	File  Text
	Lines []DiffLine
}

// maxChangeLines is the maximum number of line feeds in a call whose replacements are compared. Otherwise an
// agent could make each view of its ask take seconds. The arguments are shown anyway.
const maxChangeLines = 2000

// textChanges returns the replacements in the arguments of a call. It returns nil if v is nil or has more
// than maxChangeLines line feeds. It finds fields by their exact names.
func (v *Value) textChanges() (out []TextChange) {
	if v == nil || v.lines() > maxChangeLines {
		return nil
	}
	file := v.only("file_path", "path").Text
	for _, m := range v.field("edits").Members {
		out = m.Value.appendChange(out, file)
	}
	return v.appendChange(out, file)
}

// lines returns the number of line feeds in all strings of a value.
func (v *Value) lines() int {
	n := strings.Count(v.raw, "\n")
	for i := range v.Members {
		n += v.Members[i].Value.lines()
	}
	return n
}

func (v *Value) appendChange(out []TextChange, file Text) []TextChange {
	before, after := v.only("old_string", "old_str"), v.only("new_string", "new_str")
	if before.Kind != StringValue || after.Kind != StringValue {
		return out
	}
	if lines := Diff(before.raw, after.raw); lines != nil {
		out = append(out, TextChange{file, lines})
	}
	return out
}

// field returns the value with a name, or the zero value.
func (v *Value) field(name string) Value {
	for _, m := range v.Members {
		if m.raw == name {
			return m.Value
		}
	}
	return Value{}
}

// only returns the value of the one name that an object has. It returns the zero value if the object has none of
// the names, or several, because a program may read another one than is shown (T3).
func (v *Value) only(names ...string) (found Value) {
	n := 0
	for _, m := range v.Members {
		if slices.Contains(names, m.raw) {
			found = m.Value
			n++
		}
	}
	if n != 1 {
		return Value{}
	}
	return found
}

// withoutChanges returns the arguments without the texts that the changes of [Value.textChanges] show, and
// without the name of the file, which they show too. It returns nil if there are no changes.
func (v *Value) withoutChanges(changes []TextChange) *Value {
	if len(changes) == 0 {
		return nil
	}
	rest := v.withoutChange(v.only("file_path", "path").raw)
	for i, m := range rest.Members {
		if m.raw != "edits" || m.Value.Kind != ArrayValue {
			continue
		}
		list := Value{Kind: ArrayValue}
		for _, edit := range m.Value.Members {
			edit.Value = edit.Value.withoutChange("")
			if edit.Value.Kind != ObjectValue || len(edit.Value.Members) > 0 {
				list.Members = append(list.Members, edit)
			}
		}
		rest.Members[i].Value = list
	}
	rest.Members = slices.DeleteFunc(rest.Members, func(m Member) bool {
		return m.raw == "edits" && m.Value.Kind == ArrayValue && len(m.Value.Members) == 0
	})
	return &rest
}

// withoutChange returns a copy of an object without the texts of its change, and without the file of the changes.
// If the two texts are equal, there is no change, and the copy has them.
func (v *Value) withoutChange(file string) Value {
	out := *v
	isShown := len(v.appendChange(nil, Text{})) > 0
	out.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool {
		switch m.raw {
		case "file_path", "path":
			return file != "" && m.Value.raw == file
		case "old_string", "new_string", "old_str", "new_str":
			return isShown
		}
		return false
	})
	return out
}
