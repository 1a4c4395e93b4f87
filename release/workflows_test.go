package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A lintFault is a fault that actionlint finds.
type lintFault struct {
	Message string
	Line    int
}

// lintWorkflow returns the faults that actionlint finds in a workflow. It checks the scripts of steps, too, if
// shellcheck is installed.
func lintWorkflow(t *testing.T, text string) (faults []lintFault) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools.mod", "actionlint", "-pyflakes=",
		"-format", "{{json .}}", "-")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	cmd.Dir = ".."
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("actionlint: %v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &faults); err != nil {
		t.Fatalf("actionlint: %v\n%s", err, out)
	}
	return faults
}

func workflows(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

func TestWorkflowsAreValid(t *testing.T) {
	for path, text := range workflows(t) {
		for _, fault := range lintWorkflow(t, text) {
			t.Errorf("%s:%d: %s", path, fault.Line, fault.Message)
		}
	}
	release := workflows(t)["../.github/workflows/release.yml"]
	for old, wrong := range map[string]string{
		"needs: [build, release]": "needs: [build, releases]",
		"steps.version.outputs":   "steps.versions.outputs",
		"packages: write":         "packages: writes",
	} {
		changed := strings.Replace(release, old, wrong, 1)
		if changed == release || len(lintWorkflow(t, changed)) == 0 {
			t.Errorf("no fault is found in %q instead of %q", wrong, old)
		}
	}
}

// actionlint does not read actions, so the steps of action.yml are checked as steps of a workflow.
func TestStepsOfTheActionAreValid(t *testing.T) {
	text, err := os.ReadFile("../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, steps, found := strings.Cut(string(text), "\n  steps:\n")
	if !found {
		t.Fatal("action.yml has no steps")
	}
	inputs := regexp.MustCompile(`(?s)\ninputs:\n(.*?)\n\n`).FindStringSubmatch(string(text))
	names := regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs[1], -1)
	head := "on:\n  workflow_call:\n    inputs:\n"
	for _, name := range names {
		head += "      " + name[1] + ": {type: string}\n"
	}
	head += "jobs:\n  action:\n    runs-on: ubuntu-24.04\n    strategy: {matrix: {a: [1]}}\n    steps:\n"
	workflow := head + regexp.MustCompile(`(?m)^`).ReplaceAllString(steps, "  ")
	for _, fault := range lintWorkflow(t, workflow) {
		t.Errorf("action.yml, line %d of its steps: %s", fault.Line-strings.Count(head, "\n"), fault.Message)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("LEFT OUT: the scripts of workflows and of the action (shellcheck is not installed)")
	}
	changed := strings.Replace(workflow, `printf 'path`, `printf $program 'path`, 1)
	if changed == workflow || len(lintWorkflow(t, changed)) == 0 {
		t.Error("an unquoted variable is not found")
	}
}

// A release is made with the Go of go.mod, and with everything that its files need. Before a release of all
// platforms begins, the script ends if something is missing. A release for tests goes on.
func TestReleaseNeedsItsGoAndNix(t *testing.T) {
	script, err := filepath.Abs("../scripts/release.sh")
	if err != nil {
		t.Fatal(err)
	}
	toolchain := regexp.MustCompile(`(?m)^toolchain (go1\.\d+\.\d+)$`).FindStringSubmatch(readText(t, "../go.mod"))
	if toolchain == nil {
		t.Fatal("go.mod does not have the Go of releases")
	}
	const goes = "go install"
	for _, c := range []struct {
		platforms, version string
		nix                bool
		want               []string
	}{
		{"all", toolchain[1], true, []string{goes}},
		{"all", "go1.26.0", true, []string{"release: the bytes of a release are made with " + toolchain[1]}},
		{"all", toolchain[1], false, []string{"release: the file for Nix needs nix-hash"}},
		{"tested", "go1.26.0", false, []string{"LEFT OUT: the bytes", "LEFT OUT: the file for Nix", goes}},
	} {
		bin := map[string]string{
			"go": `case $1 in env) echo ` + c.version + `;; *) echo "go $1"; exit 9;; esac`,
		}
		for _, name := range []string{"bash", "dirname", "mkdir", "sed"} {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Fatal(err)
			}
			bin[name] = "exec " + path + ` "$@"`
		}
		if c.nix {
			bin["nix-hash"] = ""
		}
		out, _, err := runStep(t, `PATH=${PATH%%:*} XDG_CACHE_HOME=$PWD "$SCRIPT" "$PLATFORMS"`, nil, bin,
			"SCRIPT="+script, "PLATFORMS="+c.platforms)
		goesOn := strings.Contains(out, goes)
		for _, want := range c.want {
			if err == nil || !strings.Contains(out, want) || goesOn != slices.Contains(c.want, goes) {
				t.Errorf("%+v: got %v, want %q in\n%s", c, err, want, out)
			}
		}
	}
}

var usesAction = regexp.MustCompile(`(?m)uses: (\S+)(.*)$`)

// A tag of an action can move, so each action is pinned to a commit, whose tag is in a comment. Only jobs that
// publish have permissions to write.
func TestWorkflowsHaveNoMoreThanTheyNeed(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	for path, text := range workflows(t) {
		for _, m := range usesAction.FindAllStringSubmatch(text, -1) {
			if !pinned.MatchString(m[1]) || !regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`).MatchString(m[2]) {
				t.Errorf("%s: %s%s is not pinned to a commit with its tag", path, m[1], m[2])
			}
		}
		if !regexp.MustCompile(`(?m)^permissions:( \{\}|\n  contents: read)$`).MatchString(text) {
			t.Errorf("%s: the workflow has more permissions than to read", path)
		}
		if strings.Contains(path, "test") && strings.Contains(text, ": write") {
			t.Errorf("%s: tests need no permission to write", path)
		}
	}
}
