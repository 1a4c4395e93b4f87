package golden_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/askback/askback/test/kit/golden"
)

// A recorder is a testing.TB that records whether the test failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestTranscriptIsComparedAndUpdated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript.txt")
	golden.Write(t, path, "# comment\none\n----\nONE\n\ntwo\nthree\n----\nTWO\n")
	check := func() bool {
		r := &recorder{TB: t}
		golden.Transcript(r, path, golden.Lines(func(line string) string { return strings.ToUpper(line) + "\n" }))
		return !r.failed
	}
	if check() {
		t.Error("a wrong transcript passed")
	}
	if err := flag.Set("update", "true"); err != nil {
		t.Fatal(err)
	}
	passed := check()
	if err := flag.Set("update", "false"); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	want := "# comment\none\n----\nONE\n\ntwo\nthree\n----\nTWO\nTHREE\n"
	if err != nil || string(raw) != want || !passed {
		t.Errorf("with -update: got %q, %v, want %q", raw, err, want)
	}
	if !check() {
		t.Error("the updated transcript did not pass")
	}
}
