package terminal_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

func granted(scope askback.Scope, reason string) terminal.Result {
	return terminal.Given{Answer: askback.Answer{
		Decision: askback.ApproveAll, Reason: reason,
		Grant: &askback.GrantRequest{Scope: scope, ExpiresIn: 24 * time.Hour},
	}}
}

// D1, F8: all and then yes approves what follows, for as long as the prompt said.
func TestAllAndYesApproveWhatFollows(t *testing.T) {
	for script, reason := range map[string]string{
		"all\nyes\n": "", ":note I know it\n ALL \n:note really\n yes\r\n": "I know it\nreally", "sure\nall\nno\nall\nyes\n": "",
		"All tool\nyes\n": "", "all tool\nno\nall tool\nyes\n": "",
	} {
		scope, what := askback.ScopeInput, "with exactly these arguments"
		if strings.Contains(strings.ToLower(script), "all tool") {
			scope, what = askback.ScopeTool, "whatever the arguments"
		}
		got, drawn, err := ask(deletion(), true, script)
		if diff := cmp.Diff(granted(scope, reason), got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", script, err, diff)
		}
		_, standing, _ := strings.Cut(drawn, "approve what follows ──")
		for _, want := range []string{"next 24 hours", " agent │ cleaner", "  tool │ delete_files", "server │ files", "marked dangerous", what, "askback answer ask_3 --approve-all"} {
			if !strings.Contains(strings.Join(strings.Fields(standing), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%q: %q is not said in\n%s", script, want, standing)
			}
		}
	}
}

// A wide approval of a tool whose effect is in its text has a warning.
func TestAWideApprovalOfAShellHasAWarning(t *testing.T) {
	for _, c := range []struct {
		tool, script string
		want         bool
	}{{"Bash", "all tool\nno\nn\n", true}, {"Bash", "all\nno\nn\n", false}, {"delete_files", "all tool\nno\nn\n", false}} {
		a := deletion()
		a.Confirmation.ToolName = c.tool
		_, drawn, _ := ask(a, true, c.script)
		if got := strings.Contains(strings.Join(strings.Fields(drawn), " "), view.FreeTextWarning); got != c.want {
			t.Errorf("%s, %q: warned %v, want %v in\n%s", c.tool, c.script, got, c.want, drawn)
		}
	}
}

// decides finds what a person may say to the first question, asked again.
var decides = regexp.MustCompile(`(?im)^\s*(y|yes|approved?|all|all tool)\s*$`)

// C3, F8: whatever is not yes behind all approves nothing, and nor does yes alone or a pipe.
func TestNothingButYesApprovesWhatFollows(t *testing.T) {
	check := func(t failer, human, suggested bool, second string) {
		v := view.Of(call())
		v.Confirmation.SuggestYes = suggested
		r, err := terminal.New(strings.NewReader("all\n"+second), io.Discard, &terminal.Options{Human: human}).Ask(context.Background(), v)
		given, _ := r.(terminal.Given)
		first, rest, whole := strings.Cut(strings.TrimPrefix(second, ":help\n"), "\n")
		yes := human && whole && strings.TrimSpace(first) == "yes"
		switch {
		case yes && given.Answer.Decision != askback.ApproveAll:
			t.Fatalf("%q: got %v, %v", second, r, err)
		case !yes && human && given.Answer.Decision != "" && given.Answer.Decision != askback.Deny && !decides.MatchString(rest):
			t.Fatalf("%q: got %v", second, r)
		case !human && given.Answer.Decision != askback.Deny && given.Answer.Decision != "":
			t.Fatalf("%q through a pipe: got %v", second, r)
		}
	}
	for _, human := range []bool{true, false} {
		for _, suggested := range []bool{true, false} {
			for _, second := range []string{"yes\n", "yes", "y\n", "YES\n", "\n", "all\n", "all tool\n", "approve\n", "yes!\n", "n\n", "yes\nyes\n", ":help\nyes\n"} {
				check(t, human, suggested, second)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Bool().Draw(t, "human"), rapid.Bool().Draw(t, "suggested"), typed().Draw(t, "second"))
	})
}

// Two lines that were pasted at once are not two decisions.
func TestYesIsTypedAfterWhatFollowsWasShown(t *testing.T) {
	k := newKeyboard()
	p := terminal.New(k, io.Discard, &terminal.Options{Human: true})
	c := start(context.Background(), p, call())
	k.types(t, "all\nyes\n")
	end(t, c)
	if k.discarded != 2 {
		t.Errorf("typed-ahead input was discarded %d times, want twice: before the call, and before yes", k.discarded)
	}
}

// Other arguments are not typed here; the prompt says where.
func TestThePromptNamesHowToEditArguments(t *testing.T) {
	a := deletion()
	for id, want := range map[string]string{"ask_01k2": "askback answer ask_01k2 --approve --input FILE", "ask_1; rm -rf": "askback answer ASK --approve --input FILE"} {
		a.ID = id
		_, drawn, _ := ask(a, true, "n\n")
		if got := strings.Join(strings.Fields(drawn), " "); !strings.Contains(got, want) {
			t.Errorf("%q: got\n%s", id, drawn)
		}
	}
}

// An agent that cannot run other arguments is said to be one.
func TestThePromptNamesNoEditThatCannotRun(t *testing.T) {
	a := deletion()
	a.Confirmation.NoEdit = true
	_, drawn, _ := ask(a, true, "n\n")
	if got := strings.Join(strings.Fields(drawn), " "); strings.Contains(got, "--input") || !strings.Contains(got, "This agent cannot run other arguments") {
		t.Errorf("got\n%s", drawn)
	}
}

// F5: whoever begins to type claims the ask, and again each minute while they go on.
func TestTypingClaimsTheAsk(t *testing.T) {
	for human, want := range map[bool]int{true: 3, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			var claims atomic.Int32
			in := &slow{text: "some words for an answer\n", every: 5 * time.Second}
			options := &terminal.Options{Human: human, Claim: func(context.Context) { claims.Add(1) }}
			r, err := terminal.New(in, io.Discard, options).Ask(t.Context(), view.Of(one(askback.Question{})))
			synctest.Wait()
			if other(ended{r, err}) != "some words for an answer" || int(claims.Load()) != want {
				t.Errorf("human %v: %d claims, want %d in 125 seconds of typing; %v, %v", human, claims.Load(), want, r, err)
			}
		})
	}
}

// slow is somebody who types a byte now and then.
type slow struct {
	text  string
	every time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	<-time.After(s.every)
	n := copy(p[:1], s.text)
	s.text = s.text[n:]
	return n, nil
}

// A claim in flight ends with the ask, and one that hangs holds nothing up.
func TestAClaimEndsWithTheAsk(t *testing.T) {
	ended := make(chan error, 1)
	options := &terminal.Options{Human: true, Claim: func(ctx context.Context) { <-ctx.Done(); ended <- ctx.Err() }}
	if _, err := terminal.New(strings.NewReader("n\n"), io.Discard, options).Ask(context.Background(), view.Of(call())); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("it goes on")
	}
}
