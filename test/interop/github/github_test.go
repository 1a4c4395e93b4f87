package github_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/command/githubaction/actiontest"
	"github.com/askback/askback/test/interop/clienttest"
	"github.com/askback/askback/test/kit/leftout"
)

func TestMain(m *testing.M) { clienttest.Main(m) }

const (
	actionFile = "../../../action.yml"
	page       = "../../../docs/github-action.md"
)

// write writes a file in a new folder, and returns the path of the file.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// GitHub's language service and schema of actions find no fault in action.yml and in the workflow of the
// documentation. They find the faults in changed files.
func TestActionIsValid(t *testing.T) {
	modules := filepath.Join(clienttest.Packages(t), "node_modules")
	find := func(file string) string {
		t.Helper()
		var found strings.Builder
		for _, args := range [][]string{
			{"node", "validate.mjs", modules, file},
			{"node", filepath.Join(modules, "@action-validator/cli/cli.mjs"), file},
		} {
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Stdout, cmd.Stderr = &found, &found
			if err := cmd.Run(); err != nil {
				t.Logf("%v: %v", args, err) // one of the checks fails for a wrong file
			}
		}
		return found.String()
	}
	action, err := os.ReadFile(actionFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	workflow := regexp.MustCompile("(?s)```yaml\n(name: .*?)```").FindSubmatch(doc)
	if workflow == nil {
		t.Fatal("the page has no workflow")
	}
	for name, text := range map[string]string{"action.yml": string(action), "deploy.yml": string(workflow[1])} {
		if found := find(write(t, name, text)); found != "" {
			t.Errorf("%s:\n%s", name, found)
		}
	}
	for _, c := range []struct{ name, text, old, new string }{
		{"action.yml", string(action), "shell: bash", "shel: bash"},
		{"action.yml", string(action), "toJSON(matrix)", "toJSON(secrets)"},
		{"deploy.yml", string(workflow[1]), "timeout-minutes", "timeout-hours"},
		{"deploy.yml", string(workflow[1]), "vars.ASKBACK_URL", "variables.ASKBACK_URL"},
	} {
		changed := strings.Replace(c.text, c.old, c.new, 1)
		if changed == c.text || find(write(t, c.name, changed)) == "" {
			t.Errorf("%s with %q instead of %q: nothing was found", c.name, c.new, c.old)
		}
	}
}

// Without askback in the PATH, the action builds it, and asks.
func TestActionBuildsTheProgram(t *testing.T) {
	if os.Getenv(clienttest.Folder) == "" {
		leftout.Skip(t, "the build of the program by the action (make interop tests it)")
	}
	p := clienttest.New(t)
	action, err := actiontest.Read(actionFile)
	if err != nil {
		t.Fatal(err)
	}
	path := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "askback"))
		return err == nil
	})
	temp := t.TempDir()
	environ := append(os.Environ(), "PATH="+strings.Join(path, string(os.PathListSeparator)), "RUNNER_TEMP="+temp,
		"XDG_STATE_HOME="+temp, "GITHUB_RUN_ID=1", "GITHUB_REPOSITORY=shop/api", "GITHUB_ACTION=approval",
		"GITHUB_JOB=production")
	results := make(chan actiontest.Result, 1)
	go func() {
		defer close(results)
		res, err := action.Run(t.Context(), actiontest.Job{
			Dir: temp, Environ: environ,
			With: map[string]string{"action": "Deploy 1.4.0", "url": p.URL, "token": p.AgentToken},
		})
		if err != nil {
			t.Error(err)
		}
		results <- res
	}()
	waitForFile(t, filepath.Join(temp, "askback-action", "askback"))
	p.Answer(p.Open(1)[0].ID, askback.Decide(askback.Approve, ""))
	if res := <-results; res.Failed || res.Outputs["decision"] != "approved" {
		t.Errorf("the decision is %q:\n%s", res.Outputs["decision"], res.Log)
	}
}

// waitForFile waits until a file exists. The build can take minutes.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	over := time.After(10 * time.Minute)
	for {
		select {
		case <-over:
			t.Fatalf("%s was not built", path)
		case <-tick.C:
			if _, err := os.Stat(path); err == nil {
				return
			}
		}
	}
}
