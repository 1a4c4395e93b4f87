package arch_test

import (
	"go/ast"
	"go/token"
)

// packagesHaveComments requires a package comment.
func packagesHaveComments(t *tree, report report) {
	for pkg, files := range t.packages() {
		said := false
		for _, f := range files {
			said = said || hasText(f.ast.Doc)
		}
		if !said {
			report(token.NoPos, "package %s has no package comment", pkg)
		}
	}
}

// exportedNamesHaveComments requires comments on exported names, except in tests,
// commands and generated files. One comment is enough for a group of constants or
// variables.
func exportedNamesHaveComments(t *tree, report report) {
	for _, f := range t.files {
		if f.test || f.generated() || f.ast.Name.Name == "main" {
			continue
		}
		silent := func(name *ast.Ident, comments ...*ast.CommentGroup) {
			if !name.IsExported() {
				return
			}
			for _, c := range comments {
				if hasText(c) {
					return
				}
			}
			report(name.Pos(), "%s has no comment", name.Name)
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if r := receiver(d); r == "" || ast.IsExported(r) {
					silent(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						silent(s.Name, onlyOf(d), s.Doc, s.Comment)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							silent(name, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
}

// onlyOf returns the comment of a declaration with a single type. In a group, each type needs its own
// comment.
func onlyOf(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen.IsValid() {
		return nil
	}
	return d.Doc
}

func hasText(c *ast.CommentGroup) bool { return c != nil && c.Text() != "" }

// receiver returns the name of the receiver type, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "_"
		}
	}
}

// noInit forbids init functions, except in generated files.
func noInit(t *tree, report report) {
	for _, f := range t.files {
		for _, decl := range f.ast.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" && !f.generated() {
				report(d.Pos(), "init function in %s", f.pkg)
			}
		}
	}
}
