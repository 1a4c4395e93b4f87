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
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

func approvedAll(scope askback.Scope, reason string) terminal.Result {
	return terminal.Answered{Answer: askback.Answer{
		Decision: askback.ApproveAll, Reason: reason,
		Grant: &askback.GrantRequest{Scope: scope, ExpiresIn: 24 * time.Hour},
	}}
}

// Typing "all" and then "yes" approves later calls, for the time that the prompt shows (D1, F8).
func TestTypingAllThenYesApprovesLaterCalls(t *testing.T) {
	for script, reason := range map[string]string{
		"all\nyes\n": "", ":note I know it\n ALL \n:note really\n yes\r\n": "I know it\nreally",
		"sure\nall\nno\nall\nyes\n": "", "All tool\nyes\n": "", "all tool\nno\nall tool\nyes\n": "",
	} {
		scope, what := askback.ScopeInput, "with exactly these arguments"
		if strings.Contains(strings.ToLower(script), "all tool") {
			scope, what = askback.ScopeTool, "with any arguments"
		}
		got, drawn, err := runScript(deletionCall(), true, script)
		if diff := cmp.Diff(approvedAll(scope, reason), got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", script, err, diff)
		}
		_, preview, _ := strings.Cut(drawn, "approve later calls ──")
		for _, want := range []string{
			"next 24 hours", " agent │ cleaner", "  tool │ delete_files", "server │ files", "marked dangerous", what,
			"askback answer ask_3 --approve-all",
		} {
			if !strings.Contains(strings.Join(strings.Fields(preview), " "), strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%q: want %q in\n%s", script, want, preview)
			}
		}
	}
}

// The prompt warns a person before it approves all calls of a tool that runs its arguments, such as a shell.
// There is no warning if only the same arguments are approved.
func TestApprovalOfAllShellCallsShowsAWarning(t *testing.T) {
	for _, c := range []struct {
		tool, script string
		want         bool
	}{
		{"Bash", "all tool\nno\nn\n", true},
		{"Bash", "all\nno\nn\n", false},
		{"delete_files", "all tool\nno\nn\n", false},
	} {
		a := deletionCall()
		a.Confirmation.ToolName = c.tool
		_, drawn, _ := runScript(a, true, c.script)
		if got := strings.Contains(strings.Join(strings.Fields(drawn), " "), view.FreeTextWarning); got != c.want {
			t.Errorf("%s, %q: warned %v, want %v in\n%s", c.tool, c.script, got, c.want, drawn)
		}
	}
}

// decisionLine matches lines that approve when the call is asked again.
var decisionLine = regexp.MustCompile(`(?im)^\s*(y|yes|approved?|all|all tool)\s*$`)

// Later calls are approved only by typing "all" and then "yes", and not from a pipe (C3, F8).
func TestOnlyYesApprovesLaterCalls(t *testing.T) {
	check := func(t testingT, human, suggested bool, second string) {
		v := view.Of(callAsk())
		v.Confirmation.SuggestYes = suggested
		r, err := terminal.New(strings.NewReader("all\n"+second), io.Discard,
			&terminal.Options{Human: human}).Ask(context.Background(), v)
		given, _ := r.(terminal.Answered)
		first, rest, complete := strings.Cut(strings.TrimPrefix(second, ":help\n"), "\n")
		yes := human && complete && strings.TrimSpace(first) == "yes"
		switch {
		case yes && given.Answer.Decision != askback.ApproveAll:
			t.Fatalf("%q: got %v, %v", second, r, err)
		case !yes && human && given.Answer.Decision != "" && given.Answer.Decision != askback.Deny &&
			!decisionLine.MatchString(rest):
			t.Fatalf("%q: got %v", second, r)
		case !human && given.Answer.Decision != askback.Deny && given.Answer.Decision != "":
			t.Fatalf("%q through a pipe: got %v", second, r)
		}
	}
	for _, human := range []bool{true, false} {
		for _, suggested := range []bool{true, false} {
			for _, second := range []string{
				"yes\n", "yes", "y\n", "YES\n", "\n", "all\n", "all tool\n", "approve\n", "yes!\n", "n\n",
				"yes\nyes\n", ":help\nyes\n",
			} {
				check(t, human, suggested, second)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Bool().Draw(t, "human"), rapid.Bool().Draw(t, "suggested"), anyLine().Draw(t, "second"))
	})
}

// After "all", the prompt asks for "yes". Before it asks, it discards text that was typed ahead, such as a
// "yes" that was pasted together with "all".
func TestInputIsDiscardedBeforeGrantIsConfirmed(t *testing.T) {
	k := newFakeKeyboard()
	p := terminal.New(k, io.Discard, &terminal.Options{Human: true})
	c := startAsk(context.Background(), p, callAsk())
	k.typeKeys(t, "all\nyes\n")
	await(t, c)
	if k.discarded != 2 {
		t.Errorf("typed-ahead input was discarded %d times, want twice: before the call, and before yes", k.discarded)
	}
}

// Arguments cannot be changed at the prompt, so the prompt shows a command that can change the arguments. The
// command does not contain an id that could be harmful in a shell.
func TestPromptShowsHowToEditArguments(t *testing.T) {
	a := deletionCall()
	for id, want := range map[string]string{
		"ask_01k2":      "askback answer ask_01k2 --approve --input FILE",
		"ask_1; rm -rf": "askback answer ASK --approve --input FILE",
	} {
		a.ID = id
		_, drawn, _ := runScript(a, true, "n\n")
		if got := strings.Join(strings.Fields(drawn), " "); !strings.Contains(got, want) {
			t.Errorf("%q: got\n%s", id, drawn)
		}
	}
}

// The prompt shows no command that changes the arguments if the agent cannot run changed arguments.
func TestPromptOmitsUnsupportedEdit(t *testing.T) {
	a := deletionCall()
	a.Confirmation.NoEdit = true
	_, drawn, _ := runScript(a, true, "n\n")
	if got := strings.Join(strings.Fields(drawn), " "); strings.Contains(got, "--input") ||
		!strings.Contains(got, "This agent cannot run other arguments") {
		t.Errorf("got\n%s", drawn)
	}
}

// A person who types claims the ask, and claims it again each minute. Input from a pipe claims nothing (F5).
func TestTypingClaimsAsk(t *testing.T) {
	for human, want := range map[bool]int{true: 3, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			var claims atomic.Int32
			in := &slowTypist{text: "some words for an answer\n", every: 5 * time.Second}
			options := &terminal.Options{Human: human, Claim: func(context.Context) { claims.Add(1) }}
			r, err := terminal.New(in, io.Discard, options).Ask(t.Context(), view.Of(questionAsk(askback.Question{})))
			synctest.Wait()
			if ownText(askResult{r, err}) != "some words for an answer" || int(claims.Load()) != want {
				t.Errorf("human %v: %d claims, want %d in 125 seconds of typing; %v, %v", human, claims.Load(), want,
					r, err)
			}
		})
	}
}

// A slowTypist is an input that delivers one byte at regular intervals.
type slowTypist struct {
	text  string
	every time.Duration
}

func (s *slowTypist) Read(p []byte) (int, error) {
	<-time.After(s.every)
	n := copy(p[:1], s.text)
	s.text = s.text[n:]
	return n, nil
}

// The context of a claim ends with the ask, so that a slow claim does not delay Ask.
func TestContextOfAClaimEndsWithItsAsk(t *testing.T) {
	ended := make(chan error, 1)
	options := &terminal.Options{Human: true, Claim: func(ctx context.Context) { <-ctx.Done(); ended <- ctx.Err() }}
	if _, err := terminal.New(strings.NewReader("n\n"), io.Discard,
		options).Ask(context.Background(), view.Of(callAsk())); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the claim was not cancelled")
	}
}
