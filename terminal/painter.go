package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// A painter draws the rows of a panel below the existing text of the terminal, and replaces them later. It
// writes every row from its first column. It never moves the cursor relative to text of an agent, because
// terminals disagree about the width of characters. While it draws, the terminal does not wrap rows.
type painter struct {
	out     io.Writer
	full    bool     // whether the rows are the whole screen
	reflows bool     // whether the terminal breaks rows that are too long when it becomes narrower
	rows    []string // rows that are on the screen
	widths  []int    // widths of the rows
	cursor  int      // row of the cursor
	column  int      // column of the cursor
	err     error
}

// Control sequences of ECMA-48 and of DEC terminals.
const (
	hideCursor   = "\x1b[?25l"
	showCursor   = "\x1b[?25h"
	noWrap       = "\x1b[?7l"
	wrap         = "\x1b[?7h"
	eraseRow     = "\x1b[2K"
	eraseBelow   = "\x1b[J"
	topLeft      = "\x1b[H"
	eraseRight   = "\x1b[K"
	ownScreen    = "\x1b[?1049h" // the alternate screen, which keeps the first screen unchanged
	firstScreen  = "\x1b[?1049l"
	markPaste    = "\x1b[?2004h" // pasted text is between marks
	dontMark     = "\x1b[?2004l"
	beginDrawing = "\x1b[?2026h" // the screen does not change until endDrawing
	endDrawing   = "\x1b[?2026l"
)

// A caret is a position of the cursor in rows. The zero value hides it.
type caret struct {
	shown       bool
	row, column int
}

// reflows reports whether the terminal probably breaks rows when it becomes narrower. Only some old terminals
// do not.
func reflows() bool {
	name := os.Getenv("TERM")
	old := name == "linux" || strings.HasPrefix(name, "vt") || strings.HasPrefix(name, "screen") ||
		os.Getenv("XTERM_VERSION") != ""
	return !old || os.Getenv("TMUX") != ""
}

// toTop returns the sequence that moves the cursor to the first row of the panel or screen, on a terminal
// with this number of columns.
func (p *painter) toTop(columns int) string {
	if p.full {
		return topLeft
	}
	up := 0
	if p.reflows {
		up = p.column / columns
	}
	for i := range min(p.cursor, len(p.widths)) {
		up++
		if p.reflows && p.widths[i] > columns {
			up += (p.widths[i] - 1) / columns
		}
	}
	if up == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}

// paint replaces the rows of the panel. The rows in above are written before the panel, and stay there.
func (p *painter) paint(above, rows []string, c caret, columns int) {
	var b strings.Builder
	b.WriteString(beginDrawing + hideCursor + noWrap + p.toTop(columns))
	for _, row := range above {
		b.WriteString(eraseRow + row + "\r\n")
	}
	widths := make([]int, len(rows))
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(eraseRow + row)
		if i < len(p.rows) && p.rows[i] == row {
			widths[i] = p.widths[i]
		} else {
			widths[i] = rowWidth(row)
		}
	}
	p.rows, p.widths = rows, widths
	b.WriteString(eraseBelow + wrap + "\r")
	p.cursor, p.column = max(0, len(rows)-1), 0
	if c.shown {
		if up := p.cursor - c.row; up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
		fmt.Fprintf(&b, "\r\x1b[%dG"+showCursor, c.column+1)
		p.cursor, p.column = c.row, c.column
	}
	b.WriteString(endDrawing)
	p.write(b.String())
}

// erase removes the panel, and moves the cursor to the first row of the panel.
func (p *painter) erase(columns int) {
	p.write(p.toTop(columns) + eraseBelow + showCursor)
	p.rows, p.widths, p.cursor, p.column = nil, nil, 0, 0
}

func (p *painter) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.out, s)
	}
}

// rowWidth returns the number of columns that a row with styles takes.
func rowWidth(row string) int {
	total := 0
	for i, part := range strings.Split(row, "\x1b[") {
		if i > 0 {
			end := strings.IndexFunc(part, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				continue
			}
			var column int
			if _, err := fmt.Sscanf(part[:end+1], "%dG", &column); err == nil {
				total = column - 1
			}
			part = part[end+1:]
		}
		total += safetext.Width(safetext.Line(part))
	}
	return total
}
