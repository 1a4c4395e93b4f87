package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/internal/text/safetext"
)

// The frame, in columns:
//
//	0      7 9
//	── Askback · question ──────────
//	 agent │ deploy-bot
//	     1 │ PostgreSQL
//
// Askback writes the margin and the rows without a gutter. Text of the agent is only right
// of the gutter, and every row of it has a gutter. If the terminal is too narrow, the word of
// the margin is on the row above.
const (
	margin    = 7 // columns: "server" and a space
	gutter    = "│"
	continued = "┊" // the gutter of a row that continues the row above
	minText   = 12  // columns for the agent, even on a narrower terminal
	maxText   = 100 // columns for the agent: wider text is hard to read
	maxBlank  = 2   // consecutive empty rows; if there are more, only their number is drawn
	maxRows   = 18  // rows of a text that is drawn without its row count, because small screens have 24
	maxShown  = 200 // maximum number of rows of a text that is drawn as a whole
	headRows  = 60  // number of first rows that are drawn of a longer text
	tailRows  = 30  // number of last rows that are drawn of a longer text
)

// Styles of text, as SGR parameters (ECMA-48).
const (
	plain     = ""
	bold      = "1"
	dim       = "2"
	underline = "4"
)

// A frame collects rows, so that they can be written together.
type frame struct {
	b      strings.Builder
	rows   int
	margin int
	width  int // columns of the text right of the gutter
	style  bool
	zone   *time.Location

	fold   bool   // whether to draw only the head and the tail of a long text
	folded int    // number of rows that were not drawn
	show   string // command that a person types to see those rows
}

// newFrame returns an empty frame. It does not use the last column, because some terminals
// wrap after it.
func newFrame(o Options) *frame {
	f := &frame{margin: margin, style: o.Style, zone: o.zone(), show: ":show"}
	room := o.width() - utf8.RuneCountInString(gutter) - 2
	if room-f.margin < minText {
		f.margin = 0
	}
	f.width = min(max(room-f.margin, minText), maxText)
	return f
}

// writeTo writes the frame to w. It writes nothing if the frame is empty.
func (f *frame) writeTo(w io.Writer) error {
	if f.b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

// withSGR returns s with a style, or s unchanged if the terminal has no styles.
func (f *frame) withSGR(sgr, s string) string {
	if !f.style || sgr == plain || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// fullWidth returns the maximum width in columns of a row without a gutter.
func (f *frame) fullWidth() int { return f.margin + utf8.RuneCountInString(gutter) + 1 + f.width }

// rule draws a horizontal line with words inside the line, or above the line if the words are too long.
func (f *frame) rule(words string) {
	line := "──"
	if words != "" {
		line += " " + words + " "
	}
	if utf8.RuneCountInString(line) > f.fullWidth() {
		f.rule("")
		f.message(words)
		return
	}
	line += strings.Repeat("─", f.fullWidth()-utf8.RuneCountInString(line))
	f.b.WriteString(f.withSGR(dim, line) + "\n")
	f.rows++
}

// message draws a sentence of Askback, without a gutter. The sentence may contain the name of a person.
func (f *frame) message(words string) {
	if words == "" {
		return
	}
	for _, row := range safetext.Wrap(safetext.Line(words), f.fullWidth()) {
		s := row.String()
		if hasRightToLeft(s) {
			s = leftToRight + s
		}
		f.b.WriteString(s + "\n")
		f.rows++
	}
}

// erasePrompt erases the row of a prompt with the text typed after it. If the terminal cannot erase, it
// starts a new row.
func (f *frame) erasePrompt() {
	if f.style {
		f.b.WriteString("\r\x1b[K")
		return
	}
	f.b.WriteString("\n")
}

// withRowCount draws the rows that the function draw adds to part. If there are more than maxRows rows, their
// number is drawn above them. If f.fold is true and there are more than maxShown rows, the middle is omitted.
func (f *frame) withRowCount(draw func(part *frame)) {
	part := &frame{margin: f.margin, width: f.width, style: f.style, zone: f.zone, show: f.show}
	draw(part)
	switch {
	case f.fold && part.rows > maxShown:
		f.headAndTail(part)
		return
	case part.rows > maxRows:
		f.aside("(" + strconv.Itoa(part.rows) + " rows, all shown)")
	}
	f.b.WriteString(part.b.String())
	f.rows += part.rows
}

// headAndTail draws the first headRows and the last tailRows rows of a part, and the number of omitted rows.
func (f *frame) headAndTail(part *frame) {
	hidden := part.rows - headRows - tailRows
	f.folded += hidden
	f.aside(fmt.Sprintf("(%d rows, the first %d and the last %d shown)", part.rows, headRows, tailRows))
	text := part.b.String()
	head, tail := 0, len(text)
	for range headRows {
		head += strings.IndexByte(text[head:], '\n') + 1
	}
	for range tailRows {
		tail = strings.LastIndexByte(text[:tail-1], '\n') + 1
	}
	f.b.WriteString(text[:head])
	f.aside(f.notShown(hidden))
	f.b.WriteString(text[tail:])
	f.rows += headRows + tailRows
}

// notShown returns the note on omitted rows.
func (f *frame) notShown(rows int) string {
	return fmt.Sprintf("(%d rows are not shown; %s shows them)", rows, f.show)
}

// aside draws a note, indented to the gutter. The note is about the rows above or below.
func (f *frame) aside(words string) { f.message(strings.Repeat(" ", f.margin) + words) }
