package askback_test

import (
	"testing"
	"time"

	"github.com/askback/askback"
)

// A standing approval for a session covers only calls in that session. A sub-agent has its own session, so
// the approval does not cover its calls (F8, F10).
func TestGrantForASessionCoversNoOtherSession(t *testing.T) {
	now := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	g := askback.Grant{
		Owner: "bot", Agent: "bot", ToolName: "rm", Scope: askback.ScopeSession, SessionID: "ses_1", By: "ana",
		ExpiresAt: now.Add(time.Hour),
	}
	for _, path := range [][]string{nil, {"parent"}, {"bot", "parent"}} {
		for session, want := range map[string]bool{"ses_1": true, "ses_2": false, "": false} {
			a := askback.Ask{
				Owner: "bot", Agent: "bot", Path: path, SessionID: session, Quorum: 1, Kind: askback.Confirm,
				Confirmation: &askback.Confirmation{ToolName: "rm"},
			}
			if got := g.Covers(a, now); got != want {
				t.Errorf("session %q of %q: got %v, want %v", session, path, got, want)
			}
		}
	}
}
