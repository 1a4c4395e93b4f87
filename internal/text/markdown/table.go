package markdown

import (
	"strings"

	"github.com/askback/askback/internal/text/safetext"
)

// isDivider reports whether a line can be the second line of a table, such as |---|:--:|
func (p *parser) isDivider(line string) bool {
	p.work += len(line) + 1
	line = strings.TrimSpace(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|:- ") == ""
}

// table reads rows up to a line without a vertical bar. It returns the table as code, and the number of
// lines.
func (p *parser) table(rest []string) (Block, int) {
	n := 2
	for n < len(rest) && strings.Contains(rest[n], "|") {
		n++
	}
	var rows [][]string
	for _, line := range rest[:n] {
		p.work += len(line) + 1
		rows = append(rows, strings.Split(strings.TrimSpace(line), "|"))
	}
	table := p.cells(rest[:n])
	return Code{Text: safetext.Code(strings.Join(align(rows), "\n")), Table: table}, n
}

// cells returns the rows of a table without its divider. Rows can have different numbers of cells, so that no text
// is lost. It returns nil for a table with too many rows or columns, and if a bar may be a part of a text.
func (p *parser) cells(lines []string) (table []Row) {
	if len(lines) > maxRows {
		return nil
	}
	for i, line := range lines {
		if strings.ContainsAny(line, "\\`") {
			return nil
		}
		if i == 1 {
			continue
		}
		line = strings.TrimSpace(line)
		texts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		if len(texts) > maxColumns {
			return nil
		}
		var row Row
		for _, text := range texts {
			row = append(row, p.spans(strings.TrimSpace(text)))
		}
		table = append(table, row)
	}
	return table
}

// Limits for aligning a table. Without them, the padding could be longer than the text. A cell is padded to
// at most maxColumn. A table with more columns or rows is not aligned.
const (
	maxColumn  = 40 // cells of a terminal
	maxColumns = 12
	maxRows    = 200
)

// align pads the cells so that columns line up. It removes no text.
func align(rows [][]string) []string {
	widest := columns(rows)
	out := make([]string, len(rows))
	for i, cells := range rows {
		for c, cell := range cells {
			if c < len(widest) {
				cells[c] = pad(cell, widest[c]-cellWidth(cell), i == 1)
			}
		}
		out[i] = strings.TrimRight(strings.Join(cells, "|"), " ")
	}
	return out
}

// columns returns the width of each column, or nil if the table is too large to be aligned.
func columns(rows [][]string) []int {
	var widest []int
	for i, cells := range rows {
		if len(rows) > maxRows || len(cells) > maxColumns+2 {
			return nil
		}
		for c, cell := range cells {
			if c == len(widest) {
				widest = append(widest, 0)
			}
			if i != 1 {
				widest[c] = max(widest[c], min(cellWidth(cell), maxColumn))
			}
		}
	}
	return widest
}

// pad pads a cell by a number of columns. It adds dashes to a divider, and spaces to another cell.
func pad(cell string, by int, divider bool) string {
	at, fill := len(cell), " "
	if i := strings.IndexByte(cell, '-'); divider && i >= 0 {
		at, fill = i, "-"
	}
	return cell[:at] + strings.Repeat(fill, max(by, 0)) + cell[at:]
}

func cellWidth(cell string) int { return safetext.Width(safetext.Code(cell)) }
