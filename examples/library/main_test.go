package main

import (
	"strings"
	"testing"
)

// The program asks at its terminal, and its agent goes on with the answer and its tool.
func TestAgentOfTheProgramAsksAndGoesOn(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), strings.NewReader("Rome\n"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Where do you go?", "It is sunny there", "Rome"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
