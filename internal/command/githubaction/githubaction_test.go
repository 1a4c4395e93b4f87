package githubaction_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/command/githubaction"
	"github.com/askback/askback/internal/command/githubaction/actiontest"
)

// env returns an environment for the first attempt of a run. The variables in more take precedence.
func env(more map[string]string) func(string) string {
	return func(name string) string {
		if value, ok := more[name]; ok {
			return value
		}
		return map[string]string{
			"GITHUB_OUTPUT": "out", "GITHUB_RUN_ID": "4711", "GITHUB_REPOSITORY": "shop/api",
			"GITHUB_ACTION": "approval", "INPUT_ACTION": "Deploy",
		}[name]
	}
}

// No text that is written to a log becomes a command of the runner.
func FuzzLogContainsNoCommands(f *testing.F) {
	for _, s := range []string{
		"::add-mask::x", "a\n::set-output name=a::b", "x ##[set-output name=a]b", "\r::error::x", "##[##[error]x",
		"::TOKEN::\n::error::x", "\u2028::error::x", "askback: ::error::x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		log := githubaction.NewLog(&b, "TOKEN")
		_, _ = io.WriteString(log, text)
		log.Close("")
		if got := actiontest.Commands(b.String()); len(got) > 0 ||
			!strings.HasPrefix(b.String(), "::stop-commands::TOKEN\n") {
			t.Errorf("%q has the commands %q:\n%s", text, got, b.String())
		}
		_, written, _ := strings.Cut(b.String(), "\n") // remove the line that stops commands
		if got := actiontest.Commands(strings.ReplaceAll(written, "::TOKEN::", "")); len(got) > 0 {
			t.Errorf("%q has the commands %q if they are not stopped:\n%s", text, got, b.String())
		}
		b.Reset()
		log.Close(text)
		if got := actiontest.Commands(b.String()); len(text) > 0 && !slices.Equal(got, []string{"error"}) {
			t.Errorf("the problem %q has the commands %q", text, got)
		}
	})
}

// A value of an output cannot set another output.
func TestValueCannotSetAnotherOutput(t *testing.T) {
	var b strings.Builder
	if err := githubaction.WriteOutputs(&b, []githubaction.Output{{"a", "1\nEOF\nb<<EOF\n2"}}, "EOF"); err == nil ||
		b.Len() > 0 {
		t.Errorf("a value with the delimiter was written: %q", b.String())
	}
	if err := githubaction.WriteOutputs(&b, []githubaction.Output{{"a", "1\n2\n"}, {"b", ""}}, "EOF"); err != nil ||
		b.String() != "a<<EOF\n1\n2\n\nEOF\nb<<EOF\n\nEOF\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// Each attempt of a run has the keys of the earlier attempts. If the input has a key, the attempt has only
// this key.
func TestEachAttemptTriesTheKeysOfEarlierAttempts(t *testing.T) {
	read := func(more map[string]string) []string {
		t.Helper()
		s, err := githubaction.Read(env(more))
		if err != nil {
			t.Fatal(err)
		}
		return s.Keys()
	}
	first := read(nil)
	if len(first) != 1 || !strings.HasPrefix(first[0], "github/4711/") {
		t.Errorf("the first attempt has the keys %q", first)
	}
	if got, want := read(map[string]string{"GITHUB_RUN_ATTEMPT": "3"}), []string{
		first[0], first[0] + "/2", first[0] + "/3",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := read(map[string]string{"GITHUB_RUN_ATTEMPT": "3", "INPUT_KEY": "mine"}); !slices.Equal(got,
		[]string{"mine"}) {
		t.Errorf("got %q, want the key of the input", got)
	}
	for _, name := range []string{
		"INPUT_ACTION", "INPUT_DETAILS", "INPUT_TO", "INPUT_STARTED_BY", "ASKBACK_MATRIX", "GITHUB_JOB",
	} {
		if got := read(map[string]string{name: "other"}); got[0] == first[0] {
			t.Errorf("the key does not depend on %s", name)
		}
	}
	for _, attempt := range []string{"x", "0", "1000000000"} {
		if _, err := githubaction.Read(env(map[string]string{"GITHUB_RUN_ATTEMPT": attempt})); err == nil {
			t.Errorf("the attempt %s was accepted", attempt)
		}
	}
}

// An ask of an earlier attempt is spent if its approval was used, or if it was cancelled or expired without a
// default.
func TestAskWithUsedApprovalOrWithoutAnswerAtItsEndIsSpent(t *testing.T) {
	for _, c := range []struct {
		name     string
		outcome  *askback.Outcome
		consumed bool
		want     bool
	}{
		{"open", nil, false, false},
		{"answered", &askback.Outcome{Status: askback.Answered}, false, false},
		{"used", &askback.Outcome{Status: askback.Answered, Decision: askback.Approve}, true, true},
		{"denied", &askback.Outcome{Status: askback.Answered, Decision: askback.Deny}, false, false},
		{"declined", &askback.Outcome{Status: askback.Declined}, false, false},
		{"expired", &askback.Outcome{Status: askback.Expired}, false, true},
		{"default applied", &askback.Outcome{Status: askback.Expired, Defaulted: true}, false, false},
		{"cancelled", &askback.Outcome{Status: askback.Cancelled}, false, true},
	} {
		a := askback.Ask{Outcome: c.outcome, Status: askback.Pending}
		if c.outcome != nil {
			a.Status = c.outcome.Status
		}
		if c.consumed {
			a.ConsumedAt = time.Unix(1, 0)
		}
		if got := githubaction.Spent(a); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The action passes on every input, and describes every output that the program writes.
func TestActionDeclaresEveryInputAndOutput(t *testing.T) {
	action, err := actiontest.Read("../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	steps := action.Runs.Steps
	passed := steps[len(steps)-1].Env
	var described []string
	for name := range action.Inputs {
		if name != "url" && name != "token" && name != "program" {
			described = append(described, name)
		}
	}
	for _, name := range githubaction.Inputs() {
		if got, want := passed[githubaction.Variable(name)], "${{ inputs."+name+" }}"; got != want {
			t.Errorf("%s is %q, want %q", githubaction.Variable(name), got, want)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(githubaction.Inputs())),
		slices.Sorted(slices.Values(described))); diff != "" {
		t.Errorf("inputs that are read (-) and described (+):\n%s", diff)
	}
	written := map[string]bool{}
	for _, a := range []askback.Ask{
		{Kind: askback.Confirm, Confirmation: &askback.Confirmation{}, Outcome: &askback.Outcome{
			Status: askback.Answered, Decision: askback.Approve,
		}},
		{Outcome: &askback.Outcome{Status: askback.Answered, Answers: []askback.QuestionAnswer{{Other: "a"}}}},
	} {
		outputs, err := githubaction.Outputs(a, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outputs {
			written[o.Name] = true
			if got, want := action.Outputs[o.Name].Value, "${{ steps.ask.outputs."+o.Name+" }}"; got != want {
				t.Errorf("output %s is %q, want %q", o.Name, got, want)
			}
		}
	}
	if len(written) != len(action.Outputs) {
		t.Errorf("%d outputs are written, %d described", len(written), len(action.Outputs))
	}
}

var uses = regexp.MustCompile(`(?s)uses: askback/askback@\S+\n(.*?)(?:\n\s*- |\n` + "```" + `)`)

// docs/github-action.md describes every input and output of the action. Its workflows use only existing
// inputs and outputs, and have no expression in a script.
func TestExamplesOfTheActionAreValid(t *testing.T) {
	action, err := actiontest.Read("../../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "github-action.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps := uses.FindAllStringSubmatch(string(raw), -1)
	if len(steps) == 0 {
		t.Fatal("the page has no step with the action")
	}
	for _, step := range steps {
		for _, input := range regexp.MustCompile(`(?m)^ {10}([a-z-]+):`).FindAllStringSubmatch(step[1], -1) {
			if _, ok := action.Inputs[input[1]]; !ok {
				t.Errorf("the action has no input %q", input[1])
			}
		}
	}
	for _, output := range regexp.MustCompile(`steps\.\w+\.outputs\.([a-z-]+)`).FindAllStringSubmatch(string(raw), -1) {
		if _, ok := action.Outputs[output[1]]; !ok {
			t.Errorf("the action has no output %q", output[1])
		}
	}
	for name := range action.Inputs {
		if !strings.Contains(string(raw), "| `"+name+"` |") {
			t.Errorf("the page does not describe the input %s", name)
		}
	}
	for name := range action.Outputs {
		if !strings.Contains(string(raw), "| `"+name+"` |") {
			t.Errorf("the page does not describe the output %s", name)
		}
	}
	for _, script := range regexp.MustCompile(`(?m)run: (.*)$`).FindAllStringSubmatch(string(raw), -1) {
		if strings.Contains(script[1], "${{") {
			t.Errorf("an expression in a script: %s", script[1])
		}
	}
}
