package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// childEnv is the environment variable for the child process, with the path of its database. The child
// process writes to the database until it is killed.
const childEnv = "ASKBACK_SQLITE_CHILD"

// runChild changes a database in an endless loop. It creates records with an effect, performs effects and
// answers records. It also adds the answered records to the index. It prints a line for each change after
// Commit has returned.
func runChild(path string) {
	s, err := sqlite.Open(path, nil)
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				r := record(n)
				r.ID = fmt.Sprintf("ask_%d_%d_%d", os.Getpid(), worker, n)
				r.Key = r.ID
				commit(s, "asked", store.Change{
					Put: []store.Record{r}, Events: []store.Event{event(r, "asked")},
					Effects: []store.Effect{
						{ID: "eff_" + r.ID, Kind: "send", SubjectKind: r.Kind, Subject: r.ID, Due: r.Created},
					},
				})
				send(s, fmt.Sprint("worker ", worker))
				r.Version, r.Open, r.Status, r.Fixed = 1, false, "answered", nil
				commit(s, "answered", store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, "answered")}})
			}
		})
	}
	wg.Go(func() {
		for {
			if err := indexNext(s); err != nil {
				fmt.Println("index:", err)
				os.Exit(1)
			}
		}
	})
	wg.Wait()
}

// indexNext adds the next answered records to the index.
func indexNext(s *sqlite.Store) error {
	ctx := context.Background()
	from, err := s.Indexed(ctx)
	if err != nil {
		return err
	}
	events, err := s.History(ctx, "", from, 20)
	if err != nil || len(events) == 0 {
		return err
	}
	u := store.IndexUpdate{From: from}
	for _, e := range events {
		if u.To = e.Seq; e.Type == "answered" {
			u.Add = append(u.Add, store.Document{Kind: "ask", ID: e.Subject, At: record(0).Created, Words: "table"})
		}
	}
	return s.UpdateIndex(ctx, u)
}

// send claims one effect, if an effect is free, and completes the effect. Another worker may have created the
// record of the effect.
func send(s *sqlite.Store, node string) {
	effects, err := s.Claim(context.Background(), node, time.UnixMilli(2_000_000_000_000), 1)
	if err != nil {
		fmt.Println("claim:", err)
		os.Exit(1)
	}
	for _, e := range effects {
		commit(s, "sent", store.Change{
			Events: []store.Event{{Stream: e.Stream, Subject: e.Subject, Type: "sent"}},
			Done:   []store.Completion{{ID: e.ID, Node: node}},
		})
	}
}

func commit(s *sqlite.Store, what string, c store.Change) {
	if _, err := s.Commit(context.Background(), c); err != nil {
		fmt.Println("commit:", err)
		os.Exit(1)
	}
	// a single write cannot print a part of a line
	os.Stdout.WriteString(fmt.Sprintf("ACK %s %s\n", c.Events[0].Subject, what))
}

// After kill -9, the database has every acknowledged change once, and the numbers of events have no gap (F2).
// An effect is either done and has an event, or can be claimed again. The index has exactly the answered
// records up to its position.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	acknowledged := map[string]bool{} // id and type of an event
	for _, lines := range []int{1, 40, 300} {
		for _, line := range killAfter(t, path, lines) {
			ack, ok := strings.CutPrefix(line, "ACK ")
			if !ok {
				t.Fatalf("the child printed %q", line)
			}
			acknowledged[ack] = true
		}
		checkHistory(t, path, acknowledged)
	}
}

// killAfter runs a child, kills it after the given number of lines, and returns its output.
func killAfter(t *testing.T, path string, lines int) (printed []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if printed = append(printed, scan.Text()); len(printed) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the child was killed
	return printed
}

func checkHistory(t *testing.T, path string, acknowledged map[string]bool) {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	indexedTo, err := s.Indexed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count, answered := map[string]int{}, []string{} // the records that were answered up to the position of the index
	for after := int64(0); ; {
		page, err := s.History(t.Context(), "", after, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if after++; e.Seq != after {
				t.Fatalf("history: got Seq %d after %d", e.Seq, after-1)
			}
			count[e.Subject+" "+e.Type]++
			if e.Type == "answered" && e.Seq <= indexedTo {
				answered = append(answered, e.Subject)
			}
		}
	}
	checkIndexed(t, s, path, answered)
	for ack := range acknowledged {
		if count[ack] != 1 {
			t.Errorf("%s was acknowledged: got %d events, want 1", ack, count[ack])
		}
	}
	claimable := claimAll(t, s)
	for what := range count {
		id, ok := strings.CutSuffix(what, " asked")
		if !ok {
			continue
		}
		r, err := s.Read(t.Context(), "ask", id)
		if err != nil {
			t.Fatalf("Read %s: %v", id, err)
		}
		// The child may have committed changes that it has not printed.
		asked, answered, sent := count[what], count[id+" answered"], count[id+" sent"]
		if asked != 1 || answered > 1 || r.Version != int64(1+answered) || sent+claimable[id] != 1 {
			t.Errorf("%s: got version %d, asked %d, answered %d, sent %d times and %d effects to send",
				id, r.Version, asked, answered, sent, claimable[id])
		}
	}
}

// checkIndexed checks that the index has each of these records once, and no other record.
func checkIndexed(t *testing.T, s *sqlite.Store, path string, want []string) {
	t.Helper()
	var got []string
	for q := (store.Search{Phrases: []store.Phrase{{Words: []string{"table"}}}}); ; q.After = got[len(got)-1] {
		ids, err := s.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			break
		}
		got = append(got, ids...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the index has %d documents, want the %d answered records up to its position", len(got), len(want))
	}
	execute(t, openDatabase(t, path), "insert into search (search) values ('integrity-check')")
}

// claimAll claims every effect and frees it again. It returns the number of effects of each
// record.
func claimAll(t *testing.T, s *sqlite.Store) map[string]int {
	t.Helper()
	claimable := map[string]int{}
	var c store.Change
	for {
		effects, err := s.Claim(t.Context(), "verify", time.UnixMilli(2_000_000_000_000), 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(effects) == 0 {
			break
		}
		for _, e := range effects {
			claimable[e.Subject]++
			c.Done = append(c.Done, store.Completion{ID: e.ID, Node: "verify", Retry: e.Due})
		}
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return claimable
}
