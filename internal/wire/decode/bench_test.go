package decode_test

import (
	"testing"

	"github.com/askback/askback/internal/wire/decode"
)

// ordinaryRequest is an ask of about 1.1 KB with two questions.
const ordinaryRequest = `{
  "title": "Deploy of the billing service",
  "agent": "deploy-bot",
  "session_key": "run-2026-01-31-7",
  "questions": [
    {
      "header": "Database",
      "question": "Which database should the billing service use in production? The present one reaches its limit.",
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
  "on_timeout": "fail",
  "key": "deploy-billing-7"
}`

const ordinaryAnswer = `{"answers": [{"id": "q1", "selected": ["SQLite"]}, {"id": "q2", "selected": ["Tonight"], "notes": "After the backup."}], "comment": "Go on."}`

func BenchmarkRequest(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.Request([]byte(ordinaryRequest)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShortRequest(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.Request(
			[]byte(`{"question": "Which database?", "options": ["PostgreSQL", "SQLite"]}`),
		); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConfirmation(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.Request([]byte(confirmation)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decode.Answer([]byte(ordinaryAnswer)); err != nil {
			b.Fatal(err)
		}
	}
}

// Decoding a body without problems allocates only the tree of the parser and the slices of the request.
func TestDecodingAllocatesLittle(t *testing.T) {
	const most = 20 // the limit; with a pointer or a closure for each member, the number would be 50
	if got := testing.AllocsPerRun(100, func() { _, _ = decode.Request([]byte(ordinaryRequest)) }); got > most {
		t.Errorf("got %v allocations, want at most %d", got, most)
	}
}
