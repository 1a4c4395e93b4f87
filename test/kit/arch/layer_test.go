package arch_test

import (
	"go/token"
	"maps"
	"slices"
	"strings"
)

// row returns the row of a package in layers.
func row(pkg string) ([]string, bool) {
	if may, ok := layers[pkg]; ok {
		return may, true
	}
	for key, may := range layers {
		if folder, ok := strings.CutSuffix(key, "/..."); ok && under(pkg, folder) {
			return may, true
		}
	}
	return nil, false
}

func allows(may []string, target string) bool {
	return slices.ContainsFunc(may, func(m string) bool {
		folder, below := strings.CutSuffix(m, "/*")
		return m == "*" || m == target || below && under(target, folder)
	})
}

// everyPackageHasARow requires a row in layers for each package.
func everyPackageHasARow(t *tree, report report) {
	for _, f := range t.files {
		if _, ok := row(f.pkg); !ok {
			report(token.NoPos, "package %s has no row in layers: add it to test/kit/arch/table_test.go", f.pkg)
		}
	}
}

// layersAreKept requires that imports within the module follow layers. Test
// files are exempt.
func layersAreKept(t *tree, report report) {
	for _, f := range t.files {
		may, _ := row(f.pkg)
		for _, i := range f.imports {
			target, ours := inside(i.path)
			if ours && !f.test && target != f.pkg && !allows(may, target) {
				report(i.pos, "%s must not import %s", f.pkg, target)
			}
		}
	}
}

// frontendsAreIndependent requires that frontends do not import each other,
// even in tests.
func frontendsAreIndependent(t *tree, report report) {
	frontendOf := func(pkg string) string {
		for _, d := range frontends {
			if under(pkg, d) {
				return d
			}
		}
		return ""
	}
	for _, f := range t.files {
		from := frontendOf(f.pkg)
		for _, i := range f.imports {
			target, ours := inside(i.path)
			if to := frontendOf(target); from != "" && ours && to != "" && to != from {
				report(i.pos, "%s must not import %s: frontends are independent", f.pkg, target)
			}
		}
	}
}

// channelsAreListed requires that the list of channels has each channel, and that the rest of the program
// uses only the list. Only webhook may be used by name, because agents choose it and commands manage it.
func channelsAreListed(t *tree, report report) {
	const list = "internal/channels/kinds"
	isChannel := func(pkg string) bool {
		name, below := strings.CutPrefix(pkg, "channel/")
		return below && !strings.Contains(name, "/") && !slices.Contains(suites, pkg)
	}
	var listed []string
	for _, f := range t.files {
		for _, i := range f.imports {
			switch target, _ := inside(i.path); {
			case !isChannel(target) || f.test || under(f.pkg, "channel") || under(f.pkg, "test"):
			case f.pkg == list:
				listed = append(listed, target)
			case target != "channel/webhook":
				report(i.pos, "%s must not import %s: it reads %s", f.pkg, target, list)
			}
		}
	}
	for _, f := range t.files {
		if isChannel(f.pkg) && !slices.Contains(listed, f.pkg) {
			listed = append(listed, f.pkg)
			report(token.NoPos, "%s is not in %s", f.pkg, list)
		}
	}
}

// librariesHaveOwners requires that only its owners import a library.
func librariesHaveOwners(t *tree, report report) {
	for _, f := range t.files {
		for _, i := range f.imports {
			if !thirdParty(i.path) || under(f.pkg, otherModule) ||
				(f.test || slices.Contains(suites, f.pkg)) && forTests(i.path) {
				continue
			}
			if !owns(f.pkg, i.path) {
				report(i.pos, "%s does not own %s: see owners in test/kit/arch/table_test.go", f.pkg, i.path)
			}
		}
	}
}

// otherModule is the folder of a module with a go.mod of its own: the libraries there are not requirements of
// this module.
const otherModule = "release"

func forTests(library string) bool {
	return slices.ContainsFunc(testLibraries, func(l string) bool { return under(library, l) })
}

func owns(pkg, library string) bool {
	for prefix, o := range owners {
		if under(library, prefix) && slices.ContainsFunc(o.packages, func(p string) bool {
			return p == pkg || p == "test/bench" && under(pkg, p)
		}) {
			return true
		}
	}
	return false
}

// signaturesHaveOneForm limits crypto/hmac.New to the folders in signers.
func signaturesHaveOneForm(t *tree, report report) {
	folders := slices.Collect(maps.Keys(signers))
	for _, f := range t.files {
		if f.test || slices.ContainsFunc(folders, func(folder string) bool { return under(f.pkg, folder) }) {
			continue
		}
		f.uses(func(importPath, name string, at token.Pos) {
			if importPath == "crypto/hmac" && name == "New" {
				report(at, "%s must sign with internal/mac", f.pkg)
			}
		})
	}
}

// noDotImports forbids dot imports.
func noDotImports(t *tree, report report) {
	for _, f := range t.files {
		for _, i := range f.imports {
			if i.name == "." {
				report(i.pos, "dot import of %s", i.path)
			}
		}
	}
}
