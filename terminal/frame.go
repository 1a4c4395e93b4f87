package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// The frame, in columns:
//
//	0      7 9
//	── Askback · question ──────────
//	 agent │ deploy-bot
//	     1 │ PostgreSQL
//
// The margin and rows without a gutter are ours. Right of the gutter is the agent, on
// every row of its own. Where the terminal is too narrow for that, the word of the margin
// stands on the row above.
const (
	margin   = 7 // "server" and a space
	gutter   = "│"
	goesOn   = "┊" // the row above was too long
	minText  = 12  // columns for the agent, however narrow the terminal says it is
	maxText  = 100 // wider is hard to read
	maxBlank = 2   // empty rows in a row that are drawn and not counted
	maxRows  = 18  // rows of one text before it is said how many they are: the smallest usual screen has 24
	maxShown = 200 // rows of one text that are drawn; of more, these:
	headRows = 60
	tailRows = 30
)

// Looks of text, as SGR parameters.
const (
	plain     = ""
	bold      = "1"
	dim       = "2"
	underline = "4"
)

// frame draws into memory, so that writing has one error.
type frame struct {
	b      strings.Builder
	rows   int
	margin int
	width  int // of the text right of the gutter
	style  bool
	zone   *time.Location

	fold   bool // draw only the head and the tail of what is very long
	folded int  // rows that were not drawn
}

// newFrame leaves the last column free: some terminals wrap when it is written.
func newFrame(o Options) *frame {
	f := &frame{margin: margin, style: o.Style, zone: o.zone()}
	room := o.width() - utf8.RuneCountInString(gutter) - 2
	if room-f.margin < minText {
		f.margin = 0
	}
	f.width = min(max(room-f.margin, minText), maxText)
	return f
}

func (f *frame) writeTo(w io.Writer) error {
	if f.b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

func (f *frame) look(sgr, s string) string {
	if !f.style || sgr == plain || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// full is how many columns a row of ours may take.
func (f *frame) full() int { return f.margin + utf8.RuneCountInString(gutter) + 1 + f.width }

// rule draws a line across, with words of ours on it.
func (f *frame) rule(words string) {
	line := "──"
	if words != "" {
		line += " " + words + " "
	}
	if utf8.RuneCountInString(line) > f.full() {
		f.rule("")
		f.say(words)
		return
	}
	line += strings.Repeat("─", f.full()-utf8.RuneCountInString(line))
	f.b.WriteString(f.look(dim, line) + "\n")
	f.rows++
}

// say writes a sentence of ours, without a gutter. The name of a person may be in it.
func (f *frame) say(words string) {
	if words == "" {
		return
	}
	for _, row := range safetext.Wrap(safetext.Line(words), f.full()) {
		s := row.String()
		if turns(s) {
			s = leftToRight + s
		}
		f.b.WriteString(s + "\n")
		f.rows++
	}
}

// prompt leaves the cursor behind words of ours.
func (f *frame) prompt(words string) { f.b.WriteString(f.look(bold, words)) }

// erase takes an open prompt away, with what was typed behind it.
func (f *frame) erase() {
	if f.style {
		f.b.WriteString("\r\x1b[K")
		return
	}
	f.b.WriteString("\n")
}

// measured draws what may be long: then it is said first how long.
func (f *frame) measured(draw func(part *frame)) {
	part := &frame{margin: f.margin, width: f.width, style: f.style, zone: f.zone}
	draw(part)
	switch {
	case f.fold && part.rows > maxShown:
		f.headAndTail(part)
		return
	case part.rows > maxRows:
		f.aside("(" + strconv.Itoa(part.rows) + " rows, all of them shown)")
	}
	f.b.WriteString(part.b.String())
	f.rows += part.rows
}

// headAndTail draws the first and the last rows of a part that is too long for a screen.
func (f *frame) headAndTail(part *frame) {
	hidden := part.rows - headRows - tailRows
	f.folded += hidden
	f.aside(fmt.Sprintf("(%d rows, the first %d and the last %d of them shown)", part.rows, headRows, tailRows))
	text := part.b.String()
	head, tail := 0, len(text)
	for range headRows {
		head += strings.IndexByte(text[head:], '\n') + 1
	}
	for range tailRows {
		tail = strings.LastIndexByte(text[:tail-1], '\n') + 1
	}
	f.b.WriteString(text[:head])
	f.aside(notShown(hidden))
	f.b.WriteString(text[tail:])
	f.rows += headRows + tailRows
}

// notShown counts rows that were folded away.
func notShown(rows int) string { return fmt.Sprintf("(%d rows are not shown; :show shows them)", rows) }

// aside is a sentence of ours on the text that stands around it.
func (f *frame) aside(words string) { f.say(strings.Repeat(" ", f.margin) + words) }
