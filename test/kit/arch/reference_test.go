package arch_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// tables are the documents with numbered rows, by their letter. Comments cite
// them: (F7), (T28), (W10).
var tables = map[byte]string{
	'A': "docs/features.md", 'B': "docs/features.md", 'C': "docs/features.md",
	'D': "docs/features.md", 'E': "docs/features.md", 'F': "docs/features.md",
	'T': "docs/threats.md",
	'W': "docs/malformed.md",
}

var (
	citedRow     = regexp.MustCompile(`\b[A-HTW][0-9]{1,2}\b`)
	citedSection = regexp.MustCompile(`\b([a-z]+\.md),?\s+(?:§|sections? )([0-9]+)(?:(?:,| and)\s+§?([0-9]+))?`)
	citedHeading = regexp.MustCompile(`\b([a-z]+\.md),?\s+"([^"]+)"`)
	citedPage    = regexp.MustCompile(`(?:^|[^A-Za-z0-9_./-])(?:docs/)?([a-z]+\.md)\b`)
	citedFile    = regexp.MustCompile("(?:^|[\\s(\"'`])([a-z]+/[A-Za-z0-9_.*/-]*)")
	citedCommand = regexp.MustCompile(`\bgo (?:build|run|test|vet)(?: -\S+)* \./([a-z][A-Za-z0-9_/-]*)`)
	citedTest    = regexp.MustCompile("`([A-Za-z0-9_/]+)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`")
	citedOutside = regexp.MustCompile(`(\b[Ss]eeds? 0\d\d\b|\bthe seeds\b|\b[Ii]ssue [0-9]+\b|\b[Dd]esign "|\bmission\b|\bresearch (?:found|says|shows)\b|\bresearch/)|(?:^ ?|[^0-9., ] ?)\b(00[0-4])\b`)
	numberedRow  = regexp.MustCompile(`^\| ([A-Z])([0-9]+) \|`)
	numberedHead = regexp.MustCompile(`^## ([0-9]+)\. `)
	link         = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// controlSets are names of ISO 6429, which are not rows.
var controlSets = map[string]bool{"C0": true, "C1": true}

// rowsExist requires that cited rows exist.
func rowsExist(t *tree, report report) {
	rows := map[string]bool{}
	for _, x := range t.texts {
		for line := range strings.Lines(x.raw) {
			if m := numberedRow.FindStringSubmatch(line); m != nil && tables[m[1][0]] == x.name {
				rows[m[1]+m[2]] = true
			}
		}
	}
	for _, p := range t.passages() {
		p.find(citedRow, func(line int, groups []string) {
			row := groups[0]
			if rows[row] || controlSets[row] {
				return
			}
			if table, ok := tables[row[0]]; ok {
				report(token.NoPos, "%s:%d: %s is not a row of %s", p.file, line, row, table)
			} else {
				report(token.NoPos, "%s:%d: no document has rows like %s", p.file, line, row)
			}
		})
	}
}

// rowsAreComplete requires that the rows of a table are numbered without gaps and
// have four cells. Each row names a test unless it is "not built yet".
func rowsAreComplete(t *tree, report report) {
	for _, x := range t.texts {
		last, n := map[string]int{}, 0
		for line := range strings.Lines(x.raw) {
			n++
			m := numberedRow.FindStringSubmatch(line)
			if m == nil || tables[m[1][0]] != x.name {
				continue
			}
			last[m[1]]++
			if want := fmt.Sprint(last[m[1]]); m[2] != want {
				report(token.NoPos, "%s:%d: row %s%s comes where %s%s was expected", x.name, n, m[1], m[2], m[1], want)
			}
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			if len(cells) != 4 {
				report(token.NoPos, "%s:%d: row %s%s has %d cells, not 4", x.name, n, m[1], m[2], len(cells))
				continue
			}
			later := strings.HasPrefix(strings.ToLower(strings.TrimSpace(cells[2])), "not built yet")
			if !later && !citedTest.MatchString(cells[3]) {
				report(token.NoPos, "%s:%d: row %s%s names no test", x.name, n, m[1], m[2])
			}
		}
	}
}

// testsExist requires that tests, examples and fuzz tests that are named in
// documents exist.
func testsExist(t *tree, report report) {
	have := map[string]bool{}
	for _, f := range t.files {
		for _, decl := range f.ast.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && f.test && d.Recv == nil {
				have[f.pkg+"."+d.Name.Name] = true
			}
		}
	}
	for _, x := range t.texts {
		if !x.document() {
			continue
		}
		p := passage{x.name, 1, x.raw}
		p.find(citedTest, func(line int, groups []string) {
			pkg := groups[1]
			if pkg == path.Base(module) {
				pkg = "."
			}
			if !have[pkg+"."+groups[2]] {
				report(token.NoPos, "%s:%d: there is no test %s in %s", x.name, line, groups[2], groups[1])
			}
		})
	}
}

// sectionsExist requires that cited pages, numbered sections and headings
// exist.
func sectionsExist(t *tree, report report) {
	sections, headings := map[string]bool{}, map[string]bool{}
	for _, x := range t.texts {
		if path.Dir(x.name) != "docs" {
			continue
		}
		for line := range strings.Lines(x.prose) {
			if m := numberedHead.FindStringSubmatch(line); m != nil {
				sections[path.Base(x.name)+m[1]] = true
			}
			if title := strings.TrimLeft(line, "#"); title != line {
				headings[path.Base(x.name)+strings.TrimSpace(title)] = true
			}
		}
	}
	for _, p := range t.passagesWithCode() {
		p.find(citedPage, func(line int, groups []string) {
			if !t.names["docs/"+groups[1]] && !t.names[path.Join(path.Dir(p.file), groups[1])] {
				report(token.NoPos, "%s:%d: there is no docs/%s", p.file, line, groups[1])
			}
		})
		p.find(citedSection, func(line int, groups []string) {
			for _, n := range groups[2:] {
				if n != "" && !sections[groups[1]+n] {
					report(token.NoPos, "%s:%d: docs/%s has no section %s", p.file, line, groups[1], n)
				}
			}
		})
		p.find(citedHeading, func(line int, groups []string) {
			if !headings[groups[1]+groups[2]] {
				report(token.NoPos, "%s:%d: docs/%s has no heading %q", p.file, line, groups[1], groups[2])
			}
		})
	}
}

// filesExist requires that paths from the root, which may be patterns, match a
// file or folder. Paths that do not begin with a folder of the root are
// ignored.
func filesExist(t *tree, report report) {
	for _, p := range t.passagesWithCode() {
		p.find(citedFile, func(line int, groups []string) {
			name, _, _ := strings.Cut(strings.TrimRight(groups[1], "./"), ".Test")
			name, _, _ = strings.Cut(name, ".Fuzz")
			name, _, _ = strings.Cut(name, ".Example")
			top, _, _ := strings.Cut(name, "/")
			if !t.names[top] || top == "testdata" || t.names[name] || t.names[path.Join(path.Dir(p.file), name)] {
				return
			}
			for have := range t.names {
				if ok, _ := path.Match(name, have); ok {
					return
				}
			}
			report(token.NoPos, "%s:%d: there is no file %s", p.file, line, name)
		})
		p.find(citedCommand, func(line int, groups []string) {
			if name := strings.TrimRight(groups[1], "/"); !t.names[name] {
				report(token.NoPos, "%s:%d: there is no package ./%s", p.file, line, name)
			}
		})
	}
}

// nothingOutsideIsCited forbids references to documents that are not in the
// repository and have no address.
func nothingOutsideIsCited(t *tree, report report) {
	for _, p := range t.passages() {
		p.find(citedOutside, func(line int, groups []string) {
			report(token.NoPos, "%s:%d: %q refers to something that is not in the repository", p.file, line, groups[1]+groups[2])
		})
	}
}

// linksResolve requires that relative links of documents lead to a file, and to
// a heading if they have an anchor.
func linksResolve(t *tree, report report) {
	anchors := map[string]bool{}
	for _, x := range t.texts {
		for line := range strings.Lines(blankLines(x.raw, fences())) {
			if title := strings.TrimLeft(line, "#"); x.document() && title != line {
				anchors[x.name+"#"+anchor(title)] = true
			}
		}
	}
	for _, x := range t.texts {
		if !x.document() {
			continue
		}
		p := passage{x.name, 1, x.prose}
		p.find(link, func(line int, groups []string) {
			if strings.Contains(groups[1], ":") {
				return
			}
			to, at, anchored := strings.Cut(groups[1], "#")
			file := x.name
			if to != "" {
				file = path.Join(path.Dir(x.name), to)
			}
			switch {
			case !t.names[file]:
				report(token.NoPos, "%s:%d: the link %s leads to no file", x.name, line, groups[1])
			case anchored && !anchors[file+"#"+at]:
				report(token.NoPos, "%s:%d: the link %s leads to no heading", x.name, line, groups[1])
			}
		})
	}
}

// anchor returns the anchor of a heading, as GitHub generates it.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}
