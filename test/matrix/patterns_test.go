package matrix

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// apiRoutes returns the routes of the API, from the description that the server serves.
func (w *world) apiRoutes() (all []string) {
	w.t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	w.must(json.Unmarshal([]byte(w.send(cell{row: row{method: "GET", path: "/api/openapi.json"}, caller: "none"}).body),
		&document))
	for path, methods := range document.Paths {
		for method := range methods {
			if method = strings.ToUpper(method); slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, method) {
				all = append(all, method+" "+path)
			}
		}
	}
	return all
}

// pagePatterns returns the patterns that package web handles. It reads them from the source, because a
// ServeMux does not list its patterns.
func pagePatterns(t *testing.T) (all []string) {
	t.Helper()
	consts := map[string]ast.Expr{}
	var files []*ast.File
	for _, folder := range []string{"web", "internal/pages", "internal/server/login", "internal/message/answerlink"} {
		for _, file := range parseFolder(t, filepath.Join("..", "..", folder)) {
			name := ""
			if folder != "web" {
				name = filepath.Base(folder) + "."
			} else {
				files = append(files, file)
			}
			addConsts(consts, name, file)
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); ok &&
				(method.Sel.Name == "Handle" || method.Sel.Name == "HandleFunc") {
				all = append(all, valueOf(t, consts, call.Args[0]))
			}
			return true
		})
	}
	if len(all) < 50 {
		t.Fatalf("found %d patterns in package web: %v", len(all), all)
	}
	return all
}

func parseFolder(t *testing.T, folder string) (all []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

// addConsts adds the constants of a file, by name after a prefix.
func addConsts(consts map[string]ast.Expr, prefix string, file *ast.File) {
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					if i < len(v.Values) {
						consts[prefix+name.Name] = v.Values[i]
					}
				}
			}
		}
	}
}

// valueOf returns the value of a constant string.
func valueOf(t *testing.T, consts map[string]ast.Expr, e ast.Expr) string {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	case *ast.BinaryExpr:
		return valueOf(t, consts, e.X) + valueOf(t, consts, e.Y)
	case *ast.Ident:
		if v := consts[e.Name]; v != nil {
			return valueOf(t, consts, v)
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && consts[pkg.Name+"."+e.Sel.Name] != nil {
			return valueOf(t, consts, consts[pkg.Name+"."+e.Sel.Name])
		}
	}
	t.Fatalf("a pattern of package web is no constant string: %#v", e)
	return ""
}

// tools returns the tools that agents have over MCP.
func (w *world) tools() (all []string) {
	w.t.Helper()
	var reply struct {
		Result struct{ Tools []struct{ Name string } }
	}
	c := cell{
		row: row{method: "POST", path: "/mcp"}, caller: "owner",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
	}
	w.must(json.Unmarshal([]byte(w.send(c).json()), &reply))
	for _, tool := range reply.Result.Tools {
		all = append(all, "MCP "+tool.Name)
	}
	return all
}
