package sqlite_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// No statement scans a whole table. No statement sorts rows, except rows that are due in the same
// millisecond.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	openAt(t, path)
	db := openDatabase(t, path)
	yes, no := true, false
	plans, index := map[string]string{}, map[string]string{}
	explain := func(text string, args ...any) {
		rows, err := db.Query("explain query plan "+text, args...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plans[text] += step + "; "
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range append(sqlite.Writes, sqlite.Reads...) {
		explain(text, make([]any, parameters(text))...)
	}
	for _, open := range []*bool{nil, &yes, &no} {
		for bits := range 1 << 8 {
			q := store.Query{Kind: "ask", Open: open, Newest: bits&64 != 0, Unacked: bits&128 != 0}
			for i, field := range []*string{&q.Status, &q.Stream, &q.Owner, &q.Agent, &q.For, &q.After} {
				if bits&(1<<i) != 0 {
					*field = "x"
				}
			}
			names := []string{"records_id"}
			switch {
			case q.Stream != "":
				names = []string{"records_stream"}
			case open == &yes && q.Owner != "":
				// the first index has the older records, the second the recent records
				names = []string{"records_owner", "records_open"}
			case open == &yes:
				names = []string{"records_open"}
			case q.Unacked && q.Owner != "":
				names = []string{"records_owner_unacked", "records_unacked"}
			case q.Unacked:
				names = []string{"records_unacked"}
			}
			if q.Newest {
				slices.Reverse(names)
			}
			texts, args := sqlite.ListSQL(q)
			for i, text := range texts {
				explain(text, args[i]...)
				name := names[i*len(names)/len(texts)]
				index[text] = "SEARCH records USING INDEX " + name
				if strings.HasPrefix(text, "select id") { // the statement reads only the index
					index[text] = "SEARCH records USING COVERING INDEX " + name
				}
			}
		}
	}
	for bits := range 1 << 2 {
		q := store.Query{Kind: "ask", Open: &no, Newest: bits&1 != 0}
		if bits&2 != 0 {
			q.After = "x"
		}
		text, args := sqlite.AllOpenSQL(q)
		explain(text, args...)
		index[text] = "SEARCH records USING COVERING INDEX records_open"
	}
	for bits := range 1 << 7 {
		q := store.SubjectQuery{Query: store.Query{Kind: "ask"}, Types: []string{"x", "y"}, Before: int64(bits & 1)}
		for i, field := range []*string{&q.Stream, &q.Status, &q.Owner, &q.Agent, &q.For} {
			if bits&(2<<i) != 0 {
				*field = "x"
			}
		}
		if bits&64 != 0 {
			q.Open = &no
		}
		text, args := sqlite.SubjectsSQL(q)
		explain(text, args...)
		events := "SEARCH h USING INTEGER PRIMARY KEY"
		if q.Stream != "" {
			events = "SEARCH h USING INDEX history_stream"
		}
		index[text] = events + " (" // the first step of the plan
		if !strings.Contains(plans[text], "SEARCH r USING INDEX records_id (kind=? AND id=?) LEFT-JOIN") {
			t.Errorf("%s\n\tgot the plan %s", text, plans[text])
		}
	}
	for bits := range 1 << 4 {
		q := store.Query{Newest: bits&8 != 0}
		for i, field := range []*string{&q.Kind, &q.Stream, &q.After} {
			if bits&(1<<i) != 0 {
				*field = "x"
			}
		}
		text, args := sqlite.DeadSQL(q)
		explain(text, args...)
		index[text] = "effects_dead"
		text, args = sqlite.EffectsSQL(q)
		explain(text, args...)
		index[text] = "PRIMARY KEY"
	}
	for text, plan := range plans {
		last := "USE TEMP B-TREE FOR LAST TERM OF ORDER BY; "
		if strings.Contains(text, "order by due") {
			plan = strings.TrimSuffix(plan, last)
		}
		if strings.HasPrefix(text, "select coalesce(max(seq), 0)") {
			continue // max(seq) reads only the end of the table
		}
		plan = strings.ReplaceAll(plan, "SCAN json_each", "") // the statement scans a parameter, not a table
		plan = strings.ReplaceAll(plan, "SCAN (subquery-1)", "")
		plan = strings.ReplaceAll(plan, "SCAN CONSTANT ROW", "")
		if strings.Contains(text, "stream = ?") && strings.Contains(text, "from history") {
			index[text] = "history_stream"
		}
		if strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") ||
			!strings.Contains(plan, "SEARCH") ||
			!strings.Contains(plan, index[text]) {
			t.Errorf("%s\n\tgot the plan %s", text, plan)
		}
	}
}

// parameters returns the highest number of a parameter in a statement.
func parameters(text string) (highest int) {
	for _, part := range strings.Split(text, "?")[1:] {
		end := strings.IndexFunc(part+" ", func(r rune) bool { return r < '0' || r > '9' })
		if n, err := strconv.Atoi(part[:end]); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}

// The events of any number of records are deleted from a stream in one pass over the stream. More passes
// would delay all other changes.
func TestEventsOfOneStreamAreDeletedTogether(t *testing.T) {
	var c store.Change
	for i := range 64 {
		c.Prune = append(c.Prune, store.EventFilter{Stream: "ses_1", Subject: record(i).ID},
			store.EventFilter{Stream: "ses_2", Subject: record(i).ID})
	}
	c.Prune = append(c.Prune, store.EventFilter{Stream: "ses_3"})
	if n, err := sqlite.Deletions(c); n != 3 || err != nil {
		t.Errorf("got %d statements, %v, want one for each of three streams", n, err)
	}
}
