package arch_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// unclear matches phrases that have a plainer form: "reports whether", "no
// caller", "is not a", "if no ask is open".
var unclear = regexp.MustCompile(`(?i)\b(says?\s+whether|whoever|nobody|somebody|(?:is|are)\s+none|of\s+ours|beside\s+it)\b`)

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
			report(token.NoPos, "%s:%d: %q has a plainer form", p.file, line, strings.Join(strings.Fields(groups[1]), " "))
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
