package main

import (
	"io"
	"strings"
	"testing"

	"github.com/askback/askback/terminal"
)

// The program asks at its terminal, and its agent continues with the answer and its tool.
func TestAgentAsksAndUsesAnswer(t *testing.T) {
	var shown strings.Builder
	got, err := run(t.Context(), terminal.New(strings.NewReader("Rome\n"), &shown, nil).Answer)
	if want := "It is sunny in Rome."; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if !strings.Contains(shown.String(), "Where do you go?") || !strings.Contains(shown.String(), "Berlin") {
		t.Errorf("the question was shown as %q", shown.String())
	}
}

func TestEndOfInputLeavesTheQuestionOpen(t *testing.T) {
	if got, err := run(t.Context(), terminal.New(strings.NewReader(""), io.Discard, nil).Answer); err == nil {
		t.Errorf("got %q without an answer", got)
	}
}
