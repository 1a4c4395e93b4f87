package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain runs a child command or a fake peer if the first argument of the test binary selects it.
// Otherwise, it runs the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakePeerArg {
		fakePeers[os.Args[2]]()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == childArg {
		if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestEveryCaseIsMeasured(t *testing.T) {
	p := plan{duration: 50 * time.Millisecond, rounds: 2, runs: []int{1, 4}, pending: 10, dir: t.TempDir()}
	r, err := measureCycles(t.Context(), p, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.keys(p)), len(p.runs)*len(contenders); got != want {
		t.Errorf("got %d cases, want %d", got, want)
	}
	for k, rounds := range r {
		for round, m := range rounds {
			if m.PerSecond <= 0 || m.P50 <= 0 || m.P99 < m.P50 {
				t.Errorf("%v, round %d: %+v", k, round, m)
			}
		}
	}
	left, err := os.ReadDir(p.dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMemoryAndRecoveryAreMeasured(t *testing.T) {
	p := plan{rounds: 2, dir: t.TempDir(), memory: []int{50, 100}, waiters: 20, connected: waitersPerAgent + 10}
	all, err := measureMemory(t.Context(), p)
	if err != nil || len(all) != 5 {
		t.Errorf("memory: got %v, %v; want five footprints", all, err)
	}
	for _, of := range []waiting{longPoll, oneStream} {
		held, err := measureConnections(t.Context(), p, of)
		if err != nil || len(held) != 2 || held[1].Waiters != p.connected {
			t.Errorf("connections: got %v, %v; want two footprints, the second with %d waiters", held, err, p.connected)
		}
	}
	r, err := measureRecovery(t.Context(), p, 20)
	if err != nil || r.Kills != 2 || r.First.Min <= 0 || r.Restart.Min < r.First.Min {
		t.Errorf("recovery: got %+v, %v", r, err)
	}
}

func TestAllFollowersReceiveEvents(t *testing.T) {
	p := plan{rounds: 2, dir: t.TempDir(), followers: 5}
	all, err := measureFanOut(t.Context(), p, io.Discard)
	if err != nil || len(all) != len(streamServers) {
		t.Fatalf("got %v, %v; want %d figures", all, err, len(streamServers))
	}
	for _, f := range all {
		if f.Streams != p.followers || f.P50.Min <= 0 || f.Max.Median < f.P50.Median || f.OfBare.Min <= 0 {
			t.Errorf("got %+v", f)
		}
	}
	if all[0].OfBare != (spread{1, 1, 1}) {
		t.Errorf("bare is %v of itself", all[0].OfBare)
	}
}

// A silentServer is a server that accepts asks and sends no events.
type silentServer struct{ streamServer }

func (silentServer) ask(context.Context) (string, error) { return "ask_1", nil }

func TestUndeliveredEventIsAnError(t *testing.T) {
	f, err := openProductStreamServer(t.Context(), filepath.Join(t.TempDir(), "fan.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	all, err := follow(t.Context(), f, 2)
	defer all.close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if took, err := all.ask(ctx, silentServer{f}, 1); !errors.Is(err, context.DeadlineExceeded) || len(took) > 0 {
		t.Errorf("got %v, %v; want an error", took, err)
	}
	if _, err := all.ask(t.Context(), f, 1); err != nil {
		t.Errorf("with all events delivered: %v", err)
	}
}

func TestEachCaseIsALineOfJSON(t *testing.T) {
	var out, notes bytes.Buffer
	args := "-dur 50ms -rounds 1 -c 2 -only cycle -json -dir " + t.TempDir()
	if err := run(t.Context(), strings.Fields(args), &out, &notes); err != nil {
		t.Fatal(err)
	}
	var names []string
	for lines := json.NewDecoder(&out); ; {
		var l line
		if err := lines.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, l.What+" "+l.Place)
	}
	var want []string
	for _, place := range []string{inProcess, byPost, remote} {
		want = append(want, "bare "+place, "record "+place, "askback "+place)
	}
	want = append(want, "mcp "+remote)
	if !slices.Equal(names, want) {
		t.Errorf("got lines of %q, want %q", names, want)
	}
	if !strings.Contains(notes.String(), "cycles/s") {
		t.Errorf("no table in %q", notes.String())
	}
}

func TestInvalidOptionsAreErrors(t *testing.T) {
	for _, args := range []string{
		"-only sandwich", "-peers=sandwich", "-only growth -docs .", "-c 0", "-c x", "-what sandwich", "-rounds 0",
		"stray",
	} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
