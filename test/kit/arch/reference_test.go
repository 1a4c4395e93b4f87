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
	citedSection = regexp.MustCompile(`\b(` + page + ")`?,?\\s+(?:§|sections? )([0-9]+)(?:(?:,| and)\\s+§?([0-9]+))?")
	citedHeading = regexp.MustCompile(`\b(` + page + ")`?,?\\s+\"([^\"]+)\"")
	citedPage    = regexp.MustCompile(`(?:^|[^A-Za-z0-9_./-])(` + page + `)(?:#([a-z0-9-]+))?\b`)
	citedByText  = regexp.MustCompile(`\b(docs/` + page + `)(?:#([a-z0-9-]+))?\b`)
	citedFile    = regexp.MustCompile("(?:^|[\\s(\"'`])([a-z]+/[A-Za-z0-9_.*/-]*)")
	citedCommand = regexp.MustCompile(`\bgo (?:build|run|test|vet)(?: -\S+)* \./([a-z][A-Za-z0-9_/-]*)`)
	citedTest    = regexp.MustCompile("`([A-Za-z0-9_/]+)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`")
	citedOutside = regexp.MustCompile(`(\b[Ss]eeds? 0\d\d\b|\bthe seeds\b|\b[Ii]ssue [0-9]+\b|\b[Dd]esign "|\bmission\b|\bresearch (?:found|says|shows)\b|\bresearch/)|(?:^ ?|[^0-9., ] ?)\b(00[0-4])\b`)
	numberedRow  = regexp.MustCompile(`^\| ([A-Z])([0-9]+) \|`)
	numberedHead = regexp.MustCompile(`^## ([0-9]+)\. `)
	link         = regexp.MustCompile(`\]\(([^)\s]+)\)|^ *\[[^\]]+\]: +(\S+)|\b(?:href|src|srcset)="([^"]+)"`)
)

// page matches the name of a document, with the folders before it.
const page = `(?:[a-z][a-z-]*/)*[a-z][a-z-]+\.md`

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

// sectionsExist requires that cited pages, numbered sections, headings and anchors exist. Texts of
// users may cite pages by their path from the root.
func sectionsExist(t *tree, report report) {
	have := t.headings()
	check := func(re *regexp.Regexp, p passage, fault func(line int, cited, page string, groups []string)) {
		p.find(re, func(line int, groups []string) {
			fault(line, groups[1], t.pageOf(p.file, groups[1]), groups[2:])
		})
	}
	exists := func(p passage) func(int, string, string, []string) {
		return func(line int, cited, page string, anchor []string) {
			switch {
			case page == "" && t.isOurs(cited):
				report(token.NoPos, "%s:%d: there is no %s", p.file, line, cited)
			case page != "" && anchor[0] != "" && !have[page+"#"+anchor[0]]:
				report(token.NoPos, "%s:%d: %s has no anchor #%s", p.file, line, page, anchor[0])
			}
		}
	}
	for _, p := range t.passagesWithCode() {
		check(citedPage, p, exists(p))
		check(citedSection, p, func(line int, _, page string, numbers []string) {
			for _, n := range numbers {
				if page != "" && n != "" && !have[page+" §"+n] {
					report(token.NoPos, "%s:%d: %s has no section %s", p.file, line, page, n)
				}
			}
		})
		check(citedHeading, p, func(line int, _, page string, titles []string) {
			if page != "" && !have[page+" "+titles[0]] {
				report(token.NoPos, "%s:%d: %s has no heading %q", p.file, line, page, titles[0])
			}
		})
	}
	for _, p := range t.textsOfUsers() {
		check(citedByText, p, exists(p))
	}
}

// pageOf returns the path of a document that a file cites: from the root, from docs, or from the
// folder of the file. It returns "" if there is no such document.
func (t *tree) pageOf(file, cited string) string {
	for _, folder := range []string{"", "docs", path.Dir(file)} {
		if name := path.Join(folder, cited); t.names[name] {
			return name
		}
	}
	return ""
}

// isOurs reports whether a document that is cited would be in docs or in a folder of the root.
func (t *tree) isOurs(cited string) bool {
	top, _, below := strings.Cut(cited, "/")
	return !below || t.names[top] || t.names["docs/"+top]
}

// headings returns the headings of all documents: as "page title", as "page#anchor" and, if they
// are numbered, as "page §number".
func (t *tree) headings() map[string]bool {
	all := map[string]bool{}
	for _, x := range t.texts {
		if !x.document() {
			continue
		}
		for line := range strings.Lines(blankLines(x.raw, fences())) {
			title := strings.TrimLeft(line, "#")
			if title == line {
				continue
			}
			if m := numberedHead.FindStringSubmatch(line); m != nil {
				all[x.name+" §"+m[1]] = true
			}
			all[x.name+" "+strings.TrimSpace(title)] = true
			all[x.name+"#"+anchor(title)] = true
		}
	}
	return all
}

// textsOfUsers returns the string literals of the programs and the templates of the pages.
func (t *tree) textsOfUsers() []passage {
	var all []passage
	for _, f := range t.files {
		if f.test || f.generated() || under(f.pkg, "test") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				all = append(all, passage{f.name, t.fset.Position(s.Pos()).Line, s.Value})
			}
			return true
		})
	}
	for _, x := range t.texts {
		if path.Ext(x.name) == ".templ" {
			all = append(all, passage{x.name, 1, x.raw})
		}
	}
	return all
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
			report(token.NoPos, "%s:%d: %q refers to something that is not in the repository", p.file, line,
				groups[1]+groups[2])
		})
	}
}

// linksResolve requires that relative links of documents, and the pictures of their HTML, lead to a file. A
// link with an anchor must lead to a heading.
func linksResolve(t *tree, report report) {
	have := t.headings()
	for _, x := range t.texts {
		if !x.document() {
			continue
		}
		n := 0
		for line := range strings.Lines(x.prose) {
			n++
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target := m[1] + m[2] + m[3]
				if strings.Contains(target, ":") {
					continue
				}
				to, at, anchored := strings.Cut(target, "#")
				file := x.name
				if to != "" {
					file = path.Join(path.Dir(x.name), to)
				}
				switch {
				case !t.names[file]:
					report(token.NoPos, "%s:%d: the link %s leads to no file", x.name, n, target)
				case anchored && !have[file+"#"+at]:
					report(token.NoPos, "%s:%d: the link %s leads to no heading", x.name, n, target)
				}
			}
		}
	}
}

// The first pages of the repository, of the documentation and of the design.
const (
	frontPage   = "README.md"
	indexPage   = "docs/README.md"
	designPage  = "docs/design.md"
	frontLength = 130 // most lines of the first page
)

// documentsAreListed requires that the index of the documentation links each document below docs
// once. The first page of the design links the documents of its folder.
func documentsAreListed(t *tree, report report) {
	links := map[string]int{}
	for _, x := range t.texts {
		if x.name != indexPage && x.name != designPage {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(x.prose, -1) {
			to, _, _ := strings.Cut(m[1], "#")
			links[x.name+" "+path.Join("docs", to)]++
		}
	}
	for _, x := range t.texts {
		folder, _, _ := strings.Cut(x.name, "/")
		switch {
		case x.name == frontPage && strings.Count(x.raw, "\n") > frontLength:
			report(token.NoPos, "%s: has more than %d lines", x.name, frontLength)
		case folder != "docs" || !x.document() || x.name == indexPage:
		case path.Dir(x.name) == strings.TrimSuffix(designPage, ".md"):
			if links[designPage+" "+x.name] == 0 {
				report(token.NoPos, "%s: does not link %s", designPage, x.name)
			}
		case links[indexPage+" "+x.name] != 1:
			report(token.NoPos, "%s: links %s %d times, want once", indexPage, x.name, links[indexPage+" "+x.name])
		}
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
