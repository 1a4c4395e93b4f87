package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/store/sqlite"
)

func (d *doctor) line() string {
	f := d.findings[len(d.findings)-1]
	return strings.Join([]string{f.Status, f.Check, f.Detail, f.Fix}, "|")
}

// A clock that runs behind what was written makes deadlines pass late.
func TestDoctorSeesAClockThatWasSetBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		time.Hour:         "ok|clock|it is not behind the last time in the database|",
		-4 * time.Second:  "ok|clock|it is not behind the last time in the database|",
		-2 * time.Minute:  "FAIL|clock|it is 2m0s behind what was written last|set the clock: deadlines pass late until then",
		-time.Millisecond: "ok|clock|it is not behind the last time in the database|",
	} {
		d := &doctor{}
		d.clock(now.Add(-ago), now)
		if got := d.line(); got != want {
			t.Errorf("written %v ago: got %s, want %s", ago, got, want)
		}
	}
}

// The port of the settings file is ours, free, or somebody else's.
func TestDoctorTellsAForeignPortFromOurs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	for _, c := range []struct {
		answers bool
		url     string
		want    string
	}{
		{false, "", "FAIL|port|"},
		{true, "http://127.0.0.1:1", "warn|port|"},
		{true, "http://" + taken, "ok|port|"},
		{false, "http://" + taken, "FAIL|port|"}, // whoever that is, it did not prove itself
	} {
		d := &doctor{answers: c.answers}
		d.file.Listen, d.server.URL = taken, c.url
		d.port()
		if got := d.line(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// A page of the database that was overwritten is found, whichever it is: also one that
// nobody would read for a long time.
func TestDoctorFindsADamagedDatabase(t *testing.T) {
	env, database := sandbox(t)
	for i := range 20 {
		asked(t, env, fmt.Sprintf("Question %d?", i))
	}
	if got := doctored(t, env, 0); !strings.Contains(got, "is whole") {
		t.Fatalf("before: %s", got)
	}
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for at := page; at < len(whole); at += page {
		damaged := slices.Clone(whole)
		copy(damaged[at:], strings.Repeat("\xaa", 16))
		if err := os.WriteFile(database, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := doctored(t, env, 1); !strings.Contains(got, "FAIL  database") || !strings.Contains(got, "put a backup in its place") {
			t.Errorf("page %d: got\n%s", at/page+1, got)
		}
	}
}

// It changes nothing, also beside a server, and also after one was killed: no file is
// made, changed or taken away. (SQLite's -shm is memory that processes share.)
func TestDoctorChangesNothing(t *testing.T) {
	env, database := sandbox(t)
	dir := filepath.Dir(filepath.Dir(database))
	same := func(when string) {
		t.Helper()
		before := contents(t, dir)
		doctored(t, env, 0)
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	same("where nothing is")
	asked(t, env, "Which?")
	same("at rest")
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	same("beside a server")
	_ = p.cmd.Process.Kill()
	<-p.ended
	same("after a kill")
}

// contents are all files below a folder.
func contents(t *testing.T, dir string) map[string]string {
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

// asked leaves a settled ask in the database.
func asked(t *testing.T, env []string, question string) {
	t.Helper()
	p := launch(t, env, "ask", question, "yes", "no")
	if _, err := p.in.Write([]byte("yes\n")); err != nil || !p.wait() || exitCode(p.result) != 0 {
		t.Fatal(err, p.err.String())
	}
}

// doctored is what the doctor says.
func doctored(t *testing.T, env []string, code int) string {
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

// A byte that changed inside a record is found, and the record is named; a database from
// before there were checksums says how much of it cannot be checked.
func TestDoctorNamesDamagedRecord(t *testing.T) {
	env, database := sandbox(t)
	for i := range 3 {
		asked(t, env, fmt.Sprintf("Question %d?", i))
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
	if got := doctored(t, env, 1); !strings.Contains(got, "FAIL  database") || !regexp.MustCompile(`written: ask ask_[0-9a-z]{26};`).MatchString(got) {
		t.Errorf("got\n%s, want the ask that is damaged", got)
	}
	d := &doctor{database: "askback.db"}
	d.schema(inspection{version: sqlite.SchemaVersion, rows: sqlite.Verification{Rows: 9, Without: 5}}, 1<<20)
	if want := "ok|database|askback.db is whole: schema 6, 1024 kB; 5 of 9 records and lines of history are from before there were checksums|"; d.line() != want {
		t.Errorf("got %s, want %s", d.line(), want)
	}
}
