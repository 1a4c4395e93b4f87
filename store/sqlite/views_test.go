package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

// The SQL views show stored asks (E2), and their sessions and events. The asks are samples
// of package lifecycle.
func TestViewsShowStoredAsks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	s := openAt(t, path)
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	sample := func(name, status, session string) store.Record {
		read := func(part string) []byte {
			raw, err := os.ReadFile("../../internal/lifecycle/testdata/states/v1/" + name + "." + part + ".json")
			if err != nil {
				t.Fatal(err)
			}
			return bytes.TrimSpace(raw)
		}
		return store.Record{
			Kind: "ask", ID: "ask_" + name, Stream: session, Open: status == "pending", Owner: "bot", Agent: "bot",
			Status: status, Created: at, Updated: at.Add(time.Minute), Fixed: read("fixed"), State: read("moving"),
		}
	}
	change := store.Change{
		Put: []store.Record{
			sample("answered", "answered", "ses_1"), sample("answered_in_full", "answered", "ses_answered_in_full"),
			sample("confirmation", "pending", "ses_confirmation"), sample("denied", "answered", "ses_1"),
			sample("expired", "expired", "ses_expired"),
			{
				Kind: "session", ID: "ses_1", Stream: "ses_1", Open: true, Owner: "bot", Agent: "bot",
				Status:  "waiting_for_input",
				Created: at, Updated: at, Fixed: []byte(`{"v":1}`),
				State: []byte(`{"v":1,"status":"waiting_for_input"}`),
			},
		},
		Events: []store.Event{
			{Stream: "ses_1", Subject: "ask_answered", Type: "question_pending", At: at, Data: []byte(`{}`)},
			{Stream: "ses_1", Subject: "ses_1", Type: "message", At: at, Data: []byte(`{}`)},
		},
	}
	if _, err := s.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	db := openDatabase(t, path)
	for _, c := range []struct{ query, want string }{
		{`select id, question, answer from agent_questions order by id`, `
ask_answered | Which database should we use? | SQLite
ask_answered_in_full | Which database should we use? | SQLite
TLS, Backups, a pager
us
orders
ask_confirmation | Confirm: Remove the old users | NULL
ask_denied | Confirm: Remove the old users | denied
ask_expired | Confirm: Remove the old users | NULL`},
		{`select id, status from agent_sessions order by id`, `
ses_1 | pending_input
ses_answered_in_full | completed
ses_confirmation | pending_input
ses_expired | completed`},
		{`select session_id, session_seq, subject, type, at from events`, `
ses_1 | 1 | ask_answered | question_pending | 2026-01-02T09:00:00.000Z
ses_1 | 2 | ses_1 | message | 2026-01-02T09:00:00.000Z`},
	} {
		if got, want := table(t, db, c.query), strings.TrimSpace(c.want); got != want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", c.query, got, want)
		}
	}
}

// table returns the result of a query, with one line for each row.
func table(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, cell := range cells {
			if !cell.Valid {
				cell.String = "NULL"
			}
			line = append(line, cell.String)
		}
		out = append(out, strings.Join(line, " | "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return strings.Join(out, "\n")
}
