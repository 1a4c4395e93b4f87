package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// follows passes events to follow. Each line of text is "package test action output".
func follows(t *testing.T, text string) (printed string, notes []string) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	lines := make(chan line, 100)
	for text := range strings.Lines(text) {
		word := strings.SplitN(strings.TrimSpace(text), " ", 4)
		e := event{
			Package: "github.com/askback/askback/" + word[0], Test: strings.Trim(word[1], "-"), Action: word[2],
			Elapsed: 1.5,
		}
		if len(word) == 4 {
			e.Output = word[3] + "\n"
		}
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines <- line{0, raw}
	}
	close(lines)
	follow(r, lines)
	return out.String(), r.notes()
}

func TestFailedTestsArePrinted(t *testing.T) {
	printed, notes := follows(t, `
		web - start
		web TestQuick run
		web TestQuick output not printed: it passed
		web TestQuick pass
		engine TestRace run
		engine TestRace output two won
		engine TestRace/two run
		engine TestRace/two output got 2, want 1
		engine TestRace/two fail
		engine TestRace fail
		engine - output FAIL
		engine - fail
		web - output ok	web	(cached)
		web - pass`[1:])
	want := "two won\ngot 2, want 1\nFAIL\n   FAILED    1.5s  ./engine\n   ok      cached  ./web\n"
	if d := cmp.Diff(want, printed); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if d := cmp.Diff([]string{"FAILED: ./engine TestRace/two"}, notes); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// A test that panics or times out has no final event.
func TestUnfinishedTestIsPrinted(t *testing.T) {
	printed, notes := follows(t, `
		web TestLong run
		web TestLong output panic: test timed out
		web - fail
		store - output store.go:1: does not build
		store - fail`[1:])
	if !strings.Contains(printed, "panic: test timed out") || !strings.Contains(printed, "does not build") {
		t.Errorf("got %s", printed)
	}
	if d := cmp.Diff([]string{"FAILED: ./web TestLong (did not end)", "FAILED: ./store"}, notes); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestRepeatedSkipMessageIsNotedOnce(t *testing.T) {
	_, notes := follows(t, `
		web TestA run
		web TestA output page_test.go:3: LEFT OUT: the pages in a real browser
		web TestA skip
		web TestB run
		web TestB output page_test.go:3: LEFT OUT: the pages in a real browser
		web TestB skip
		web - pass`[1:])
	if d := cmp.Diff([]string{"LEFT OUT: the pages in a real browser"}, notes); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Two lists can run tests of the same package at the same time.
func TestPackageInTwoListsIsReportedTwice(t *testing.T) {
	var out strings.Builder
	r := newReport(&out)
	const web = "github.com/askback/askback/web"
	for _, e := range []event{
		{list: 0, Package: web, Test: "TestA", Action: "run"},
		{list: 1, Package: web, Test: "TestB", Action: "run"},
		{list: 1, Package: web, Test: "TestB", Action: "pass"},
		{list: 1, Package: web, Action: "pass"},
		{list: 0, Package: web, Test: "TestA", Action: "output", Output: "it is bad\n"},
		{list: 0, Package: web, Test: "TestA", Action: "fail"},
		{list: 0, Package: web, Action: "fail"},
	} {
		r.take(e)
	}
	want := "   ok        0.0s  ./web\nit is bad\n   FAILED    0.0s  ./web\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestRunningTestsArePrinted(t *testing.T) {
	var out strings.Builder
	r := newReport(&out)
	for _, e := range []event{
		{Package: "github.com/askback/askback/web", Action: "start"},
		{Package: "github.com/askback/askback/web", Test: "TestA", Action: "run"},
		{Package: "github.com/askback/askback/web", Test: "TestB", Action: "run"},
		{Package: "github.com/askback/askback/web", Test: "TestB", Action: "pass"},
	} {
		r.take(e)
	}
	r.stillRunning()
	if got, want := out.String(), "   still running: ./web TestA\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A paused test does not run until it continues.
func TestPausedTestIsNotPrinted(t *testing.T) {
	for _, c := range []struct{ actions, want string }{
		{"A run, B run, C run, C pause", "B"},
		{"A run, A pause, B run, B pause, C run, C pause, B cont, A cont", "A"},
		{"A run, A pause, B run, B pause, C run, C pause, B cont, A cont, A pass", "B"},
	} {
		var out strings.Builder
		r := newReport(&out)
		for step := range strings.SplitSeq(c.actions, ", ") {
			test, action, _ := strings.Cut(step, " ")
			r.take(event{Package: "github.com/askback/askback/web", Test: test, Action: action})
		}
		r.stillRunning()
		if got, want := out.String(), "   still running: ./web "+c.want+"\n"; got != want {
			t.Errorf("%s: got %q, want %q", c.actions, got, want)
		}
	}
}

// enterModule writes these files to a new folder and enters it.
func enterModule(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func TestResultsOfGoTestAreReported(t *testing.T) {
	enterModule(t, map[string]string{
		"go.mod": "module example.com/tried\n",
		"good/good_test.go": "package good\n\nimport \"testing\"\n\nfunc TestGood(t *testing.T) { t.Skip(\"LEFT " +
			"OUT: the moon\") }\n",
		"bad/bad_test.go": "package bad\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Error(\"it " +
			"is bad\") }\n",
		"none/none_test.go": "package none\n\nfunc broken() { undefined() }\n",
	})
	var out strings.Builder
	r := newReport(&out)
	if err := run(r, 2, []string{"./bad", "./none", ";", "./none", ",", "./good"}); err == nil {
		t.Error("it did not fail")
	}
	for _, want := range []string{"it is bad", "undefined: undefined", "ok  ", "example.com/tried/good"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	got := strings.Join(r.notes(), "\n")
	for _, want := range []string{
		"FAILED: example.com/tried/bad TestBad", "FAILED: example.com/tried/none", "LEFT OUT: the moon",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// With one lane, the lists run one after the other, in order.
func TestNumberOfConcurrentLanesIsLimited(t *testing.T) {
	enterModule(t, map[string]string{
		"go.mod": "module example.com/tried\n",
		"a/a_test.go": "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestA(t *testing.T) " +
			"{\n\ttime.Sleep(300 * time.Millisecond)\n\t_ = os.WriteFile(\"../a.ended\", nil, 0o600)\n}\n",
		"b/b_test.go": "package b\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestB(t *testing.T) {\n\tif _, " +
			"err := os.Stat(\"../a.ended\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
	})
	var out strings.Builder
	if err := run(newReport(&out), 1, []string{"./a", ";", "./b"}); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}
