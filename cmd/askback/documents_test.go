package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/decode"
)

func readme(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// codeBlocks returns the code blocks of a page in one language.
func codeBlocks(page, language string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// The command line parser accepts each command of the README, and no example deletes
// files.
func TestReadmeCommandsParse(t *testing.T) {
	shell := strings.Join(codeBlocks(readme(t), "sh"), "\n")
	found := regexp.MustCompile(`(?m)(?:^|\$\()(?:go run \./cmd/)?askback ((?:"[^"]*"|'[^']*'|[^"'&)#\n])*)`).FindAllStringSubmatch(shell, -1)
	if len(found) < 10 {
		t.Fatalf("found %d commands in\n%s", len(found), shell)
	}
	for _, c := range found {
		words, err := exec.Command("sh", "-c", `printf '%s\n' `+c[1]).Output()
		if err != nil {
			t.Errorf("%s: %v", c[1], err)
			continue
		}
		if _, err := (&commands{}).parser().Parse(strings.Split(strings.TrimSpace(string(words)), "\n")); err != nil {
			t.Errorf("askback %s: %v", c[1], err)
		}
	}
	for _, line := range strings.Split(shell, "\n") {
		if regexp.MustCompile(`\b(rm|rmdir|mkfs|dd)\b `).MatchString(line) {
			t.Errorf("an example deletes files: %s", line)
		}
	}
}

// The questions.json of the README is a valid request.
func TestReadmeQuestionsFileIsValid(t *testing.T) {
	file := regexp.MustCompile(`(?s)cat > questions\.json <<'END'\n(.*?)END\n`).FindStringSubmatch(readme(t))
	if file == nil {
		t.Fatal("the README does not write a questions.json")
	}
	r, err := decode.Request([]byte(file[1]))
	if err == nil {
		_, err = r.Normalize()
	}
	if err != nil {
		t.Errorf("%v in\n%s", err, file[1])
	}
}

// The Go program of the README runs and prints the answer.
func TestReadmeProgramRuns(t *testing.T) {
	programs := codeBlocks(readme(t), "go")
	if len(programs) != 1 {
		t.Fatalf("the README has %d programs, want 1", len(programs))
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(programs[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("go", "run", file)
	run.Dir = filepath.Join("..", "..")
	out, err := run.CombinedOutput()
	if err != nil || string(out) != "SQLite\n" {
		t.Errorf("got %q, %v; want SQLite", out, err)
	}
}

// Links of the README to its sections and to files resolve.
func TestReadmeLinksResolve(t *testing.T) {
	page := readme(t)
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		headings["#"+strings.ReplaceAll(name, " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(page, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target == "" {
			if !headings[m[1]] {
				t.Errorf("no section %s", m[1])
			}
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
			t.Errorf("%s: %v", m[1], err)
		}
	}
}
