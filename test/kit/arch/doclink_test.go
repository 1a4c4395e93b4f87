package arch_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"unicode"
)

// docLink matches a link of a doc comment, as go doc reads it: an exported name
// in brackets, with its type or package before it.
var docLink = regexp.MustCompile(
	`(?:^|[\s(])\[\*?((?:[a-z][a-z0-9]*\.)?[A-Z][A-Za-z0-9]*(?:\.[A-Z][A-Za-z0-9]*)?)\](?:$|[\s).,:;])`,
)

// docLinksResolve requires that doc links name a declaration of the package or
// of an imported package. Declarations of other modules are not checked.
func docLinksResolve(t *tree, report report) {
	declared, packages := map[string]bool{}, map[string]string{}
	for _, f := range t.files {
		for _, name := range declarations(f.ast) {
			declared[f.pkg+" "+name] = true
		}
		for _, i := range f.imports {
			packages[f.pkg+" "+i.name] = i.path
		}
	}
	resolves := func(f *file, link string) bool {
		if first, name, _ := strings.Cut(link, "."); unicode.IsLower(rune(first[0])) {
			imported, ok := packages[f.pkg+" "+first]
			folder, ours := inside(imported)
			return ok && (!ours || declared[folder+" "+name])
		}
		return declared[f.pkg+" "+link]
	}
	for _, f := range t.files {
		if f.generated() {
			continue
		}
		for _, group := range f.ast.Comments {
			p := passage{f.name, t.fset.Position(group.Pos()).Line, commentText(group)}
			p.find(docLink, func(line int, groups []string) {
				if !resolves(f, groups[1]) {
					report(token.NoPos, "%s:%d: [%s] names nothing", f.name, line, groups[1])
				}
			})
		}
	}
}

// declarations returns the names that a file declares, and Type.Name for
// methods and fields.
func declarations(f *ast.File) []string {
	var all []string
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if r := receiver(d); r != "" {
				all = append(all, r+"."+d.Name.Name)
			} else {
				all = append(all, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						all = append(all, name.Name)
					}
				case *ast.TypeSpec:
					all = append(all, s.Name.Name)
					all = append(all, members(s)...)
				}
			}
		}
	}
	return all
}

// members returns the fields of a struct and the methods of an interface.
func members(s *ast.TypeSpec) []string {
	var list *ast.FieldList
	switch x := s.Type.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return nil
	}
	var all []string
	for _, field := range list.List {
		for _, name := range field.Names {
			all = append(all, s.Name.Name+"."+name.Name)
		}
	}
	return all
}
