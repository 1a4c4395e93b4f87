package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported template of the pages is on /design.
func TestDesignHasEveryTemplate(t *testing.T) {
	var templates []string
	for _, file := range parsed(t, "../../internal/pages/*_templ.go") {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				templates = append(templates, f.Name.Name)
			}
		}
	}
	if len(templates) < 20 {
		t.Fatalf("found only the templates %v", templates)
	}
	used := map[string]bool{}
	for _, file := range parsed(t, "stories*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "pages" {
					used[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range templates {
		if !used[name] {
			t.Errorf("pages.%s is not in a story", name)
		}
	}
}

func parsed(t *testing.T, pattern string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		file, parseErr := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if parseErr != nil {
			err = parseErr
		}
		files = append(files, file)
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files of %s, %v", len(files), pattern, err)
	}
	return files
}

// The page links each story once, each story opens, and a theme replaces the style sheet.
func TestDesignShowsEachStory(t *testing.T) {
	d, err := newDesign()
	if err != nil {
		t.Fatal(err)
	}
	index, seen := get(t, d, "/design?width=800&theme=dark"), map[string]bool{}
	for _, s := range d.stories {
		if seen[s.slug()] {
			t.Errorf("two stories are called %s", s.slug())
		}
		seen[s.slug()] = true
		if n := strings.Count(index, `<figure id="`+s.slug()+`">`); n != 1 {
			t.Errorf("%s is %d times on the page", s.slug(), n)
		}
		page := get(t, d, s.address("dark"))
		if !strings.Contains(page, designStyle+"?theme=dark") ||
			strings.Contains(page, d.frame.Style) || len(page) < 500 {
			t.Errorf("%s has not the dark style sheet", s.slug())
		}
	}
	if !strings.Contains(index, "--agent-ground") || !strings.Contains(index, "#f4edfb") ||
		!strings.Contains(index, "#2d2542") {
		t.Error("the page does not have the colors of both themes")
	}
	if dark := get(t, d, designStyle+"?theme=dark"); !strings.Contains(dark, "@media all {") ||
		strings.Contains(dark, "prefers-color-scheme") {
		t.Error("the dark style sheet depends on the system")
	}
}

func get(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: got status %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}
