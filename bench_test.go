package askback_test

import (
	"slices"
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
				Text: "Which database should the billing service use in production? The present one " +
					"reaches its limit.",
				Options: []askback.Option{
					{
						Label:       "PostgreSQL",
						Description: "One more server to run. It has replicas, and the team knows it well.",
					},
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

// settledAsk returns the JSON of an answered ask, as a client reads it.
func settledAsk(tb testing.TB) []byte {
	tb.Helper()
	r, err := ordinaryRequest().Normalize()
	if err != nil {
		tb.Fatal(err)
	}
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	raw, err := askback.Ask{
		ID: "ask_01kg9b8q7fe8v9x2m3n4p5r6s7", SessionID: "ses_01kg9b8q7fe8v9x2m3n4p5r6s7", Agent: r.Agent,
		Owner: "deploy-bot", Kind: askback.Questions, Title: r.Title, Questions: r.Questions, To: r.To, Quorum: 1,
		Tags: r.Tags, Status: askback.Answered, CreatedAt: at, Deadline: at.Add(2 * time.Hour), OnTimeout: r.OnTimeout,
		PageURL: "https://ask.example.com/a/ask_01kg9b8q7fe8v9x2m3n4p5r6s7",
		Outcome: &askback.Outcome{
			Status: askback.Answered, At: at.Add(time.Minute), Comment: "Go on.\nThe backup is at \"/srv/old\".",
			Answers: []askback.QuestionAnswer{
				{ID: "q1", Selected: []string{"SQLite"}},
				{ID: "q2", Selected: []string{"Tonight"}, Notes: "After the backup."},
			},
		},
	}.AppendJSON(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func BenchmarkReadAsk(b *testing.B) {
	raw := settledAsk(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var a askback.Ask
		if err := a.UnmarshalJSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadPage(b *testing.B) {
	var a askback.Ask
	if err := a.UnmarshalJSON(settledAsk(b)); err != nil {
		b.Fatal(err)
	}
	raw, err := askback.Page{Items: slices.Repeat([]askback.Ask{a}, 50)}.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		var p askback.Page
		if err := p.UnmarshalJSON(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendAsk(b *testing.B) {
	var a askback.Ask
	if err := a.UnmarshalJSON(settledAsk(b)); err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = a.AppendJSON(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

// If a request has no problems, Normalize allocates only the slices of the normalized request.
func TestNormalizingAllocatesLittle(t *testing.T) {
	const most = 8 // building a JSON pointer for each checked string would take 50 allocations
	r := ordinaryRequest()
	if got := testing.AllocsPerRun(100, func() { _, _ = r.Normalize() }); got > most {
		t.Errorf("got %v allocations, want at most %d", got, most)
	}
}
