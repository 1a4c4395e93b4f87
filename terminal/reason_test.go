package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/terminal"
)

// A denial can have its reason on the same line. If the reason could mean yes, the person is asked again, and
// a line from a pipe is rejected.
func TestDenialAcceptsAReason(t *testing.T) {
	for script, want := range map[string]string{
		"no, use staging first\n":                        "use staging first",
		"n use staging\n":                                "use staging",
		"No: not today\n":                                "not today",
		"deny - too late\n":                              "too late",
		":note I looked\nno, use staging\n":              "I looked\nuse staging",
		"no problem, go ahead\ny\n":                      "problem, go ahead",
		"no problem, go ahead\nn\nn too risky\n":         "too risky",
		"no, yes I mean\n\nn\n":                          "",
		"no-one\nnone\nnot now\nnope\nnever\nn\n":        "",
		"no problem\nyes please\ny please\nyes, do\nn\n": "",
	} {
		got, drawn, err := runScript(callAsk(), true, script)
		if diff := cmp.Diff(terminal.Result(terminal.Answered{Answer: askback.Decide(askback.Deny, want)}),
			got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s\n%s", script, err, diff, drawn)
		}
	}
	if got, _, err := runScript(callAsk(), false, "no problem\nn\n"); err != nil ||
		got.(terminal.Answered).Answer.Reason != "" {
		t.Errorf("a pipe: got %v, %v", got, err)
	}
	if got, drawn, err := runScript(callAsk(), true, "no problem\n"); !errors.Is(err, terminal.ErrNoInput) {
		t.Errorf("got %v, %v\n%s", got, err, drawn)
	}
}

// An action of askback confirm is shown as text, once and exactly, and never as a tool with JSON. Changes of
// its arguments are not offered. A description that differs is shown, with the tool.
func TestActionIsShownAsText(t *testing.T) {
	r, err := asktool.Action("Delete the cluster?", "It is **in use**.\nSince May.").Normalize()
	if err != nil {
		t.Fatal(err)
	}
	a := askback.Ask{ID: "ask_1", Agent: "bot", Kind: askback.Confirm, Confirmation: r.Confirmation}
	_, drawn, _ := runScript(a, true, "n\n")
	if !strings.Contains(drawn, "action │ Delete the cluster?\n") ||
		!strings.Contains(drawn, " about │ It is **in use**.\n       │ Since May.\n") {
		t.Errorf("the action or its details are missing:\n%s", drawn)
	}
	if n := strings.Count(drawn, "Delete the cluster?"); n != 1 {
		t.Errorf("the action is shown %d times:\n%s", n, drawn)
	}
	for _, words := range []string{"--input", "what the agent says", "confirm_action", "tool", "{"} {
		if strings.Contains(drawn, words) {
			t.Errorf("%q is in\n%s", words, drawn)
		}
	}
	a.Confirmation.Dangerous = true
	if _, drawn, _ = runScript(a, true, "n\n"); !strings.Contains(drawn, "This is marked dangerous") {
		t.Errorf("the danger is missing:\n%s", drawn)
	}
	a.Confirmation.Description = "Look at the cluster"
	_, drawn, _ = runScript(a, true, "n\n")
	for _, words := range []string{"tool │ confirm_action", "action: “Delete the cluster?”", "Look at the cluster"} {
		if !strings.Contains(drawn, words) {
			t.Errorf("%q is missing:\n%s", words, drawn)
		}
	}
}
