package agent_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/scripted"
)

// A runner returns the schedules and the callbacks of its agents (E15).
func TestRunnerReturnsSchedulesAndCallbacks(t *testing.T) {
	model, err := scripted.Parse("script", []byte("- reply: Done.\n"))
	if err != nil {
		t.Fatal(err)
	}
	daily, err := agent.ParseSchedule("0 7 * * *", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	r, err := agent.NewRunner(
		agent.Definition{
			Name: "poem", Description: "Writes.", Prompt: "Write.", Model: model,
			Callback: "https://agents.example.com",
		},
		agent.Definition{Name: "triage", Prompt: "Sort.", Model: model, Schedule: daily},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []askback.HostedAgent{
		{Name: "poem", Description: "Writes."}, {Name: "triage", Schedule: "0 7 * * *", TimeZone: "UTC"},
	}
	if diff := cmp.Diff(want, r.Agents()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	at := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	if got := r.NextRun("triage", at); !got.Equal(at.Add(23 * time.Hour)) {
		t.Errorf("got %v", got)
	}
	if a, b := r.NextRun("poem", at), r.NextRun("unknown", at); !a.IsZero() || !b.IsZero() {
		t.Errorf("got %v and %v without a schedule", a, b)
	}
	if a, b := r.Callback("poem"), r.Callback("unknown"); a != "https://agents.example.com" || b != "" {
		t.Errorf("got %q and %q", a, b)
	}
	if _, err := agent.ParseSchedule("0 25 * * *", time.UTC); err == nil {
		t.Error("the hour 25 is accepted")
	}
}
