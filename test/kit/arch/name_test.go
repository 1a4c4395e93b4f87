package arch_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// packageNamesAreClear requires that a package has the name of its folder. The name must not be vague, and
// must not be the name of a standard package.
func packageNamesAreClear(t *tree, report report) {
	taken := map[string]string{}
	for _, std := range strings.Fields(standard) {
		taken[lastWord(std)] = std
	}
	for _, f := range t.files {
		at, name := f.ast.Name.Pos(), f.ast.Name.Name
		if f.test {
			name = strings.TrimSuffix(name, "_test")
		}
		folder := path.Base(f.pkg)
		if f.pkg == "." {
			folder = path.Base(module)
		}
		if name != "main" && name != folder {
			report(at, "package %s is in the folder %s", name, folder)
		}
		if std, ok := taken[name]; ok {
			report(at, "package %s takes the name of %s", name, std)
		}
		for _, word := range append(strings.Split(f.pkg, "/"), name) {
			if slices.Contains(vagueNames, word) {
				report(at, "the name %s is vague", word)
			}
		}
	}
}

// fileNamesAreNouns forbids vague file names.
func fileNamesAreNouns(t *tree, report report) {
	for _, f := range t.files {
		base := strings.TrimSuffix(path.Base(f.name), "_test.go")
		base = strings.TrimSuffix(base, ".go") + ".go"
		if slices.Contains(vagueFileNames, base) {
			report(token.NoPos, "%s: name the file after the noun inside", f.name)
		}
	}
}

// filesAreShort limits the lines of a file.
func filesAreShort(t *tree, report report) {
	for _, f := range t.files {
		limit := maxLines
		if f.test || slices.Contains(suites, f.pkg) {
			limit = maxTestLines
		}
		if f.lines > limit && !f.generated() {
			report(token.NoPos, "%s has %d lines, at most %d are allowed", f.name, f.lines, limit)
		}
	}
}

// rootIsSmall limits the exported names of the root: constants, variables, types and functions.
func rootIsSmall(t *tree, report report) {
	n := 0
	for _, f := range t.files {
		if f.pkg != "." || f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			n += exportedNames(decl)
		}
	}
	if n > maxRootNames {
		report(token.NoPos,
			"the root exports %d names, at most %d are allowed: move the names that a program does not need", n,
			maxRootNames)
	}
}

// exportedNames returns the number of exported names of a declaration. A method is not counted.
func exportedNames(decl ast.Decl) (n int) {
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				count(s.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					count(name)
				}
			}
		}
	}
	return n
}

// foldersAreSmall limits the files of a package and the folders of a folder.
func foldersAreSmall(t *tree, report report) {
	packages := t.packages()
	for pkg, limit := range maxFiles {
		if n := len(packages[pkg]); n > limit {
			report(token.NoPos, "%s has %d files, at most %d are allowed", pkg, n, limit)
		}
	}
	for folder, limit := range maxFolders {
		names := map[string]bool{}
		for pkg := range packages {
			if rest, ok := strings.CutPrefix(pkg, folder+"/"); ok {
				name, _, _ := strings.Cut(rest, "/")
				names[name] = true
			}
		}
		if len(names) > limit {
			report(token.NoPos, "%s has %d folders, at most %d are allowed: group what belongs together", folder,
				len(names), limit)
		}
	}
}

// functionsAreShort limits the lines of a function, except in tests.
func functionsAreShort(t *tree, report report) {
	for _, f := range t.files {
		if f.test || f.generated() || slices.Contains(suites, f.pkg) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := t.fset.Position(fn.End()).Line - t.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				report(fn.Pos(), "%s has %d lines, at most %d are allowed", fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// testsDoNotSleep forbids time.Sleep in tests.
func testsDoNotSleep(t *tree, report report) {
	for _, f := range t.files {
		if !f.test && !slices.Contains(suites, f.pkg) {
			continue
		}
		f.uses(func(importPath, name string, at token.Pos) {
			if importPath == "time" && name == "Sleep" {
				report(at, "time.Sleep in a test: wait for a condition, with a deadline")
			}
		})
	}
}

// omittedTestsAreFound requires that racedetector.Omit is called by a test itself, with t,
// because scripts/test.sh searches for such tests to run them without the race detector.
func omittedTestsAreFound(t *tree, report report) {
	for _, f := range t.files {
		found := map[token.Pos]bool{}
		for _, d := range f.ast.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || test.Recv != nil || !strings.HasPrefix(test.Name.Name, "Test") {
				continue
			}
			for _, s := range test.Body.List {
				if s, ok := s.(*ast.ExprStmt); ok && isCallWithT(s.X) {
					found[s.Pos()] = true
				}
			}
		}
		f.uses(func(importPath, name string, at token.Pos) {
			if importPath == module+"/test/kit/racedetector" && name == "Omit" && !found[at] {
				report(at,
					"scripts/test.sh does not find this test: write racedetector.Omit(t) as a statement of the test")
			}
		})
	}
}

// isCallWithT reports whether an expression is racedetector.Omit(t).
func isCallWithT(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && types.ExprString(call) == "racedetector.Omit(t)"
}
