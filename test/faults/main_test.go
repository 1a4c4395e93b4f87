package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/askback/askback/test/kit/fakes"
	"github.com/askback/askback/test/program"
)

// TestMain runs the load, or the fakes of services, if the test binary is started as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakesArg {
		if err := fakes.Run(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == childArg {
		if err := loadChild(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	_ = os.RemoveAll(builtIn)
	os.Exit(code)
}

// builtIn is the folder of the program that the tests kill. It is created when a test needs it.
var builtIn string

var buildOnce = sync.OnceValues(func() (path string, err error) {
	if builtIn, err = os.MkdirTemp("", "askback-faults-test-*"); err != nil {
		return "", err
	}
	return program.Build(context.Background(), builtIn)
})

// builtProgram returns the path of the program, which is built once for all tests.
func builtProgram(t *testing.T) string {
	t.Helper()
	program, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// runMain runs the program and returns its output. It fails the test if the
// program left temporary files.
func runMain(t *testing.T, ctx context.Context, args string) (string, error) {
	t.Helper()
	args += " -program " + builtProgram(t)
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	var out bytes.Buffer
	err := run(ctx, strings.Fields(args), &out)
	left, readErr := os.ReadDir(scratch)
	if readErr != nil {
		t.Fatal(readErr)
	}
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), "askback-") })
	if len(left) > 0 {
		t.Errorf("%s was left behind", left[0].Name())
	}
	return out.String(), err
}

func TestKillsLoseNothing(t *testing.T) {
	if out, err := runMain(t, t.Context(),
		"-n 4 -binary 2 -server 2 -streams 1 -channels 0 -reach 0 -hosted 0 -held 2 -seed 1"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A lost change may also be reported as a second outcome. A run with a mutant ends when
// the mutant is detected, long before 4000 kills.
func TestMutantIsDetected(t *testing.T) {
	for _, mutant := range slices.Sorted(maps.Keys(mutants)) {
		t.Run(mutant, func(t *testing.T) {
			out, err := runMain(t, t.Context(), "-n 4000 -seed 1 -mutant "+mutant)
			if !errors.Is(err, errViolated) ||
				!regexp.MustCompile("(?m)^faults: (lost|duplicated|accepted): ").MatchString(out) {
				t.Errorf("got error %v, want %v and a violation in\n%s", err, errViolated, out)
			}
		})
	}
}

func TestUndetectedMutantIsAnError(t *testing.T) {
	for mutant := range mutants {
		if _, err := runMain(t, t.Context(), "-n 0 -seed 1 -mutant "+mutant); !errors.Is(err, errUndetected) {
			t.Errorf("%s: got %v, want %v", mutant, err, errUndetected)
		}
	}
}

func TestUnknownMutantIsAnError(t *testing.T) {
	if _, err := runMain(t, t.Context(), "-mutant unknown"); err == nil || errors.Is(err, errUndetected) {
		t.Errorf("got %v, want an error with the names of the mutants", err)
	}
}

func TestInterruptedRunCleansUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runMain(t, ctx, "-n 5 -server 5 -seed 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
