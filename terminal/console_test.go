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

// cellWidth returns the maximum number of cells that any terminal uses for a rune. Marks and format
// characters take no cell; wide East Asian characters and pictures take two cells. The width is derived from
// the Unicode blocks, independently of package safetext.
func cellWidth(r rune) int { return int(cellWidths()[r]) }

// cellWidths returns the width of every rune, computed once.
var cellWidths = sync.OnceValue(func() []uint8 {
	all := make([]uint8, unicode.MaxRune+1)
	for r := range all {
		all[r] = computeCellWidth(rune(r))
	}
	return all
})

func computeCellWidth(r rune) uint8 {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(unicode.Cf, r) && !(r >= 0x600 && r <= 0x605 || r == 0x6DD || r == 0x70F || r == 0x890 ||
		r == 0x891 || r == 0x8E2 || r == 0x110BD || r == 0x110CD):
		return 0
	case r >= 0x1100 && r <= 0x115F, r == 0x2329, r == 0x232A, r >= 0x2E80 && r <= 0x303E, r >= 0x3041 && r <= 0x33FF,
		r >= 0x3400 && r <= 0x4DBF, r >= 0x4E00 && r <= 0xA4CF, r >= 0xA960 && r <= 0xA97C,
		r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF, r >= 0xFE10 && r <= 0xFE19, r >= 0xFE30 && r <= 0xFE6F,
		r >= 0xFF01 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6:
		return 2
	case unicode.Is(unicode.Cn, r): // the rune may be wide in a newer version of Unicode
		return 2
	case r >= 0x17000 && r <= 0x18CFF, r >= 0x1B000 && r <= 0x1B2FF, r >= 0x1F000 && r <= 0x1FAFF,
		r >= 0x2600 && r <= 0x27BF, r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

// wideFiller marks the second cell of a wide rune.
const wideFiller = '\U0010FFFD'

// A console is the screen of a terminal, with everything that was drawn.
type console struct {
	vt      vt10x.Terminal
	grid    [][]rune // the rows, if vt is nil
	rows    int
	width   int
	replies bytes.Buffer // output that the terminal would send to the program
	margin  int
}

func newConsole(width int) *console {
	if width < 22 {
		return &console{width: width}
	}
	return &console{width: width, margin: margin}
}

const title = "bash"

// emulated returns a terminal emulator of the given width after drawn was written to it. The
// emulator does not support wide runes, so wideFiller takes their second cell.
func emulated(drawn string, width int) *console {
	c := newConsole(width)
	c.rows = strings.Count(drawn, "\n") + 20 // has room for rows that wrap
	c.vt = vt10x.New(vt10x.WithSize(width, c.rows), vt10x.WithWriter(&c.replies))
	io.WriteString(c.vt, "\x1b]0;"+title+"\x07"+forEmulator(drawn))
	return c
}

// forEmulator returns drawn with wideFiller after each wide rune, and without runes that take
// no cell.
func forEmulator(drawn string) string {
	var fed strings.Builder
	for _, r := range drawn {
		switch {
		case r == '\n':
			fed.WriteString("\r\n")
		case r == utf8.RuneError || r < ' ' || cellWidth(r) == 1:
			fed.WriteRune(r)
		case cellWidth(r) == 2:
			fed.WriteString(string(r) + string(wideFiller))
		}
	}
	return fed.String()
}

// laidOut is like emulated, but for text without control sequences. It is much faster, and
// has no styles.
func laidOut(drawn string, width int) *console {
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
			wide = cellWidth(r)
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
	countNotes = regexp.MustCompile(` *\([0-9]+ (empty rows|rows, all shown|rows, the first [0-9]+ and the last [0-9]+ shown|rows are not shown; :show shows them)\)`)
	warnings   = regexp.MustCompile(
		`(Check this link|Read to the end): [^.]*\. *|(Two|[0-9]+) names in the arguments [^:]*: *`,
	)
	rowNumber = regexp.MustCompile(`takes? [0-9]+ rows`)
)

// optionalWords are words in the margin that depend on the text of the agent.
var optionalWords = map[string]bool{"link": true, "name": true}

// askbackText returns the text outside of the agent's part, with its styles: words in the margin, and rows
// without a gutter. Rows without another row between them are joined into one text. Row counts and warnings
// are left out, because they depend on the text of the agent.
func (c *console) askbackText() []string {
	var parts, words []string
	var styles []cellStyle
	end := func() {
		if len(words) > 0 {
			text := countNotes.ReplaceAllString(strings.Join(strings.Fields(strings.Join(words, " ")), " "), "")
			text = warnings.ReplaceAllString(text, "")
			text = rowNumber.ReplaceAllString(strings.TrimSpace(text), "takes N rows")
			if text != "" {
				parts = append(parts, fmt.Sprint(text, slices.Compact(styles)))
			}
		}
		words, styles = nil, nil
	}
	for y := range c.rows {
		row, seen := c.row(y)
		gutter := row[c.margin] == '│' || row[c.margin] == '┊'
		if gutter {
			row, seen = row[:c.margin], seen[:c.margin+1]
			end()
		}
		text := strings.TrimRight(string(row), " ")
		if text == "" || optionalWords[strings.TrimSpace(text)] {
			continue
		}
		words, styles = append(words, text), append(styles, seen...)
		if gutter {
			end()
		}
	}
	end()
	return parts
}

// A cellStyle is the style of a cell.
type cellStyle struct {
	mode   int16
	fg, bg vt10x.Color
}

// row returns the runes of a row, and their styles.
func (c *console) row(y int) (cells []rune, styles []cellStyle) {
	if c.vt == nil {
		return c.grid[y], make([]cellStyle, c.width)
	}
	for x := range c.width {
		g := c.vt.Cell(x, y)
		if g.Char == 0 {
			g.Char = ' '
		}
		cells = append(cells, g.Char)
		styles = append(styles, cellStyle{g.Mode, g.FG, g.BG})
	}
	return cells, styles
}
