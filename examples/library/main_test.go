package main

import (
	"bufio"
	"strings"
	"testing"
)

// The program asks at its terminal, and its agent goes on with the answer and its tool.
func TestAgentOfTheProgramAsksAndGoesOn(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), bufio.NewReader(strings.NewReader("Rome\n")), &out); err != nil {
		t.Fatal(err)
	}
	want := "Where do you go?\n- Berlin\n- Rome\nIt is sunny in Rome.\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
