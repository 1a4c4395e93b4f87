package sdk_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/leftout"
)

// blocks returns the code blocks on a page that are in the given language, such as "ts".
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(raw, -1) {
		all = append(all, string(m[1]))
	}
	if len(all) == 0 {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return all
}

// compile writes TypeScript to a project in which the package is installed, checks its types
// strictly, and returns the path of the program.
func compile(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := project(t)
	args := []string{
		filepath.Join(clienttest.Packages(t), "node_modules", "typescript", "bin", "tsc"), "--strict",
		"--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2023", "--module", "nodenext", "--types", "node",
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	check := exec.Command(node(t), args...)
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("tsc: %v\n%s", err, out)
	}
	return dir
}

// The programs of the documents run unchanged. The types of the TypeScript programs are checked
// strictly.
func TestProgramsOfDocumentsRun(t *testing.T) {
	t.Parallel()
	const root = "../../../"
	style := askback.Choose("haiku")
	deploy := askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to": "staging"}`)}
	for _, c := range []struct {
		page, language string
		answers        []askback.Answer
		want           []string
	}{
		{"docs/programs.md", "ts", []askback.Answer{style}, []string{"haiku"}},
		{"docs/programs.md", "python", []askback.Answer{style}, []string{"haiku"}},
		{"sdk/typescript/README.md", "ts", []askback.Answer{style, deploy}, []string{"a haiku", "staging"}},
		{"sdk/python/README.md", "python", []askback.Answer{style, deploy}, []string{"a haiku", "staging"}},
	} {
		t.Run(c.language+" of "+c.page, func(t *testing.T) {
			program := blocks(t, root+c.page, c.language)[0]
			var args []string
			switch c.language {
			case "ts":
				dir := compile(t, map[string]string{"program.ts": program})
				args = []string{node(t), filepath.Join(dir, "program.js")}
			case "python":
				args = []string{python(t), "-c", program}
			}
			server := clienttest.New(t)
			run := exec.CommandContext(t.Context(), args[0], args[1:]...)
			run.Env = append(pythonPath(t),
				server.Environ("ASKBACK_URL="+server.URL, "ASKBACK_TOKEN="+server.AgentToken)...)
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, os.Stderr
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			for _, answer := range c.answers {
				server.Answer(server.Open(1)[0].ID, answer)
			}
			if err := run.Wait(); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			got := strings.Join(strings.Fields(strings.ReplaceAll(out.String(), "'", `"`)), " ")
			for _, want := range c.want {
				contains(t, got, want)
			}
		})
	}
}

// The types of the package for Python are complete and pass a strict check.
func TestPythonTypesPassAStrictCheck(t *testing.T) {
	t.Parallel()
	mypy, err := exec.LookPath("mypy")
	if err != nil {
		leftout.Skip(t, "the types of the package for Python (mypy is missing)")
	}
	check := exec.CommandContext(t.Context(), mypy, "--strict", "--enable-incomplete-feature=Unpack",
		"--cache-dir="+t.TempDir(), "src")
	check.Dir = "../../../sdk/python"
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("mypy: %v\n%s", err, out)
	}
}

// The examples of docs/frameworks.md are valid. TypeScript is checked with the types of the frameworks, and
// Python with the names of the package.
func TestFrameworkExamplesAreValid(t *testing.T) {
	t.Parallel()
	page := "../../../docs/frameworks.md"
	t.Run("Python", func(t *testing.T) {
		check := `import ast, importlib, sys
for node in ast.walk(ast.parse(sys.argv[1])):
    if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "askback":
        for name in node.names:
            getattr(importlib.import_module(node.module), name.name)`
		for _, block := range blocks(t, page, "python") {
			run := exec.CommandContext(t.Context(), python(t), "-c", check, block)
			run.Env = append(os.Environ(), pythonPath(t)...)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v: %s\n%s", err, out, block)
			}
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		files := map[string]string{}
		for i, block := range blocks(t, page, "ts") {
			files["example"+strconv.Itoa(i)+".ts"] = block
		}
		compile(t, files)
	})
}

// A generator of types accepts the description of the API, and a linter finds no errors in it.
func TestToolsAcceptTheAPIDescription(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(clienttest.Packages(t), "node_modules")
	server := clienttest.New(t)
	reply, err := http.Get(server.URL + "/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"openapi.json": raw, ".spectral.yaml": []byte(`extends: ["spectral:oas"]`),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.ts"},
		{"@stoplight/spectral-cli/dist/index.js", "lint", "openapi.json", "--fail-severity", "error"},
		{"typescript/bin/tsc", "--strict", "--noEmit", "api.ts"},
	} {
		run := exec.CommandContext(t.Context(), node(t),
			append([]string{filepath.Join(modules, args[0])}, args[1:]...)...)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
}
