package agents_test

import (
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/test/interop/clienttest"
)

// Escape makes Codex kill its hook with SIGKILL. The ask of the hook is cancelled.
func TestStoppedTurnOfCodexCancelsItsAsk(t *testing.T) {
	t.Parallel()
	c := codexWithHooks("codex", "--user")
	f := newFixture(t, c, call{"call_1", "write", map[string]any{"x": "one"}})
	s := clienttest.NewScreen(t, f.project, f.environ(), f.program, "--dangerously-bypass-hook-trust", "--no-daemon",
		"Write it.")
	ask := f.Open(1)[0]
	over := time.After(patience)
	for ask.Status != askback.Cancelled {
		if err := s.Press("Escape"); err != nil {
			t.Fatalf("Escape: %v", err)
		}
		select {
		case <-over:
			t.Fatalf("the ask is %s, want it cancelled", ask.Status)
		case <-time.After(time.Second):
		}
		var err error
		if ask, err = f.Person.Get(bounded(t), ask.ID); err != nil {
			t.Fatal(err)
		}
	}
}
