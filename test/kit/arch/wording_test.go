package arch_test

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// unclear matches phrases that have a plainer form: "reports whether", "no caller", "is not a", "if no ask is
// open". In place of "that of", "those that" or "one that", the noun is repeated.
var unclear = regexp.MustCompile(
	`(?i)\b(says?\s+whether|whoever|nobody|somebody|(?:is|are)\s+none|of\s+ours|beside\s+it|` +
		`that\s+of|those\s+(?:of|that|who)|ones?\s+that|the\s+one\s+of|that\s+which)\b`)

// wordingExempt lists the files whose text is not checked, each with a reason.
var wordingExempt = map[string]string{
	"test/kit/arch/wording_test.go":          "lists the phrases",
	"test/kit/arch/broken_reference_test.go": "contains a file with each phrase",
}

// wordingIsPlain requires that comments, string literals, documents and
// templates do not use the phrases of unclear.
func wordingIsPlain(t *tree, report report) {
	for _, p := range append(t.passages(), t.literals()...) {
		if _, ok := wordingExempt[p.file]; ok {
			continue
		}
		p.find(unclear, func(line int, groups []string) {
			report(token.NoPos, "%s:%d: %q has a plainer form", p.file, line,
				strings.Join(strings.Fields(groups[1]), " "))
		})
	}
}

// literals returns the string literals of Go files and the text of templates and schemas.
func (t *tree) literals() []passage {
	var all []passage
	for _, f := range t.files {
		if f.generated() {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				all = append(all, passage{f.name, t.fset.Position(lit.Pos()).Line, lit.Value})
			}
			return true
		})
	}
	for _, x := range t.texts {
		if path.Ext(x.name) == ".templ" || isSchema(x.name) {
			all = append(all, passage{x.name, 1, x.raw})
		}
	}
	return all
}

// spellingFile has the table of the renamed commands: the first string of each row is the old spelling.
const spellingFile = "cmd/askback/spelling.go"

// spellingExempt lists the files that may have old spellings, each with a reason.
var spellingExempt = map[string]string{
	spellingFile:                             "has the table",
	"cmd/askback/spelling_test.go":           "runs each old spelling",
	"CHANGELOG.md":                           "announces the new spellings",
	"test/kit/arch/broken_reference_test.go": "contains a file with an old spelling",
}

// spellingsAreCurrent requires that texts of all kinds, with their examples, name no command by an old spelling.
func spellingsAreCurrent(t *tree, report report) {
	old := t.oldSpellings()
	if old == nil {
		return
	}
	var all []passage
	for _, p := range append(t.passages(), t.literals()...) {
		if path.Ext(p.file) == ".go" {
			all = append(all, p)
		}
	}
	for _, x := range t.texts {
		all = append(all, passage{x.name, 1, x.raw})
	}
	for _, p := range all {
		if _, ok := spellingExempt[p.file]; ok {
			continue
		}
		p.find(old, func(line int, groups []string) {
			report(token.NoPos, "%s:%d: %q is an old spelling; %s has the new one", p.file, line,
				cmp.Or(groups[1], groups[2]), spellingFile)
		})
	}
}

// oldSpellings returns an expression for the old spellings of commands after the name of the program. If an
// old spelling has several words, the expression also matches it at the beginning of inline code.
// oldSpellings returns nil without a table.
func (t *tree) oldSpellings() *regexp.Regexp {
	var words, several []string
	for _, f := range t.files {
		if f.name != spellingFile {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			row, ok := n.(*ast.CompositeLit)
			if !ok || len(row.Elts) != 2 {
				return true
			}
			if lit, ok := row.Elts[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				old := regexp.QuoteMeta(strings.Trim(lit.Value, `"`))
				if words = append(words, old); strings.Contains(old, " ") {
					several = append(several, old)
				}
			}
			return true
		})
	}
	if len(several) == 0 {
		return nil
	}
	return regexp.MustCompile(
		"(?:\\baskback (?:--\\S+ \\S+ )*(" + strings.Join(words, "|") + ")|`(" + strings.Join(several, "|") + "))\\b",
	)
}
