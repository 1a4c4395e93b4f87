package sdk_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/leftout"
	"github.com/askback/askback/test/interop/clienttest"
)

// blocks returns the code blocks of a page in a language, such as "ts".
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
	args := []string{filepath.Join(clienttest.Packages(t), "node_modules", "typescript", "bin", "tsc"), "--strict",
		"--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2023", "--module", "nodenext", "--types", "node"}
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

// The program of the README runs as it is, and its types are checked strictly.
func TestReadmeProgramRuns(t *testing.T) {
	programs := map[string]func(t *testing.T) []string{
		"TypeScript": func(t *testing.T) []string {
			dir := compile(t, map[string]string{"readme.ts": blocks(t, "../../../sdk/typescript/README.md", "ts")[0]})
			return []string{node(t), filepath.Join(dir, "readme.js")}
		},
		"Python": func(t *testing.T) []string {
			return []string{python(t), "-c", blocks(t, "../../../sdk/python/README.md", "python")[0]}
		},
	}
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			args := program(t)
			server := clienttest.New(t)
			run := exec.CommandContext(t.Context(), args[0], args[1:]...)
			run.Env = append(pythonPath(t), server.Environ("ASKBACK_URL="+server.URL, "ASKBACK_TOKEN="+server.AgentToken)...)
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, os.Stderr
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			server.Answer(server.Open(1)[0].ID, askback.Choose("haiku"))
			server.Answer(server.Open(1)[0].ID, askback.Answer{Decision: askback.Approve, Input: json.RawMessage(`{"to": "staging"}`)})
			if err := run.Wait(); err != nil {
				t.Fatalf("%v: %s", err, out.String())
			}
			got := strings.Join(strings.Fields(strings.ReplaceAll(out.String(), "'", `"`)), " ")
			for _, want := range []string{"a haiku", "staging"} {
				contains(t, got, want)
			}
		})
	}
}

// The types of the package for Python are complete, and checked strictly.
func TestTypesOfPythonAreStrict(t *testing.T) {
	mypy, err := exec.LookPath("mypy")
	if err != nil {
		leftout.Skip(t, "the types of the package for Python (mypy is missing)")
	}
	check := exec.CommandContext(t.Context(), mypy, "--strict", "--enable-incomplete-feature=Unpack", "--cache-dir="+t.TempDir(), "src")
	check.Dir = "../../../sdk/python"
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("mypy: %v\n%s", err, out)
	}
}
