package arch_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxColumns is the maximum width of a line; a tab counts as four columns.
const maxColumns = 120

// maxWord is the length of a word from which on its line may be wider. Such a word leaves little room for
// other words.
const maxWord = 80

// linesAreNarrow requires that the lines of sources and documents have at most
// maxColumns. Lines with a raw string are exempt, because a break would change
// it. So are tables, code, headings and the front matter of a document, and
// lines with a word that cannot be broken, such as a long link or a key.
func linesAreNarrow(t *tree, report report) {
	for _, f := range t.files {
		if f.generated() {
			continue
		}
		raw := t.rawLines(f)
		n := 0
		for line := range strings.Lines(f.raw) {
			if n++; isWide(line) && !raw[n] {
				report(token.NoPos, "%s:%d: the line has more than %d columns", f.name, n, maxColumns)
			}
		}
	}
	for _, x := range t.texts {
		switch {
		case path.Ext(x.name) == ".md":
			x.wideProse(report)
		case slices.Contains(narrowSources, path.Ext(x.name)) && !strings.Contains(x.name, "testdata/"):
			n := 0
			for line := range strings.Lines(x.raw) {
				if n++; isWide(line) {
					report(token.NoPos, "%s:%d: the line has more than %d columns", x.name, n, maxColumns)
				}
			}
		}
	}
}

// narrowSources are the extensions of sources that are not Go, and whose lines are checked. A line of SQL in a
// released migration cannot be changed.
var narrowSources = []string{".templ", ".css", ".js", ".mjs", ".ts", ".py", ".sh", ".yaml", ".yml"}

// wideProse reports the lines of a document that are too wide.
func (x *text) wideProse(report report) {
	n, code, front := 0, false, false
	for line := range strings.Lines(x.raw) {
		n++
		text := strings.TrimLeft(line, " >")
		if strings.HasPrefix(text, "```") {
			code = !code
		}
		if n == 1 && text == "---\n" {
			front = true
		} else if front {
			front = text != "---\n"
			continue
		}
		if isWide(line) && !code && !strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "#") {
			report(token.NoPos, "%s:%d: the line has more than %d columns", x.name, n, maxColumns)
		}
	}
}

// rawLines returns the numbers of the lines of a file that have a part of a raw string.
func (t *tree) rawLines(f *file) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value[0] == '`' {
			for i := t.fset.Position(lit.Pos()).Line; i <= t.fset.Position(lit.End()).Line; i++ {
				lines[i] = true
			}
		}
		return true
	})
	return lines
}

// isWide reports whether a line has more than maxColumns and no word of more than maxWord.
func isWide(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") <= maxColumns {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(line), func(word string) bool { return len(word) > maxWord })
}
