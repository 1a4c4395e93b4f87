package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fakePeerArg is the first argument of the test binary as a fake peer. The name of the fake follows.
const fakePeerArg = "peer"

// fakePeers are programs that behave like peers, or like broken peers.
var fakePeers = map[string]func(){
	"good": func() {
		fmt.Println("a library prints this")
		servePeer(func(int) string { return `{"cycles":30,"seconds":1.5,"p50_ms":2,"p99_ms":4}` })
	},
	"failing": func() {
		servePeer(func(n int) string {
			if n > 2 {
				return `{"error":"disk full"}`
			}
			return `{"cycles":10,"seconds":1,"p50_ms":1,"p99_ms":1}`
		})
	},
	"silent after start": func() {
		fmt.Println(`{"ready":true}`)
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"silent": func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	"ended":  func() { fmt.Fprintln(os.Stderr, "PostgreSQL is not\ninstalled") },
	"stubborn": func() { // has a child and ignores the end of stdin
		self, _ := os.Executable()
		c := exec.Command(self, fakePeerArg, "blocked")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
		fmt.Println(`{"ready":true}`)
		select {}
	},
	"busy": func() { // is ready after its child has worked
		self, _ := os.Executable()
		c := exec.Command(self, fakePeerArg, "working")
		c.Stdout = os.Stdout
		_ = c.Start()
		select {}
	},
	"working": func() {
		for readUsage().machine > 0 && readUsage().own < 500*time.Millisecond {
		}
		fmt.Println(`{"ready":true}`)
		select {}
	},
	"blocked": func() { select {} },
	"setup": func() {
		f, err := os.OpenFile("ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString("x")
		}
		if err != nil {
			panic(err)
		}
	},
	"broken setup": func() {
		fmt.Fprintln(os.Stderr, "no compiler")
		os.Exit(1)
	},
}

// servePeer prints that the peer is ready, and a reply for each line on stdin.
func servePeer(reply func(n int) string) {
	fmt.Println(`{"ready":true,"version":"1.2"}`)
	n := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println(reply(n)) {
		var of struct{ Runs, MS int }
		if err := json.Unmarshal(in.Bytes(), &of); err != nil || of.Runs < 1 || of.MS < 1 {
			fmt.Println(`{"error":"the line is not a request"}`)
			return
		}
		n++
	}
}

// fakePeer returns the command of a fake peer.
func fakePeer(t *testing.T, name string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, fakePeerArg, name}
}

func TestPeerReportsItsCycles(t *testing.T) {
	c, version, err := startPeer(t.Context(), fakePeer(t, "good"), t.TempDir(), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	m, err := c.measure(t.Context(), 16, time.Millisecond)
	want := measurement{PerSecond: 20, P50: 2 * time.Millisecond, P99: 4 * time.Millisecond}
	if err != nil || !reflect.DeepEqual(m, want) || version != "1.2" {
		t.Errorf("got %+v, %v from version %q; want %+v from version 1.2", m, err, version, want)
	}
}

func TestInvalidMeasurementsOfPeersAreErrors(t *testing.T) {
	for _, l := range []peerLine{
		{}, {Cycles: 1}, {Cycles: 1, Seconds: 1, P50: 2, P99: 1}, {Seconds: 1}, {Ready: true},
	} {
		if m, err := l.measurement(); err == nil {
			t.Errorf("%+v: got %+v, want an error", l, m)
		}
	}
}

func TestPeerThatDoesNotStartReportsTheReason(t *testing.T) {
	for name, want := range map[string]string{
		"silent": "no reply within 20ms", "ended": "it has ended: PostgreSQL is not installed",
	} {
		within := time.Minute
		if name == "silent" {
			within = 20 * time.Millisecond
		}
		c, _, err := startPeer(t.Context(), fakePeer(t, name), t.TempDir(), "", within)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want %q", name, c, err, want)
		}
	}
	if _, _, err := startPeer(t.Context(), []string{"./missing"}, t.TempDir(), "",
		time.Minute); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: got %v", err)
	}
}

// The child of a peer keeps stdout open, so that stop does not return while the
// child runs.
func TestStopKillsPeerAndItsChildren(t *testing.T) {
	c, _, err := startPeer(t.Context(), fakePeer(t, "stubborn"), t.TempDir(), "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.grace = time.Millisecond
	stopped := make(chan struct{})
	go func() {
		c.stop()
		c.stop() // does nothing
		close(stopped)
	}()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	select {
	case <-stopped:
	case <-deadline.C:
		t.Error("the peer or its child still runs")
	}
}

// newPeerSet starts fake peers and returns them. all maps the name of each peer to the name of its fake.
func newPeerSet(t *testing.T, all map[string]string) *peerSet {
	t.Helper()
	dir, err := peerData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := newPeers(dir)
	t.Cleanup(func() {
		s.stop(io.Discard)
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the data of the peers is left: %v", err)
		}
	})
	for name, fake := range all {
		if err := s.start(t.Context(), peer{name: name, run: fakePeer(t, fake)}, t.TempDir(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPeersAreMeasuredInEachRound(t *testing.T) {
	p := plan{duration: 10 * time.Millisecond, rounds: 3, runs: []int{1, gateRuns}, dir: t.TempDir()}
	p.peers = newPeerSet(t, map[string]string{"restate": "good", "dbos": "failing"})
	r, err := measureCycles(t.Context(), p, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	// Every second measurement of dbos fails. After the third failure, dbos is left out.
	for k, want := range map[key]int{
		{"restate", peerPlace, 1}: 3, {"restate", peerPlace, gateRuns}: 3, {"askback", remote, gateRuns}: 3,
		{"dbos", peerPlace, 1}: 3, {"dbos", peerPlace, gateRuns}: 0,
	} {
		if got := len(r[k]); got != want {
			t.Errorf("%v: got %d rounds, want %d", k, got, want)
		}
	}
	if reason := p.peers.leftOut["dbos"]; reason == nil || !strings.Contains(reason.Error(), "disk full") ||
		p.peers.running["dbos"] != nil {
		t.Errorf("dbos is left out because of %v", reason)
	}
	if got, want := len(r.keys(p)), len(p.runs)*len(contenders); got != want {
		t.Errorf("the table of Askback has %d cases, want %d", got, want)
	}
	var out, lines strings.Builder
	if err := errors.Join(printPeers(&out, p, r), writePeers(&lines, p, r)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Restate", "≥ 5", "DBOS with PostgreSQL is left out: warm: disk full"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if got := strings.Count(lines.String(), `"what":"peer"`); got != 3 {
		t.Errorf("got %d lines of JSON, want 3:\n%s", got, &lines)
	}
}

func TestPeerRatioComparesTheSameRound(t *testing.T) {
	of := func(speeds ...float64) map[int]measurement {
		all := map[int]measurement{}
		for i, v := range speeds {
			all[i] = measurement{PerSecond: v}
		}
		return all
	}
	r := report{
		{"askback", remote, gateRuns}: of(100, 200, 300), {"askback", byPost, gateRuns}: of(400, 400, 400),
		{"dbos", peerPlace, gateRuns}: of(10, 25, 100),
	}
	results := r.peerResults(plan{runs: []int{gateRuns}, peers: &peerSet{version: map[string]string{}}})
	if len(results) != 1 || results[0].remote != (spread{8, 3, 10}) || results[0].byPost != (spread{16, 4, 40}) {
		t.Fatalf("got %+v", results)
	}
	if got := results[0].text(); got != "held" {
		t.Errorf("a ratio of 8 for a goal of 8: %s", got)
	}
	results[0].gate = 9
	if got := results[0].text(); got != "MISSED" {
		t.Errorf("a ratio of 8 for a goal of 9: %s", got)
	}
}

func TestCancelledRunDoesNotCountAsFailureOfPeer(t *testing.T) {
	p := plan{duration: time.Millisecond, peers: newPeerSet(t, map[string]string{"nats": "silent after start"})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := report{}.measurePeer(ctx, "nats", p, 1, 0, io.Discard)
	if !errors.Is(err, context.Canceled) || len(p.peers.leftOut) > 0 || p.peers.programs["nats"].failures > 0 {
		t.Errorf("got %v, failures %v, and left out: %v", err, p.peers.programs, p.peers.leftOut)
	}
}

func TestPeerIsInstalledOnce(t *testing.T) {
	cache := t.TempDir()
	p := peer{name: "nats", setup: [][]string{fakePeer(t, "setup")}}
	first, err := install(t.Context(), p, cache, io.Discard)
	again, errAgain := install(t.Context(), p, cache, io.Discard)
	if err := errors.Join(err, errAgain); err != nil || first != again {
		t.Fatalf("got %s and %s, %v", first, again, err)
	}
	if ran, err := os.ReadFile(filepath.Join(first, "ran")); err != nil || string(ran) != "x" {
		t.Errorf("the set-up ran %d times, %v; want once", len(ran), err)
	}
	for _, name := range []string{"main.go", "../go.mod", "../cycle/cycle.go"} {
		if _, err := os.Stat(filepath.Join(first, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(first, "../eino")); err == nil {
		t.Error("the program of another peer was copied")
	}
	p.setup = append(p.setup, fakePeer(t, "broken setup"))
	for range 2 { // a failed set-up is run again
		other, err := install(t.Context(), p, cache, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "no compiler") {
			t.Errorf("got %s, %v; want the output of the set-up", other, err)
		}
	}
}

func TestEachPeerHasAProgram(t *testing.T) {
	sources, err := peerSources()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range knownPeers {
		files, err := peerFiles(sources, p.name)
		if err != nil {
			t.Fatal(err)
		}
		locked, program := "go.sum", p.name+"/main.go"
		if p.run[0] == "node" {
			locked, program = p.name+"/package-lock.json", p.name+"/peer.mjs"
		}
		for _, name := range []string{locked, program} {
			if files[name] == nil {
				t.Errorf("%s has no file %s", p.name, name)
			}
		}
		if p.lacks == "" || p.title == "" || p.place == "" {
			t.Errorf("%s is not described", p.name)
		}
	}
	if _, err := peerFiles(sources, "sandwich"); err == nil {
		t.Error("no error for a peer without a folder")
	}
}

func TestPeersAreSelectedByName(t *testing.T) {
	all, err := parsePeers("true")
	if err != nil || len(all) != len(knownPeers) {
		t.Errorf("got %d peers, %v; want all", len(all), err)
	}
	some, err := parsePeers("dbos,nats")
	if got := strings.Join(peerNames(some), " "); err != nil || got != "dbos nats" {
		t.Errorf("got %q, %v", got, err)
	}
}
