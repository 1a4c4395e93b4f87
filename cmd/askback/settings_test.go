package main

import (
	"testing"

	"github.com/askback/askback/internal/server/config"
)

// Without a setting, a person gets ten messages a minute about the questions of one agent (T18).
func TestDigestsAreOnByDefault(t *testing.T) {
	for setting, want := range map[int]int{0: 10, 3: 3, -1: 0} {
		if got := engineSettings(config.Config{Limits: config.Limits{DigestAfter: setting}}).DigestAfter; got != want {
			t.Errorf("setting %d: got %d, want %d", setting, got, want)
		}
	}
}
