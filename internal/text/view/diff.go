package view

import (
	"strings"

	"github.com/askback/askback/internal/text/linediff"
	"github.com/askback/askback/internal/text/safetext"
)

// A DiffLine is a line of a comparison. Sign is "-" for a removed line, "+" for an added line, and " " for an
// unchanged line. If Sign is "…", Text is the number of unchanged lines that are omitted.
type DiffLine struct {
	Sign string
	Text Text
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
		all = append(all, DiffLine{string(l.Sign), safetext.Code(l.Text)})
	}
	return foldUnchanged(all)
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
			out = append(out, DiffLine{"…", safetext.Line(Count(end-i-before-after, "unchanged line"))})
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
	file := v.field("file_path", "path").Text
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
	before, after := v.field("old_string", "old_str"), v.field("new_string", "new_str")
	if before.Kind != StringValue || after.Kind != StringValue {
		return out
	}
	if lines := Diff(before.raw, after.raw); lines != nil {
		out = append(out, TextChange{file, lines})
	}
	return out
}

// field returns the value of the first name that an object has, or the zero value.
func (v *Value) field(names ...string) Value {
	for _, name := range names {
		for _, m := range v.Members {
			if m.raw == name {
				return m.Value
			}
		}
	}
	return Value{}
}
