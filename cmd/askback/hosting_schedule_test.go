package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The server uses the schedule of a definition, and the changed schedule after the file has changed (E15).
func TestServerUsesChangedSchedules(t *testing.T) {
	t.Parallel()
	s, dir := newHost(t)
	definition := filepath.Join(dir, "agents", "clerk.md")
	text := fileText(t, definition)
	nextRun := func() string {
		list := s.call(s.user, "GET", "/hosted-agents", "", 200)
		next, _ := list["items"].([]any)[0].(map[string]any)["next_run"].(string)
		return next
	}
	if got := nextRun(); got != "" {
		t.Errorf("an agent without a schedule starts at %s", got)
	}
	write := func(schedule string) {
		t.Helper()
		if err := os.WriteFile(definition, []byte("---\n"+schedule+text[len("---\n"):]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ lines, suffix string }{
		{"schedule: 30 7 * * *\n", "T07:30:00.000Z"},
		{"schedule: 30 7 * * *\ntime_zone: Asia/Kolkata\n", "T02:00:00.000Z"},
	} {
		write(c.lines)
		if !eventually(func() bool { got := nextRun(); return len(got) == 24 && got[10:] == c.suffix }) {
			t.Errorf("%q: the next run is at %s, want %s\n%s", c.lines, nextRun(), c.suffix, s.process.err.String())
		}
	}
	at, err := time.Parse(time.RFC3339, nextRun())
	if err != nil || at.Before(time.Now()) || at.After(time.Now().Add(25*time.Hour)) {
		t.Errorf("the next run is at %v, %v", at, err)
	}
}
