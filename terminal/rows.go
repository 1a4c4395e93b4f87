package terminal

import (
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback/internal/safetext"
)

// brailleBlank is a symbol that is drawn as nothing.
const brailleBlank = "\u2800"

// leftToRight is U+200E, which is drawn as nothing. A terminal that turns text from right
// to left around takes the direction of a row from its first strong character: this one
// is ours, and stands where the agent begins, so the gutter and what is left of it stay.
const leftToRight = "\u200e"

// turns says whether a terminal may draw the parts of s in another order.
func turns(s string) bool { return strings.ContainsFunc(s, safetext.IsRightToLeft) }

// ordered keeps the parts between signs where they are: "a": "b" is a name and its value,
// and would change places where both are written from right to left. Prose is left alone:
// there a whole sentence goes from right to left.
func ordered(s string) string {
	if !turns(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if r > ' ' && r <= '~' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			b.WriteString(leftToRight)
		}
	}
	return b.String()
}

// row draws one row: a word of ours in the margin, the agent's text right of the gutter.
func (f *frame) row(word, gutter, sgr, text string) { f.styled(word, gutter, text, f.look(sgr, text)) }

// styled draws a row whose text has looks of its own.
func (f *frame) styled(word, gutter, text, drawn string) {
	if f.margin == 0 && word != "" {
		f.say(word)
		word = ""
	}
	if turns(text) {
		gutter += leftToRight
	}
	key := strings.Repeat(" ", max(0, f.margin-1-utf8.RuneCountInString(word))) + f.look(bold, word)
	if f.margin > 0 {
		key += " "
	}
	f.b.WriteString(strings.TrimRight(key+f.look(dim, gutter+" ")+drawn, " ") + "\n")
	f.rows++
}

// text draws words of one look, wrapped between them.
func (f *frame) text(word, sgr string, t safetext.Text) {
	if t.String() == "" {
		return
	}
	f.measured(func(part *frame) {
		blanks := blanks{word: word}
		for _, row := range safetext.Wrap(t, f.width) {
			if blanks.takes(gutter, row.String()) {
				continue
			}
			part.row(blanks.drawn(part), gutter, sgr, row.String())
		}
		blanks.drawn(part)
	})
}

// blanks are empty rows that are not drawn yet. Their number is, where they could push
// something off the screen (T3).
type blanks struct {
	word  string   // of the margin, for the row that comes next
	marks []string // the gutters of the first two
	n     int
}

// takes keeps a row back if it is empty.
func (b *blanks) takes(gutter, row string) bool {
	if strings.TrimSpace(strings.ReplaceAll(row, brailleBlank, " ")) != "" {
		return false
	}
	if b.n++; b.n <= maxBlank {
		b.marks = append(b.marks, gutter)
	}
	return true
}

// drawn draws what was kept back and returns the word for the next row.
func (b *blanks) drawn(f *frame) string {
	if b.n > maxBlank {
		f.aside("(" + strconv.Itoa(b.n) + " empty rows)")
		b.marks = nil
	}
	for _, mark := range b.marks {
		f.row(b.word, mark, plain, "")
		b.word = ""
	}
	word := b.word
	*b = blanks{}
	return word
}

// exact draws text of which no byte may be lost. Rows that go on are marked.
func (f *frame) exact(word, sgr string, t safetext.Text) {
	f.measured(func(part *frame) { part.lines(word, sgr, "", t) })
}

// shown is exact, a little to the right.
func (f *frame) shown(t safetext.Text) {
	if t.String() != "" {
		f.measured(func(part *frame) { part.lines("shows", plain, "  ", t) })
	}
}

func (f *frame) lines(word, sgr, indent string, t safetext.Text) {
	blanks := blanks{word: word}
	for line := range strings.SplitSeq(t.String(), "\n") {
		mark := gutter
		for row := range cut(line, f.width-len(indent)) {
			if !blanks.takes(mark, row) {
				f.row(blanks.drawn(f), mark, sgr, indent+ordered(row))
			}
			mark = goesOn
		}
	}
	blanks.drawn(f)
}

// cut cuts a line into rows, at least one, in one walk: between characters, and inside
// only those that are wider than a row.
func cut(line string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, cells, pos := 0, 0, 0
		for piece, wide := range safetext.Pieces(line, width) {
			if cells+wide > width && pos > start {
				if !yield(line[start:pos]) {
					return
				}
				start, cells = pos, 0
			}
			cells += wide
			pos += len(piece)
		}
		yield(line[start:])
	}
}

// names draws names one behind the other.
func (f *frame) names(word, sgr string, names []safetext.Text, separator string) {
	all := list(names, separator)
	if all.String() == "" {
		return
	}
	f.measured(func(part *frame) {
		for _, row := range safetext.Wrap(all, f.width) {
			part.row(word, gutter, sgr, ordered(row.String()))
			word = ""
		}
	})
}

// list joins names for one row.
func list(names []safetext.Text, separator string) safetext.Text {
	var all []string
	for _, name := range names {
		all = append(all, name.String())
	}
	return safetext.Line(strings.Join(all, separator))
}
