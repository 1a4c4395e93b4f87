package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/sqlite"
)

// childEnv is the environment variable with the path of the database to which the child
// process writes until it is killed.
const childEnv = "ASKBACK_SQLITE_CHILD"

// child creates and answers records without end. It prints the id of each after Commit
// returned.
func child(path string) {
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
				commit(s, r, "asked")
				r.Version, r.Open, r.Status, r.Fixed = 1, false, "answered", nil
				commit(s, r, "answered")
			}
		})
	}
	wg.Wait()
}

func commit(s *sqlite.Store, r store.Record, what string) {
	c := store.Change{Put: []store.Record{r}, Events: []store.Event{event(r, what)}}
	if _, err := s.Commit(context.Background(), c); err != nil {
		fmt.Println("commit:", err)
		os.Exit(1)
	}
	// One write, so that no line is printed in part.
	os.Stdout.WriteString(fmt.Sprintf("ACK %s %s\n", r.ID, what))
}

// After kill -9, every acknowledged change is there once, and the numbers of events have
// no gap (F2).
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "askback.db")
	status := map[string]string{}
	for _, lines := range []int{1, 40, 300} {
		for _, line := range untilKilled(t, path, lines) {
			ack, ok := strings.CutPrefix(line, "ACK ")
			if !ok {
				t.Fatalf("the child said %q", line)
			}
			id, what, _ := strings.Cut(ack, " ")
			status[id] = what
		}
		verify(t, path, status)
	}
}

// untilKilled runs a child, kills it after the given number of lines, and returns what it
// printed.
func untilKilled(t *testing.T, path string, lines int) (printed []string) {
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
	_ = cmd.Wait() // it was killed
	return printed
}

func verify(t *testing.T, path string, status map[string]string) {
	t.Helper()
	s, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	happened := map[string]int{}
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
				t.Fatalf("history: got %d after %d", e.Seq, after-1)
			}
			happened[e.Subject+" "+e.Type]++
		}
	}
	for id, what := range status {
		r, err := s.Read(t.Context(), "ask", id)
		if err != nil {
			t.Fatalf("acknowledged as %s: %s: %v", what, id, err)
		}
		// The child may have committed more than it printed.
		answered := happened[id+" answered"]
		if happened[id+" asked"] != 1 || answered > 1 || what == "answered" && answered != 1 || r.Version != int64(1+answered) {
			t.Errorf("%s, acknowledged as %s: got version %d, asked %d and answered %d times",
				id, what, r.Version, happened[id+" asked"], answered)
		}
	}
}
