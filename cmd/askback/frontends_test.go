package main

import (
	"slices"
	"testing"
)

// /readyz is public, so it must not contain names of people.
func TestReadinessOmitsNamesOfPeople(t *testing.T) {
	got := withoutNames([]string{"ask ask_1", "draft ask_1/ana@example.com", "event 7 of ses_1"})
	if want := []string{"ask ask_1", "draft ask_1", "event 7 of ses_1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
