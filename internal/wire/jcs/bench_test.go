package jcs_test

import (
	"testing"

	"github.com/askback/askback/internal/wire/jcs"
)

// benchmarkAsk is an ask of about 1.1 KB with two questions.
const benchmarkAsk = `{
  "title": "Deploy of the billing service",
  "agent": "deploy-bot",
  "session_key": "run-2026-01-31-7",
  "questions": [
    {
      "header": "Database",
      "question": "Which database should the billing service use in production? The present one reaches its limit at 2\u00a0TB.",
      "options": [
        {"label": "PostgreSQL", "description": "One more server to run. It has replicas, and the team knows it well."},
        {"label": "SQLite", "description": "A file on the same disk. No replicas, but nothing to run."},
        {"label": "Keep MySQL", "description": "No migration now. The limit is reached in about four months."}
      ]
    },
    {
      "header": "Window",
      "question": "When may the service be offline for the migration?",
      "multiSelect": true,
      "options": [
        {"label": "Tonight", "description": "From 01:00 to 03:00 UTC, with the smallest load."},
        {"label": "Saturday", "description": "From 08:00 to 12:00 UTC, with the whole team at work."}
      ],
      "default": ["Tonight"]
    }
  ],
  "to": ["ana", "ben"],
  "tags": ["billing", "migration"],
  "timeout": "2h",
  "on_timeout": "default",
  "key": "deploy-billing-7"
}`

func BenchmarkParse(b *testing.B) {
	src := []byte(benchmarkAsk)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jcs.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jcs.Canonical([]byte(benchmarkAsk)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConfirmationDigest(b *testing.B) {
	input := []byte(`{"paths": ["/srv/billing/old.db", "/srv/billing/old.db-wal"], "recursive": true, "limit": 2, "reason": "The migration is complete."}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jcs.ConfirmationDigest("deploy-bot", "files", "delete_files", input); err != nil {
			b.Fatal(err)
		}
	}
}
