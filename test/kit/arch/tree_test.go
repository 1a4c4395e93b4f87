package arch_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A file is one parsed Go source.
type file struct {
	name    string // path from the root, with slashes
	pkg     string // its folder, "." for the root
	test    bool
	raw     string
	lines   int
	ast     *ast.File
	imports []importedPackage
}

// An importedPackage is a package that a file imports, with its name there.
type importedPackage struct {
	path string
	name string
	pos  token.Pos
}

// A tree is the parsed content of a repository.
type tree struct {
	fset  *token.FileSet
	files []*file
	texts []*text
	names map[string]bool // files and folders, from the root
	types *checker
}

// A report is a function that records a violation. The position may be token.NoPos.
type report func(at token.Pos, format string, args ...any)

// A rule reports the violations of a tree.
type rule func(*tree, report)

// read parses all Go files and reads the texts. A file that does not parse is
// an error.
func read(root fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	t.types = newChecker(t)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(t.fset, name, src, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read sources: %w", err)
		}
		t.files = append(t.files, &file{
			name:    name,
			pkg:     path.Dir(name),
			test:    strings.HasSuffix(name, "_test.go"),
			raw:     string(src),
			lines:   bytes.Count(src, []byte("\n")),
			ast:     f,
			imports: importsOf(f),
		})
		return nil
	})
	return t, errors.Join(err, t.readTexts(root))
}

// skipped reports whether a folder contains no packages. The go command skips
// these folders too.
func skipped(folder string) bool {
	return folder == "testdata" || folder == "vendor" || strings.HasPrefix(folder, "_") ||
		strings.HasPrefix(folder, ".") && folder != "."
}

func importsOf(f *ast.File) []importedPackage {
	var all []importedPackage
	for _, spec := range f.Imports {
		// The parser has accepted the literal, so it can be unquoted.
		at, _ := strconv.Unquote(spec.Path.Value)
		name := lastWord(at)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		all = append(all, importedPackage{path: at, name: name, pos: spec.Pos()})
	}
	return all
}

// lastWord returns the probable name of a package: rand for math/rand/v2.
func lastWord(importPath string) string {
	words := strings.Split(importPath, "/")
	last := words[len(words)-1]
	if len(words) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = words[len(words)-2]
	}
	return last
}

// broken runs a rule and returns its reports, sorted and without duplicates.
func (t *tree) broken(r rule) []string {
	var all []string
	r(t, func(at token.Pos, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if at.IsValid() {
			p := t.fset.Position(at)
			text = fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, text)
		}
		all = append(all, text)
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// packages returns the files of each package except tests, by folder.
func (t *tree) packages() map[string][]*file {
	all := map[string][]*file{}
	for _, f := range t.files {
		if !f.test {
			all[f.pkg] = append(all[f.pkg], f)
		}
	}
	return all
}

// generated reports whether a file is generated.
func (f *file) generated() bool {
	return strings.HasSuffix(f.name, "_templ.go") || strings.HasSuffix(f.name, "_gen.go")
}

// uses calls visit for each name of an imported package that the file uses.
func (f *file) uses(visit func(importPath, name string, at token.Pos)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, i := range f.imports {
			if i.name == x.Name {
				visit(i.path, sel.Sel.Name, sel.Pos())
			}
		}
		return true
	})
}

// inside returns the folder of a package, and whether the package is in this module.
func inside(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// thirdParty reports whether a path is neither of this module nor of the
// standard library.
func thirdParty(importPath string) bool {
	_, ours := inside(importPath)
	first, _, _ := strings.Cut(importPath, "/")
	return !ours && strings.Contains(first, ".")
}

// under reports whether a path is a folder or below it.
func under(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }
