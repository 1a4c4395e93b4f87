// Package golden compares results of tests with golden files. Importing it adds
// the flag -update to a test.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether the flag -update is set.
func Updating() bool { return *update }

// Check fails the test if got differs from the file at path. With -update, it writes got to the file instead.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		Write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf(
			"%s changed (-want +got). If the change is intended, run the test with -update and review the diff.\n%s",
			path, diff,
		)
	}
}

// Write writes content to the file at path, with or without -update.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Transcript checks the file at path, which has stanzas separated by empty lines. A stanza is an input, a
// line "----", and the output that run returns for the input. With -update, Transcript writes the outputs to
// the file.
func Transcript(t testing.TB, path string, run func(input string) (output string)) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for stanza := range strings.SplitSeq(strings.TrimSpace(string(want)), "\n\n") {
		input, _, _ := strings.Cut(stanza, "\n----")
		got.WriteString(input + "\n----\n" + run(input) + "\n")
	}
	Check(t, path, strings.TrimSpace(got.String())+"\n")
}

// Lines returns a function for [Transcript]. It calls run for each line of the
// input that does not begin with "#", and joins the results.
func Lines(run func(line string) string) func(input string) string {
	return func(input string) string {
		var output strings.Builder
		for line := range strings.SplitSeq(input, "\n") {
			if !strings.HasPrefix(line, "#") {
				output.WriteString(run(line))
			}
		}
		return output.String()
	}
}
