package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/safetext"
)

// A field is a text that a person edits with the keys of a shell.
type field struct {
	before, after string // the text on both sides of the cursor
	aside         string // text before Esc; opening the field again shows it
}

func (f *field) text() string { return f.before + f.after }

// set replaces the text, and places the cursor after it.
func (f *field) set(text string) { f.before, f.after = text, "" }

// insert inserts typed or pasted text. Line breaks become line feeds, and other control characters are
// removed. It returns the reason why the text was not inserted, or "".
func (f *field) insert(text string) (problem string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	switch {
	case !utf8.ValidString(text):
		return "That text is not UTF-8 and was not accepted."
	case utf8.RuneCountInString(f.text())+utf8.RuneCountInString(text) > limits.MaxText:
		return textTooLong
	}
	f.before += text
	return ""
}

// press handles a key that moves the cursor or deletes text. It reports whether key is such a key.
func (f *field) press(key string) bool {
	switch key {
	case "backspace", "ctrl+h":
		f.before = f.before[:len(f.before)-len(lastCluster(f.before))]
	case "delete":
		f.after = f.after[len(firstCluster(f.after)):]
	case "left", "ctrl+b":
		last := lastCluster(f.before)
		f.before, f.after = f.before[:len(f.before)-len(last)], last+f.after
	case "right", "ctrl+f":
		first := firstCluster(f.after)
		f.before, f.after = f.before+first, f.after[len(first):]
	case "home", "ctrl+a":
		f.before, f.after = "", f.text()
	case "end", "ctrl+e":
		f.set(f.text())
	case "ctrl+u":
		f.before = ""
	case "ctrl+k":
		f.after = ""
	case "ctrl+w", "alt+backspace":
		trimmed := strings.TrimRight(f.before, " \n")
		f.before = trimmed[:strings.LastIndexAny(trimmed, " \n")+1]
	default:
		return false
	}
	return true
}

func firstCluster(s string) string {
	for piece := range safetext.Pieces(s, len(s)) {
		return piece
	}
	return ""
}

func lastCluster(s string) string {
	last := ""
	for piece := range safetext.Pieces(s, len(s)) {
		last = piece
	}
	return last
}

// rows returns the text wrapped into rows of the given width, and the row and column of the cursor.
func (f *field) rows(width int) (rows []string, row, column int) {
	at := len(safetext.Block(f.before).String()) // position of the cursor, counted from the beginning of the row
	row = -1
	for line := range strings.SplitSeq(safetext.Block(f.text()).String(), "\n") {
		for r := range cutRows(line, width) {
			if row < 0 && at <= len(r) {
				row, column = len(rows), safetext.Width(safetext.Line(r[:at]))
			}
			rows, at = append(rows, r), at-len(r)
		}
		at-- // the line feed
	}
	if row < 0 { // the text before the cursor and the whole text are not drawn in the same way
		row = len(rows) - 1
		column = safetext.Width(safetext.Line(rows[row]))
	}
	return rows, row, column
}
