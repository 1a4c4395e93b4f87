package terminal_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

// columns is how many cells the greediest of known terminals takes for a rune: marks and
// format characters none, what is wide in East Asia and pictures two. It is a second
// opinion, written from the blocks and not from the code.
func columns(r rune) int { return int(cells()[r]) }

// cells are the columns of every rune, worked out once: the tests ask for each of them
// hundreds of times.
var cells = sync.OnceValue(func() []uint8 {
	all := make([]uint8, unicode.MaxRune+1)
	for r := range all {
		all[r] = cellsOf(rune(r))
	}
	return all
})

func cellsOf(r rune) uint8 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(unicode.Cf, r) && !(r >= 0x600 && r <= 0x605 || r == 0x6DD || r == 0x70F || r == 0x890 || r == 0x891 || r == 0x8E2 || r == 0x110BD || r == 0x110CD):
		return 0
	case r >= 0x1100 && r <= 0x115F, r == 0x2329, r == 0x232A, r >= 0x2E80 && r <= 0x303E, r >= 0x3041 && r <= 0x33FF, r >= 0x3400 && r <= 0x4DBF, r >= 0x4E00 && r <= 0xA4CF, r >= 0xA960 && r <= 0xA97C,
		r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF, r >= 0xFE10 && r <= 0xFE19, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF01 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6:
		return 2
	case unicode.Is(unicode.Cn, r): // a newer terminal may know it
		return 2
	case r >= 0x17000 && r <= 0x18CFF, r >= 0x1B000 && r <= 0x1B2FF, r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

// halfOf stands in the second cell of a wide rune.
const halfOf = '\U0010FFFD'

// A console is a terminal that has seen everything that was drawn.
type console struct {
	vt     vt10x.Terminal
	grid   [][]rune // or: the rows of a terminal that knows no controls at all
	rows   int
	width  int
	asked  bytes.Buffer // what the terminal would have answered to the program
	margin int
}

func newConsole(width int) *console {
	if width < 22 {
		return &console{width: width}
	}
	return &console{width: width, margin: margin}
}

const title = "bash"

// show draws on a terminal that is exactly as wide as was said. The emulator knows
// nothing of widths, so it is fed cell by cell.
func show(drawn string, width int) *console {
	c := newConsole(width)
	c.rows = strings.Count(drawn, "\n") + 20 // some room for rows that break; more would scroll, and be seen by that
	c.vt = vt10x.New(vt10x.WithSize(width, c.rows), vt10x.WithWriter(&c.asked))
	var fed strings.Builder
	fed.WriteString("\x1b]0;" + title + "\x07")
	for _, r := range drawn {
		switch {
		case r == '\n':
			fed.WriteString("\r\n")
		case r == utf8.RuneError || r < ' ' || columns(r) == 1:
			fed.WriteRune(r)
		case columns(r) == 2:
			fed.WriteString(string(r) + string(halfOf))
		}
	}
	io.WriteString(c.vt, fed.String())
	return c
}

// typeset is show for a drawing without controls: many times faster, and without looks.
func typeset(drawn string, width int) *console {
	c := newConsole(width)
	var row []rune
	used := 0
	end := func() {
		for ; used < width; used++ {
			row = append(row, ' ')
		}
		c.grid, row, used = append(c.grid, row), make([]rune, 0, width), 0
	}
	for _, r := range drawn {
		wide := 1
		if r >= 0x300 {
			wide = columns(r)
		}
		if r == '\n' || used+wide > width {
			end()
		}
		if r != '\n' && wide > 0 {
			row, used = append(row, r), used+wide
		}
	}
	end()
	c.rows = len(c.grid)
	return c
}

var (
	asides   = regexp.MustCompile(` *\([0-9]+ (empty rows|rows, all of them shown|rows, the first [0-9]+ and the last [0-9]+ of them shown|rows are not shown; :show shows them)\)`)
	warnings = regexp.MustCompile(`(Check this link|Read to the end): [^.]*\. *|(Two|[0-9]+) names in the arguments [^:]*: *`)
	number   = regexp.MustCompile(`takes? [0-9]+ rows`)
)

// dependent are words of margins that stand there or not, by what the agent wrote.
var dependent = map[string]bool{"link": true, "name": true}

// ours is what stands outside of the agent's frame: margins with a word, and the rows
// without a gutter between two of those as one text, with the looks of all cells. Rows that
// only go on are left out, and so are counts and warnings about links, which depend on the
// text: no word of the agent is in those.
func (c *console) ours() []string {
	var parts, words []string
	var looks []look
	end := func() {
		if len(words) > 0 {
			text := asides.ReplaceAllString(strings.Join(strings.Fields(strings.Join(words, " ")), " "), "")
			text = warnings.ReplaceAllString(text, "")
			text = number.ReplaceAllString(strings.TrimSpace(text), "takes N rows")
			if text != "" {
				parts = append(parts, fmt.Sprint(text, slices.Compact(looks)))
			}
		}
		words, looks = nil, nil
	}
	for y := range c.rows {
		row, seen := c.row(y)
		gutter := row[c.margin] == '│' || row[c.margin] == '┊'
		if gutter {
			row, seen = row[:c.margin], seen[:c.margin+1]
			end()
		}
		text := strings.TrimRight(string(row), " ")
		if text == "" || dependent[strings.TrimSpace(text)] {
			continue
		}
		words, looks = append(words, text), append(looks, seen...)
		if gutter {
			end()
		}
	}
	end()
	return parts
}

// A look is how a cell is drawn.
type look struct {
	mode   int16
	fg, bg vt10x.Color
}

// row gives the cells of a row as runes, and their looks.
func (c *console) row(y int) (cells []rune, looks []look) {
	if c.vt == nil {
		return c.grid[y], make([]look, c.width)
	}
	for x := range c.width {
		g := c.vt.Cell(x, y)
		if g.Char == 0 {
			g.Char = ' '
		}
		cells = append(cells, g.Char)
		looks = append(looks, look{g.Mode, g.FG, g.BG})
	}
	return cells, looks
}
