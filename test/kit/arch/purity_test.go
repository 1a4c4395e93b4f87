package arch_test

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// pureFiles calls visit for each file of a pure package, except tests.
func pureFiles(t *tree, visit func(f *file, helper string)) {
	for _, f := range t.files {
		if helper, ok := pure[f.pkg]; ok && !f.test {
			visit(f, helper)
		}
	}
}

// pureImportsOnly limits the imports of a pure package to pureImports, packages of this
// module and its helper library. A package in pooled may import sync, too.
func pureImportsOnly(t *tree, report report) {
	pureFiles(t, func(f *file, helper string) {
		for _, i := range f.imports {
			_, ours := inside(i.path)
			pool := i.path == "sync" && slices.Contains(pooled, f.pkg)
			if !ours && !pool && i.path != helper && !slices.Contains(pureImports, i.path) {
				report(i.pos, "%s is pure and must not import %s", f.pkg, i.path)
			}
		}
	})
}

// noClock forbids clocks and output in pure packages.
func noClock(t *tree, report report) {
	pureFiles(t, func(f *file, _ string) {
		f.uses(func(importPath, name string, at token.Pos) {
			if slices.ContainsFunc(impure[importPath], func(pattern string) bool { return matches(pattern, name) }) {
				report(at, "%s is pure and must not use %s.%s", f.pkg, importPath, name)
			}
		})
	})
}

func matches(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return name == pattern || open && strings.HasPrefix(name, prefix)
}

// noConcurrency forbids goroutines and channels in pure packages.
func noConcurrency(t *tree, report report) {
	pureFiles(t, func(f *file, _ string) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				what = "a go statement"
			case *ast.SelectStmt:
				what = "a select"
			case *ast.ChanType:
				what = "a channel type"
			case *ast.SendStmt:
				what = "a send"
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					what = "a receive"
				}
			}
			if what != "" {
				report(n.Pos(), "%s is pure and must not have %s", f.pkg, what)
			}
			return true
		})
	})
}

// noChangedVariables forbids changes of package variables in pure packages.
func noChangedVariables(t *tree, report report) {
	pureFiles(t, func(f *file, _ string) {
		info := t.types.info(f.pkg)
		change := func(e ast.Expr) {
			if name := packageVariable(info, e); name != "" {
				report(e.Pos(), "%s is pure and must not change the package variable %s", f.pkg, name)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, e := range n.Lhs {
						change(e)
					}
				}
			case *ast.IncDecStmt:
				change(n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					change(n.Key)
					change(n.Value)
				}
			case *ast.CallExpr:
				if b, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"clear", "copy", "delete"}, b.Name) &&
					len(n.Args) > 0 {
					change(n.Args[0])
				}
			}
			return true
		})
	})
}

// packageVariable returns the name of the package variable that an assignment to the expression e changes, or
// "". For example, it returns x for the expression x.f[1].
func packageVariable(info *types.Info, e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			if p, ok := x.X.(*ast.Ident); ok {
				if _, foreign := info.Uses[p].(*types.PkgName); foreign {
					return p.Name + "." + x.Sel.Name
				}
			}
			e = x.X
		case *ast.Ident:
			v, ok := info.Uses[x].(*types.Var)
			if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return x.Name
			}
			return ""
		default:
			return ""
		}
	}
}

// noMaps forbids maps in the packages of withoutMaps, even if another package
// declares the map type.
func noMaps(t *tree, report report) {
	for _, pkg := range withoutMaps {
		for _, f := range t.packages()[pkg] {
			info := t.types.info(pkg)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				typ := info.TypeOf(e)
				if _, written := e.(*ast.MapType); written || typ != nil && isMap(typ) {
					report(e.Pos(), "%s must not have a map: its order is random", pkg)
				}
				return true
			})
			for _, i := range f.imports {
				if i.path == "maps" {
					report(i.pos, "%s must not import maps: their order is random", pkg)
				}
			}
		}
	}
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// A checker resolves names. It knows the packages of the tree and not the
// standard library, so type errors are expected and ignored.
type checker struct {
	tree  *tree
	done  map[string]*types.Package
	infos map[string]*types.Info
}

func newChecker(t *tree) *checker {
	return &checker{tree: t, done: map[string]*types.Package{}, infos: map[string]*types.Info{}}
}

// info returns the types in the files of a package, except tests.
func (c *checker) info(pkg string) *types.Info {
	if _, ok := c.infos[pkg]; !ok {
		c.check(pkg)
	}
	return c.infos[pkg]
}

// Import implements types.Importer for the packages of the tree.
func (c *checker) Import(importPath string) (*types.Package, error) {
	pkg, ours := inside(importPath)
	if !ours {
		return nil, errors.New("not in this tree")
	}
	if p, ok := c.done[pkg]; ok {
		if p == nil {
			return nil, errors.New("import cycle")
		}
		return p, nil
	}
	return c.check(pkg), nil
}

func (c *checker) check(pkg string) *types.Package {
	var files []*ast.File
	for _, f := range c.tree.packages()[pkg] {
		files = append(files, f.ast)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	c.infos[pkg] = info
	c.done[pkg] = nil
	conf := types.Config{Importer: c, Error: func(error) {}}
	p, _ := conf.Check(pkg, c.tree.fset, files, info)
	p.MarkComplete()
	c.done[pkg] = p
	return p
}
