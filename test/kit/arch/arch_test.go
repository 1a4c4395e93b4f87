package arch_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rules are the rules that the repository must follow, by name.
var rules = map[string]rule{
	"every package has a row":      everyPackageHasARow,
	"layers are kept":              layersAreKept,
	"frontends are independent":    frontendsAreIndependent,
	"channels are listed":          channelsAreListed,
	"libraries have owners":        librariesHaveOwners,
	"signatures have one form":     signaturesHaveOneForm,
	"no dot imports":               noDotImports,
	"pure imports only":            pureImportsOnly,
	"no clock in pure code":        noClock,
	"no concurrency in pure code":  noConcurrency,
	"no changed package variables": noChangedVariables,
	"no maps in the machines":      noMaps,
	"packages have comments":       packagesHaveComments,
	"exported names have comments": exportedNamesHaveComments,
	"no init functions":            noInit,
	"package names are clear":      packageNamesAreClear,
	"file names are nouns":         fileNamesAreNouns,
	"files are short":              filesAreShort,
	"folders are small":            foldersAreSmall,
	"the root is small":            rootIsSmall,
	"functions are short":          functionsAreShort,
	"tests do not sleep":           testsDoNotSleep,
	"omitted tests are found":      omittedTestsAreFound,
	"cited rows exist":             rowsExist,
	"rows are complete":            rowsAreComplete,
	"cited tests exist":            testsExist,
	"cited sections exist":         sectionsExist,
	"cited files exist":            filesExist,
	"nothing outside is cited":     nothingOutsideIsCited,
	"links resolve":                linksResolve,
	"documents are listed":         documentsAreListed,
	"doc links resolve":            docLinksResolve,
	"wording is plain":             wordingIsPlain,
	"spellings are current":        spellingsAreCurrent,
	"lines are narrow":             linesAreNarrow,
	"merges are complete":          mergesAreComplete,
}

func TestRepositoryFollowsTheRules(t *testing.T) {
	repo, err := read(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range rules {
		t.Run(name, func(t *testing.T) {
			for _, fault := range repo.broken(r) {
				t.Error(fault)
			}
		})
	}
}

// The rules read the files of the repository. Without files, no rule would be violated.
func TestRepositoryIsRead(t *testing.T) {
	repo, err := read(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	found := slices.ContainsFunc(repo.files, func(f *file) bool { return f.name == "test/kit/arch/arch_test.go" })
	if !found {
		t.Errorf("this file is not among the %d files that were read", len(repo.files))
	}
	mod, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "module " + module + "\n"; !strings.HasPrefix(string(mod), want) {
		t.Errorf("go.mod begins with %.60q, want %q", mod, want)
	}
}

// A document that is not read may have links that lead nowhere.
func TestEveryDocumentIsRead(t *testing.T) {
	root := os.DirFS(filepath.Join("..", "..", ".."))
	repo, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			found++
			if !slices.ContainsFunc(repo.texts, func(x *text) bool { return x.name == name }) {
				t.Errorf("%s was not read", name)
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("found %d documents: %v", found, err)
	}
}

// Every row names an existing package, or a library that a go.mod requires.
func TestTablesNameExistingPackages(t *testing.T) {
	repo, err := read(os.DirFS(filepath.Join("..", "..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for key := range layers {
		folder, below := strings.CutSuffix(key, "/...")
		if !slices.ContainsFunc(repo.files,
			func(f *file) bool { return f.pkg == key || below && under(f.pkg, folder) }) {
			t.Errorf("layers has a row for package %s, which does not exist", key)
		}
	}
	required := map[string]bool{}
	for _, folder := range []string{".", "test/bench/peers"} {
		mod, err := os.ReadFile(filepath.Join("..", "..", "..", folder, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(mod)) {
			if words := strings.Fields(line); len(words) > 1 {
				required[words[0]] = true
			}
		}
	}
	for _, library := range slices.Concat(slices.Collect(maps.Keys(owners)), testLibraries) {
		if !required[library] {
			t.Errorf("%s has a row, but no go.mod requires it", library)
		}
	}
}

// A pure package imports only pure packages, and every package in a table has a row in layers. A library has
// one owner, two or three owners with a reason, or is for tests only.
func TestTablesAreConsistent(t *testing.T) {
	for pkg := range pure {
		may, ok := layers[pkg]
		if !ok {
			t.Errorf("pure package %s has no row in layers", pkg)
		}
		for _, m := range may {
			if _, ok := pure[m]; !ok {
				t.Errorf("pure package %s may import %s, which is not pure", pkg, m)
			}
		}
	}
	for _, pkg := range slices.Concat(frontends, suites, withoutMaps) {
		if _, ok := layers[pkg]; !ok {
			t.Errorf("package %s has no row in layers", pkg)
		}
	}
	for library, o := range owners {
		if len(o.packages) > 3 || len(o.packages) > 1 && o.why == "" {
			t.Errorf("%s has %d owners: one, or two or three and the reason", library, len(o.packages))
		}
		for _, pkg := range o.packages {
			if _, ok := row(pkg); !ok {
				t.Errorf("%s is owned by %s, which has no row in layers", library, pkg)
			}
		}
		if forTests(library) {
			t.Errorf("%s is owned and for tests as well", library)
		}
	}
}
