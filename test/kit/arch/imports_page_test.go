package arch_test

import (
	"fmt"
	"go/doc"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/askback/askback/test/kit/golden"
)

// importsHead is the text of docs/design/imports.md above its tables.
const importsHead = `# Who may import whom

*Generated from the tables in ` + "`test/kit/arch/table_test.go`" + `: do not edit. Write the page anew with
` + "`go test ./test/kit/arch -update`" + `. The same test fails while the page and the tables differ.*

The first sentence of a package is from its comment. "Root" is the package ` + "`askback`" + `, and "…" is every package
below a folder. Test files may import any package, except that frontends never import each other. A *pure* package only
computes: it has no clock, no goroutine and no channel, and changes no package variable.
[Packages and rules](packages.md) has the reasons.
`

// The page of imports is generated from the tables.
func TestImportsPageMatchesTables(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	repo, err := read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join(root, "docs", "design", "imports.md"), importsPage(repo))
}

// importsPage returns the page of imports as Markdown, with a table for each folder of the root.
func importsPage(t *tree) string {
	var b strings.Builder
	b.WriteString(importsHead)
	packages, section := t.packages(), ""
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		if top, _, _ := strings.Cut(pkg, "/"); top != section {
			section = top
			fmt.Fprintf(&b, "\n## %s\n\n| package | what it is | may import |\n|---|---|---|\n", packageTitle(top))
		}
		may, _ := row(pkg)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", packageName(pkg), synopsis(pkg, packages[pkg]), importable(may))
	}
	b.WriteString("\n## Libraries\n\n| library | may be imported by | reason for more than one |\n|---|---|---|\n")
	for _, library := range slices.Sorted(maps.Keys(owners)) {
		o := owners[library]
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", library, importable(o.packages), o.why)
	}
	fmt.Fprintf(&b, "\nOnly tests and suites import these: `%s`.\n",
		strings.Join(slices.Sorted(slices.Values(testLibraries)), "`,\n`"))
	return b.String()
}

// synopsis returns the first sentence of the package comment, without "Package name", and a mark
// if the package is pure.
func synopsis(pkg string, files []*file) string {
	var sentence string
	for _, f := range files {
		if hasText(f.ast.Doc) {
			sentence = new(doc.Package).Synopsis(f.ast.Doc.Text())
			break
		}
	}
	for _, prefix := range []string{"Package ", "Command "} {
		if rest, ok := strings.CutPrefix(sentence, prefix); ok {
			_, sentence, _ = strings.Cut(rest, " ")
		}
	}
	sentence = strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
	if _, ok := pure[pkg]; ok {
		sentence += " (*pure*)"
	}
	return sentence
}

// importable returns the packages of a row as Markdown.
func importable(may []string) string {
	var names []string
	for _, m := range slices.Sorted(slices.Values(may)) {
		names = append(names, packageName(m))
	}
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}

// packageName returns the name of a package, or of a pattern of packages, as Markdown.
func packageName(pkg string) string {
	switch pkg {
	case ".":
		return "root"
	case "*":
		return "all"
	}
	if folder, below := strings.CutSuffix(pkg, "/*"); below {
		return "`" + folder + "/…`"
	}
	return "`" + pkg + "`"
}

// packageTitle returns the heading for the packages of a folder of the root.
func packageTitle(folder string) string {
	if folder == "." {
		return "The root"
	}
	return folder
}
