package view

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/askback/askback/internal/text/safetext"
)

// ArgumentLines returns the arguments of a call as lines such as "to: “kim@example.com”", for messages and
// terminals. Pages show the same as a tree. Arguments without a tree are returned as by [FormatJSON].
//
// The lines are exact. Text in “ ” or below "text, 3 lines" is as it was sent. Other strings are JSON in its ASCII
// quotes, with escapes: strings with invisible characters, tabs, quotes such as “, or white space at the end of a
// line. Only strings are between quotes, so "true" is a word and “true” is a text.
func ArgumentLines(raw json.RawMessage) safetext.Text {
	tree := treeOf(raw)
	if tree == nil {
		t, _ := FormatJSON(raw)
		return t
	}
	return tree.text()
}

func (v Value) text() safetext.Text {
	var w lineWriter
	w.members(v, 0)
	return safetext.Code(strings.Join(w.lines, "\n"))
}

// A lineWriter writes a tree as lines.
type lineWriter struct{ lines []string }

// members writes the members of a value that is depth levels below the arguments.
func (w *lineWriter) members(v Value, depth int) {
	for _, m := range v.Members {
		head := indentation(depth) + "- "
		if v.Kind == ObjectValue {
			head = indentation(depth) + m.nameInLine() + ": "
		}
		w.value(head, m.Value, depth+1)
	}
}

// value writes a value after head, which is in the same line. Further lines are depth levels deep.
func (w *lineWriter) value(head string, v Value, depth int) {
	switch {
	case v.Kind == StringValue && !v.isExact():
		w.add(head + quoted(v.raw, depth-1))
	case v.Kind == StringValue && v.Size.Lines > 1:
		w.add(head + "text, " + v.SizeWords())
		for line := range strings.SplitSeq(v.raw, "\n") {
			w.add(indentation(depth) + line)
		}
	case v.Kind == StringValue:
		w.add(head + "“" + v.raw + "”")
	case len(v.Members) > 0:
		w.add(head + v.SizeWords())
		w.members(v, depth)
	case v.Kind == ObjectValue || v.Kind == ArrayValue:
		w.add(head + v.EmptySign())
	default:
		w.add(head + v.Text.String())
	}
}

func (w *lineWriter) add(line string) { w.lines = append(w.lines, line) }

func indentation(depth int) string { return strings.Repeat("  ", min(depth, maxIndent)) }

// isExact reports whether a string that is shown without escapes cannot be taken for another string.
func (v Value) isExact() bool {
	if v.Text.String() != v.raw || strings.Contains(v.raw, "\t") {
		return false
	}
	if v.Size.Lines == 1 {
		return !strings.ContainsAny(v.raw, "“”")
	}
	for line := range strings.SplitSeq(v.raw, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
	}
	return true
}

// nameInLine returns the name of a member, in quotes if it is not a plain word.
func (m Member) nameInLine() string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.$@/", r)
	}
	if m.raw != "" && m.Name.String() == m.raw && strings.TrimFunc(m.raw, plain) == "" {
		return m.raw
	}
	return quoted(m.raw, maxIndent)
}

// quoted returns a string as JSON in ASCII quotes. A line break follows each \n, except at the end. The next line is
// one level deeper than depth. Invisible characters are escaped.
func quoted(s string, depth int) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be marshaled
	}
	p := printer{src: editable(raw)}
	p.text(depth)
	if out := string(p.out); safetext.Code(out).String() == out {
		return out
	}
	return p.src
}
