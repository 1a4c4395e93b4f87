package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/terminal"
)

// printJSON writes v as indented JSON. If w is a terminal, it escapes control characters.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return writeJSON(w, b.Bytes(), terminal.IsTerminal(w))
}

// writeJSON writes raw, which must be JSON. If escape is true, it escapes the control and
// format characters that encoding/json leaves unchanged. The value is the same.
func writeJSON(w io.Writer, raw []byte, escape bool) error {
	if escape {
		raw = escaped(raw)
	}
	_, err := w.Write(raw)
	return err
}

func escaped(raw []byte) []byte {
	var out []byte
	for _, r := range string(raw) {
		switch {
		case r != 0x7f && (r < 0x80 || r > 0x9f) && !unicode.Is(unicode.Cf, r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// printLine writes one line for people, safe for a terminal.
func printLine(w io.Writer, text string) {
	_, _ = fmt.Fprintln(w, safetext.Line(text))
}

// maxCell is the maximum width of a cell on a terminal.
const maxCell = 30

// printTable writes rows in columns below their headings, safe for a terminal. On a terminal it shortens each cell to
// maxCell, and the lines to the width of the terminal. Without rows it writes nothing.
func printTable(io streams, headings []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	limit := math.MaxInt
	if terminal.StreamOptions(io.out) != nil {
		limit = maxCell
	}
	all := append([][]string{slices.Clone(headings)}, rows...)
	widths := make([]int, len(headings))
	for _, row := range all {
		for i := range row {
			row[i] = safetext.Fit(safetext.Line(row[i]), limit)
			widths[i] = max(widths[i], safetext.Width(safetext.Line(row[i])))
		}
	}
	lines := make([]string, len(all))
	for n, row := range all {
		for i, cell := range row {
			lines[n] += cell + strings.Repeat(" ", widths[i]-safetext.Width(safetext.Line(cell))+2)
		}
		lines[n] = strings.TrimRight(lines[n], " ")
	}
	printFitted(io, lines)
}

// listTime formats a time for a list, in the time zone of this process, which is the zone of its terminal. Only a time
// of another year has its year.
func listTime(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Year() == now.Year() {
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

// printAnswers writes answers for scripts: one value per line for one question, or a JSON
// object for several.
func printAnswers(w io.Writer, answers []askback.QuestionAnswer, questions []askback.Question) error {
	if len(answers) > 1 {
		return printObject(w, answers, questions)
	}
	for _, a := range answers {
		for _, value := range a.Values() {
			if _, err := fmt.Fprintln(w, plain(w, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain returns value unchanged or, if w is a terminal, in a form that is safe there.
func plain(w io.Writer, value string) string {
	if terminal.IsTerminal(w) {
		return safetext.Block(value).String()
	}
	return value
}

// printObject writes a JSON object with the answer to each question, in the order of the
// questions. The answer to a multi-select question is an array.
func printObject(w io.Writer, answers []askback.QuestionAnswer, questions []askback.Question) error {
	var b bytes.Buffer
	b.WriteString("{")
	for i, a := range answers {
		if i > 0 {
			b.WriteString(",")
		}
		var value any = a.String()
		if questions[i].MultiSelect {
			value = append([]string{}, a.Values()...)
		}
		if err := member(&b, a.Question, value); err != nil {
			return err
		}
	}
	b.WriteString("\n}\n")
	return writeJSON(w, b.Bytes(), terminal.IsTerminal(w))
}

func member(b *bytes.Buffer, name string, value any) error {
	for i, v := range []any{name, value} {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		b.WriteString([]string{"\n  ", ": "}[i])
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode adds a line feed
	}
	return nil
}
