package main

import (
	"slices"
	"testing"
)

// Anyone can read /readyz.
func TestReadinessNamesNoPerson(t *testing.T) {
	got := withoutNames([]string{"ask ask_1", "draft ask_1/ana@example.com", "event 7 of ses_1"})
	if want := []string{"ask ask_1", "draft ask_1", "event 7 of ses_1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
