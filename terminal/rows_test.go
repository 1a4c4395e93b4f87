package terminal

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/internal/text/safetext"
)

// The rows of a line are the line, with all spaces. A word is cut only if it is longer than a row.
func TestRowsBreakBetweenWords(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"go test ./... -count=1", 16, []string{"go test ./...", " -count=1"}},
		{"one two", 7, []string{"one two"}},
		{"one two", 6, []string{"one", " two"}},
		{"one   two", 6, []string{"one", "   two"}},
		{"one         two", 6, []string{"one   ", "      ", "two"}},
		{"rm /var/lib/postgresql x", 10, []string{"rm /var/li", "b/postgres", "ql x"}},
		{"a /var/lib/x", 10, []string{"a ", "/var/lib/x"}},
		{"a /var/lib/xy", 10, []string{"a /var/lib", "/xy"}},
		{"  indented words", 12, []string{"  indented", " words"}},
		{"Context: shop", 10, []string{"Context:", " shop"}},
		{"世界 世界 世界", 9, []string{"世界 世界", " 世界"}},
	} {
		if got := slices.Collect(cutRows(c.line, c.width)); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: got %q, want %q", c.line, c.width, got, c.want)
		}
	}
	words := []string{" ", "  ", "a", "be", "-count=1", "TestCheckoutSplitPayments", "é", "世界", "        ", "x/y"}
	for range 2000 {
		var line strings.Builder
		for range rand.IntN(12) {
			line.WriteString(words[rand.IntN(len(words))])
		}
		width := 1 + rand.IntN(30)
		rows := slices.Collect(cutRows(line.String(), width))
		if strings.Join(rows, "") != line.String() {
			t.Fatalf("%q in %d columns: got %q, which is another text", line.String(), width, rows)
		}
		for i, row := range rows {
			if got := safetext.Width(safetext.Line(row)); got > max(width, 2) {
				t.Fatalf("%q in %d columns: row %d has %d", line.String(), width, i, got)
			}
			if i == 0 || row == "" || strings.HasPrefix(row, " ") || strings.HasSuffix(rows[i-1], " ") {
				continue
			}
			before := strings.Join(rows[:i], "")
			word, _, _ := strings.Cut(before[strings.LastIndex(before, " ")+1:]+strings.Join(rows[i:], ""), " ")
			if safetext.Width(safetext.Line(word)) <= width {
				t.Fatalf("%q in %d columns: the word %q is cut: %q", line.String(), width, word, rows)
			}
		}
	}
}

// The text field of a panel wraps between words, and the cursor is at its place in each row.
func TestFieldWrapsBetweenWords(t *testing.T) {
	for _, c := range []struct {
		before, after string
		row, column   int
	}{
		{"", "use the shop database\nplease", 0, 0},
		{"use the", " shop database\nplease", 0, 7},
		{"use the shop data", "base\nplease", 1, 5},
		{"use the shop database", "\nplease", 1, 9},
		{"use the shop database\n", "please", 2, 0},
		{"use the shop database\nplease", "", 2, 6},
	} {
		f := &field{before: c.before, after: c.after}
		rows, row, column := f.rows(14)
		if want := []string{"use the shop", " database", "please"}; !slices.Equal(rows, want) {
			t.Errorf("got rows %q, want %q", rows, want)
		}
		if row != c.row || column != c.column {
			t.Errorf("%q: the cursor is at %d, %d; want %d, %d", c.before, row, column, c.row, c.column)
		}
	}
}
