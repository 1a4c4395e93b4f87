package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/askback/askback/test/kit/leftout"
)

// The example agents ask and exit. Started again with the name of their run, they continue with the answer
// (A4, B2).
func TestExampleAgentsContinueAfterARestart(t *testing.T) {
	t.Parallel()
	for file, interpreter := range map[string]string{"agent.py": "python3", "agent.sh": "bash"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{interpreter, "curl"} {
				if _, err := exec.LookPath(name); err != nil {
					leftout.Skip(t, "the example %s (%s is not installed)", file, name)
				}
			}
			s := newServer(t)
			run := func(name string, code int) string { return s.example(interpreter, file, name, code) }

			out := run("run-1", 75)
			id := askID.FindString(out)
			if id == "" {
				t.Fatalf("got %q, want an ask id in it", out)
			}
			if again := run("run-1", 75); askID.FindString(again) != id {
				t.Errorf("started again before the answer: got %q, want %s in it", again, id)
			}
			s.kill()
			s.start()
			s.call(s.user, "POST", "/asks/"+id+"/answer", `{"answer": "haiku"}`, 200)
			out = run("run-1", 0)
			for _, want := range []string{"<resume-context>", "Q: What style?", "A: haiku", "done: haiku"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
			s.requireSession("completed", map[string]any{"poem": "A haiku."})

			id = askID.FindString(run("run-2", 75))
			s.call(s.user, "POST", "/asks/"+id+"/decline", `{}`, 200)
			run("run-2", 1)
			s.requireSession("failed", nil)
		})
	}
}

// example runs a program of the folder examples, and requires its exit code.
func (s *testServer) example(interpreter, file, name string, code int) string {
	s.t.Helper()
	announced, _ := s.place.Last()
	cmd := exec.CommandContext(s.t.Context(), interpreter, "../../examples/"+file, name)
	cmd.Env = append(os.Environ(), "ASKBACK_URL="+announced.URL, "ASKBACK_TOKEN="+s.agent)
	out, err := cmd.CombinedOutput()
	if got := exitCode(err); got != code {
		s.t.Fatalf("%s %s: exit code %d, want %d\n%s", file, name, got, code, out)
	}
	return string(out)
}

// requireSession requires the status of the newest session and, unless result is nil, the
// poem in its result.
func (s *testServer) requireSession(status string, result any) {
	s.t.Helper()
	newest := s.call(s.user, "GET", "/sessions?limit=1", "", 200)["items"].([]any)[0].(map[string]any)
	if newest["status"] != status {
		s.t.Errorf("the session is %v, want %s", newest, status)
	}
	if want, ok := result.(map[string]any); ok && newest["result"].(map[string]any)["poem"] != want["poem"] {
		s.t.Errorf("the result is %v, want %v", newest["result"], want)
	}
}

// The example agents have at most 40 lines, and their README shows how to run them.
func TestExamplesAreShortAndInReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"agent.py", "agent.sh"} {
		f, err := os.Open("../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		}
		if n > 40 {
			t.Errorf("%s has %d lines, want at most 40", file, n)
		}
		if !regexp.MustCompile(`(?m)^(python3|bash) ` + regexp.QuoteMeta(file) + ` `).Match(readme) {
			t.Errorf("examples/README.md does not show how to run %s", file)
		}
	}
}
