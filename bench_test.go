package askback_test

import (
	"testing"
	"time"

	"github.com/askback/askback"
)

// ordinaryRequest returns an ask of about 1.1 KB with two questions.
func ordinaryRequest() askback.Request {
	return askback.Request{
		Title: "Deploy of the billing service", Agent: "deploy-bot", SessionKey: "run-2026-01-31-7",
		Questions: []askback.Question{
			{
				Header: "Database",
				Text:   "Which database should the billing service use in production? The present one reaches its limit.",
				Options: []askback.Option{
					{Label: "PostgreSQL", Description: "One more server to run. It has replicas, and the team knows it well."},
					{Label: "SQLite", Description: "A file on the same disk. No replicas, but nothing to run."},
					{Label: "Keep MySQL", Description: "No migration now. The limit is reached in about four months."},
				},
			},
			{
				Header: "Window", Text: "When may the service be offline for the migration?", MultiSelect: true,
				Options: []askback.Option{
					{Label: "Tonight", Description: "From 01:00 to 03:00 UTC, with the smallest load."},
					{Label: "Saturday", Description: "From 08:00 to 12:00 UTC, with the whole team at work."},
				},
				Default: []string{"Tonight"},
			},
		},
		To: []string{"ana", "ben"}, Tags: []string{"billing", "migration"},
		Timeout: 2 * time.Hour, OnTimeout: askback.OnTimeoutFail, Key: "deploy-billing-7",
	}
}

func BenchmarkNormalizeRequest(b *testing.B) {
	r := ordinaryRequest()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Normalize(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalizeConfirmation(b *testing.B) {
	r := askback.Request{Agent: "deploy-bot", Confirmation: &askback.Confirmation{
		ToolName: "delete_files", Server: "files", Input: []byte(`{"paths":["/srv/billing/old.db"],"recursive":true}`),
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Normalize(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalizeAnswer(b *testing.B) {
	r, err := ordinaryRequest().Normalize()
	if err != nil {
		b.Fatal(err)
	}
	ask := askback.Ask{Kind: askback.Questions, Questions: r.Questions}
	a := askback.Answer{Comment: "Go on.", Answers: []askback.QuestionAnswer{
		{ID: "q1", Selected: []string{"SQLite"}}, {ID: "q2", Selected: []string{"Tonight"}, Notes: "After the backup."},
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Normalize(ask); err != nil {
			b.Fatal(err)
		}
	}
}

// A request without problems costs only the slices of the normalized request.
func TestNormalizingAllocatesLittle(t *testing.T) {
	const most = 8 // a pointer for each checked string would be 50
	r := ordinaryRequest()
	if got := testing.AllocsPerRun(100, func() { _, _ = r.Normalize() }); got > most {
		t.Errorf("got %v allocations, want at most %d", got, most)
	}
}
