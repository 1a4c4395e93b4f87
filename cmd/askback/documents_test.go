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

// Pages of the documentation, by their paths from the root.
const (
	frontPage    = "README.md"
	programsPage = "docs/programs.md"
)

func document(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// codeBlocks returns the code blocks of a page in one language.
func codeBlocks(page, language string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// The command line parser accepts each command of the pages, and no example deletes files.
func TestCommandsOfDocumentsParse(t *testing.T) {
	for page, atLeast := range map[string]int{frontPage: 6, programsPage: 7} {
		t.Run(page, func(t *testing.T) {
			shell := strings.Join(codeBlocks(document(t, page), "sh"), "\n")
			found := commandLine.FindAllStringSubmatch(shell, -1)
			if len(found) < atLeast {
				t.Fatalf("found %d commands, want at least %d, in\n%s", len(found), atLeast, shell)
			}
			for _, c := range found {
				checkCommand(t, c[1])
			}
			for line := range strings.Lines(shell) {
				if deletion.MatchString(line) {
					t.Errorf("an example deletes files: %s", line)
				}
			}
		})
	}
}

var (
	commandLine = regexp.MustCompile(
		`(?m)(?:^|\$\()(?:go run \./cmd/)?askback ((?:"[^"]*"|'[^']*'|[^"'&)#\n])*)`)
	deletion = regexp.MustCompile(`\b(rm|rmdir|mkfs|dd)\b `)
)

// checkCommand parses the arguments of a command, as a shell writes them.
func checkCommand(t *testing.T, args string) {
	t.Helper()
	words, err := exec.Command("sh", "-c", `printf '%s\n' `+args).Output()
	if err == nil {
		_, err = (&commands{}).parser().Parse(strings.Split(strings.TrimSpace(string(words)), "\n"))
	}
	if err != nil {
		t.Errorf("askback %s: %v", args, err)
	}
}

// The questions.json of the page is a valid request.
func TestQuestionsFileOfDocumentIsValid(t *testing.T) {
	file := regexp.MustCompile(`(?s)cat > questions\.json <<'END'\n(.*?)END\n`).
		FindStringSubmatch(document(t, programsPage))
	if file == nil {
		t.Fatalf("%s does not write a questions.json", programsPage)
	}
	r, err := decode.Request([]byte(file[1]))
	if err == nil {
		_, err = r.Normalize()
	}
	if err != nil {
		t.Errorf("%v in\n%s", err, file[1])
	}
}

// The Go program of the page runs and prints the answer.
func TestGoProgramOfDocumentRuns(t *testing.T) {
	programs := codeBlocks(document(t, programsPage), "go")
	if len(programs) != 1 {
		t.Fatalf("%s has %d programs, want 1", programsPage, len(programs))
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
