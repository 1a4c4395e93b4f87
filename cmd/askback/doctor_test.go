package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Damage to any page of the database after the first is found, even if commands rarely read that page. Free
// pages are left out, because they contain no data.
func TestDoctorFindsADamagedPage(t *testing.T) {
	env, database := sandbox(t)
	for i := range 20 {
		addAnsweredAsk(t, env, fmt.Sprintf("Question %d?", i))
	}
	if got := runDoctor(t, env, 0); !strings.Contains(got, "is intact") {
		t.Fatalf("before: %s", got)
	}
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	unused := freePages(whole, page)
	for at := page; at < len(whole); at += page {
		if slices.Contains(unused, at/page+1) {
			continue
		}
		damaged := slices.Clone(whole)
		copy(damaged[at:], strings.Repeat("\xaa", 16))
		if err := os.WriteFile(database, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := runDoctor(t, env, 1); !strings.Contains(got, "FAIL  database") ||
			!strings.Contains(got, "restore a backup") {
			t.Errorf("page %d: got\n%s", at/page+1, got)
		}
	}
}

// freePages returns the numbers of the free pages of a database, from its freelist (section 1.5 of the file
// format of SQLite). Their content is never read.
func freePages(file []byte, size int) (free []int) {
	number := func(at int) int { return int(binary.BigEndian.Uint32(file[at:])) }
	for trunk := number(32); trunk != 0; {
		at := (trunk - 1) * size
		for i := range number(at + 4) {
			free = append(free, number(at+8+4*i))
		}
		trunk = number(at)
	}
	return free
}

// askback doctor does not create, change or remove a file, neither while a server runs nor after one was
// killed. SQLite's -shm file is shared memory and does not count.
func TestDoctorChangesNothing(t *testing.T) {
	env, database := sandbox(t)
	dir := filepath.Dir(filepath.Dir(database))
	check := func(state string) {
		t.Helper()
		before := snapshotFiles(t, dir)
		runDoctor(t, env, 0)
		if diff := cmp.Diff(before, snapshotFiles(t, dir)); diff != "" {
			t.Errorf("%s: %s", state, diff)
		}
	}
	check("no files")
	addAnsweredAsk(t, env, "Which?")
	check("no process")
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	waitForIndex(t, database)
	check("a running server")
	_ = p.cmd.Process.Kill()
	<-p.ended
	check("a killed server")
}

// waitForIndex waits until a server has added the settled asks to the search index.
func waitForIndex(t *testing.T, database string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(testTimeout); ; <-tick.C {
		var missing int
		err := db.QueryRow("select (select max(seq) from history) - seq from search_position").Scan(&missing)
		if err == nil && missing == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index lacks %d events: %v", missing, err)
		}
	}
}

// snapshotFiles returns the mode, time and checksum of each file below a directory.
func snapshotFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		out[path] = fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			out[path] += fmt.Sprintf(" %x", sha256.Sum256(raw))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// addAnsweredAsk runs askback ask and answers the question.
func addAnsweredAsk(t *testing.T, env []string, question string) {
	t.Helper()
	p := launch(t, env, "ask", question, "yes", "no")
	if _, err := p.in.Write([]byte("yes\n")); err != nil || !p.wait() || exitCode(p.result) != 0 {
		t.Fatal(err, p.err.String())
	}
}

// runDoctor runs askback doctor, requires its exit code and returns its output.
func runDoctor(t *testing.T, env []string, code int) string {
	t.Helper()
	settings := filepath.Join(t.TempDir(), "askback.yaml")
	if err := os.WriteFile(settings, []byte("listen: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, env, "doctor", "--config", settings)
	if !p.wait() || exitCode(p.result) != code {
		t.Errorf("exit code %d, want %d\n%s%s", exitCode(p.result), code, p.out.String(), p.err.String())
	}
	return p.out.String()
}

// A damaged search index is reported without advice to restore a backup.
func TestDoctorReportsADamagedIndex(t *testing.T) {
	env, database := sandbox(t)
	addAnsweredAsk(t, env, "Which one?")
	addAnsweredAsk(t, env, "Which other?")
	for _, statement := range []string{
		"update search_data set block = x'ff' where id > 10", "delete from search_docsize",
		"delete from search_config", "drop table search_data",
	} {
		db, err := sql.Open("sqlite", database)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := runDoctor(t, env, 0); !strings.Contains(got, "intact, except the search index") {
			t.Errorf("%s: got\n%s", statement, got)
		}
	}
}

// A changed byte in a record is found by its checksum, and the record is named. For records of older
// versions, which have no checksum, only their number is reported.
func TestDoctorNamesDamagedRecord(t *testing.T) {
	env, database := sandbox(t)
	for i := range 3 {
		addAnsweredAsk(t, env, fmt.Sprintf("Question %d?", i))
	}
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(whole, []byte("Question 2?"), []byte("Question 9?"), 1)
	if bytes.Equal(whole, damaged) {
		t.Fatal("the question is not in the file")
	}
	if err := os.WriteFile(database, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runDoctor(t, env, 1); !strings.Contains(got, "FAIL  database") ||
		!regexp.MustCompile(`match: ask ask_[0-9a-z]{26};`).MatchString(got) {
		t.Errorf("got\n%s, want the id of the damaged ask", got)
	}
}
