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
	"testing"
)

// The test program is its own child, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childWord {
		if err := loadChild(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// proves runs the program and returns what it printed, after it has seen that
// nothing was left behind.
func proves(t *testing.T, ctx context.Context, args string) (string, error) {
	t.Helper()
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

func TestAFewKillsLoseNothing(t *testing.T) {
	if out, err := proves(t, t.Context(), "-n 8 -binary 4 -server 6 -streams 5 -seed 1"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is lost shows as such, or, when another person was quicker to settle it
// again, as a second outcome. A run with a planted fault ends when it is found.
// On a busy machine that takes more kills, since fewer events fit between two of
// them: the number is only a bound, and far from what is needed.
func TestPlantedFaultIsReported(t *testing.T) {
	for _, plant := range slices.Sorted(maps.Keys(plants)) {
		t.Run(plant, func(t *testing.T) {
			out, err := proves(t, t.Context(), "-n 4000 -seed 1 -plant "+plant)
			if !errors.Is(err, errViolated) || !regexp.MustCompile("(?m)^prove: (lost|doubled|accepted): ").MatchString(out) {
				t.Errorf("got error %v, want %v, and what was lost, doubled or accepted in\n%s", err, errViolated, out)
			}
		})
	}
}

func TestPlantThatDoesNothingIsReported(t *testing.T) {
	for plant := range plants {
		if _, err := proves(t, t.Context(), "-n 0 -seed 1 -plant "+plant); !errors.Is(err, errMissed) {
			t.Errorf("%s: got %v, want %v", plant, err, errMissed)
		}
	}
}

func TestUnknownPlantIsRefused(t *testing.T) {
	if _, err := proves(t, t.Context(), "-plant a-tree"); err == nil || errors.Is(err, errMissed) {
		t.Errorf("got %v, want an error that names the plants", err)
	}
}

func TestInterruptedProverCleansUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := proves(t, ctx, "-n 5 -server 5 -seed 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
