package view_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
)

// People see who must approve, who has approved, whom the agent names as the starter, and the next steps.
func TestRoutingIsShownInSentences(t *testing.T) {
	nine := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	a := askback.Ask{
		ID: "ask_1", Kind: askback.Confirm,
		Confirmation: &askback.Confirmation{ToolName: "drop", Input: json.RawMessage(`{}`)}, To: []string{"@payments"},
		Recipients: []string{"ana", "ben"}, Quorum: 2, NoSelfApproval: true, StartedBy: "cem\u202e",
		Votes: []askback.Vote{
			{Name: "ana", Decision: askback.Approve, Reason: "tested", Channel: askback.ChannelWeb, At: nine},
		},
		FollowUps: []askback.FollowUp{
			{At: nine, DoneAt: nine.Add(time.Minute)},
			{At: nine, To: []string{"@oncall"}, DoneAt: nine.Add(time.Hour)},
			{At: nine.Add(2 * time.Hour)},
			{At: nine.Add(3 * time.Hour), To: []string{"dan", "eve"}},
		},
		ReassignedBy: "gil\u202e", ReassignedAt: nine.Add(30 * time.Minute),
	}
	text := func(a askback.Ask) string {
		var lines []string
		for _, l := range view.Of(a).Routing(nil) {
			lines = append(lines, l.String())
		}
		return strings.Join(lines, "\n")
	}
	const want = `1 of 2 approved: ana.
ana approved on 2 January 2026, 09:00 UTC, in the browser: tested
The agent says that “cem⟨U+202E⟩” started this session. Another person must decide.
Reassigned by gil⟨U+202E⟩ on 2 January 2026, 09:30 UTC.
Reminded on 2 January 2026, 09:01 UTC.
Escalated to @oncall on 2 January 2026, 10:00 UTC.
A reminder follows on 2 January 2026, 11:00 UTC.
If no one answers by 2 January 2026, 12:00 UTC, dan, eve may answer, too.`
	if got := text(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := view.Of(a).Recipients().String(), "@payments (ana, ben)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := view.Of(a).Status().String(), "waiting for approval; 1 of 2 approved: ana"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a.Outcome = &askback.Outcome{Status: askback.Answered, Decision: askback.Deny}
	if got := text(a); strings.Contains(got, "follows") || strings.Contains(got, "may answer") {
		t.Errorf("of a settled ask: got\n%s", got)
	}
	again := askback.Ask{Kind: askback.Questions, Quorum: 1, AskedAgainAt: nine}
	if got, want := text(again), "Asked again on 2 January 2026, 09:00 UTC, because the agent’s program was started "+
		"again. Your answer goes to it."; got != want {
		t.Errorf("of a question that is asked again: got %q, want %q", got, want)
	}
	if got := text(askback.Ask{Kind: askback.Questions, Quorum: 1}); got != "" {
		t.Errorf("of an ordinary ask: got %q", got)
	}
}
