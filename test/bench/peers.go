package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// A peer is another product that keeps a question until it is answered. Its
// program is in a folder of peers, and peers/README.md describes its output.
type peer struct {
	name  string // the folder of its program
	title string
	place string // the place of its agent and its person
	setup [][]string
	run   []string
	// gate is the minimum ratio of cycles/s of Askback, with both clients over HTTP, to cycles/s of the peer
	// at gateRuns runs. If it is zero, there is no goal.
	gate  float64
	lacks string // the features that the product lacks, in a few words
}

// gateRuns is the number of concurrent runs for which the peers have goals.
const gateRuns = 64

// The arguments of npm: the versions of the lock file, without running scripts
// of packages.
var npmInstall = []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}

// knownPeers lists the peers in the order of the table.
var knownPeers = []peer{
	{
		name: "nats", title: "NATS JetStream, SyncAlways", place: "its own protocol",
		setup: [][]string{{"go", "build", "-o", "nats", "."}}, run: []string{"./nats"},
		lacks: "a list of open questions (only messages by subject), who may answer, deadlines; one answer only " +
			"because this program sets an expected sequence",
	},
	{
		name: "eino", title: "Eino with SQLite", place: byPost,
		setup: [][]string{{"go", "build", "-o", "eino", "."}}, run: []string{"./eino"},
		lacks: "a list of questions, who may answer, history, deadlines; one answer only because of a table that " +
			"this program adds; the agent must be in the process",
	},
	{
		name: "restate", title: "Restate", place: remote,
		setup: [][]string{npmInstall}, run: []string{"node", "peer.mjs"}, gate: 5,
		lacks: "a list of questions for people, who answered; a second answer is accepted and dropped",
	},
	{
		name: "dbos", title: "DBOS with PostgreSQL", place: byPost,
		setup: [][]string{npmInstall}, run: []string{"node", "peer.mjs"}, gate: 8,
		lacks: "a list of questions for people, who answered; a second answer is accepted and dropped",
	},
	{
		name: "langgraph", title: "LangGraph with SQLite", place: byPost,
		setup: [][]string{npmInstall, {"npm", "rebuild", "better-sqlite3", "--loglevel=error"}},
		run:   []string{"node", "peer.mjs"}, gate: 12,
		lacks: "a list of questions for people, who answered, deadlines; two simultaneous answers run the code " +
			"twice, a later one is accepted and dropped",
	},
}

// parsePeers returns the peers of a comma-separated list of names. "true", the value of a flag without a
// value, selects all.
func parsePeers(list string) ([]peer, error) {
	if list == "true" {
		return knownPeers, nil
	}
	var all []peer
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(knownPeers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown peer %q; use %s", name, strings.Join(peerNames(knownPeers), ", "))
		}
		all = append(all, knownPeers[i])
	}
	return all, nil
}

func peerNames(all []peer) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}

// peerStart is how long a peer may take to start.
const peerStart = time.Minute

// peerRestarts is how often a peer is started again after a failure.
const peerRestarts = 2

// A peerSet contains the running peers, and the reasons why other peers do not run.
type peerSet struct {
	dir      string // the folder for the data of the peers
	running  map[string]*peerProcess
	leftOut  map[string]error
	version  map[string]string
	programs map[string]program
}

// A program is an installed peer. Its measurements may fail peerRestarts times.
type program struct {
	peer
	folder   string
	failures int
}

func newPeers(dir string) *peerSet {
	return &peerSet{dir, map[string]*peerProcess{}, map[string]error{}, map[string]string{}, map[string]program{}}
}

// startPeers installs and starts peers, one after the other. A peer that does not
// start is left out. The caller must call stop, even after an error.
func startPeers(ctx context.Context, all []peer, dir string, notes io.Writer) (*peerSet, error) {
	s := newPeers("")
	if len(all) == 0 {
		return s, nil
	}
	cache, err := peerCache()
	if err != nil {
		return s, err
	}
	if s.dir, err = peerData(dir); err != nil {
		return s, err
	}
	for _, p := range all {
		folder, err := install(ctx, p, cache, notes)
		if err == nil {
			err = s.start(ctx, p, folder, peerStart)
		}
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		if err != nil {
			s.leaveOut(p.name, err, notes)
		}
	}
	return s, nil
}

// start starts a peer whose program is in folder.
func (s *peerSet) start(ctx context.Context, p peer, folder string, within time.Duration) error {
	data, err := peerData(s.dir)
	if err != nil {
		return err
	}
	c, version, err := startPeer(ctx, p.run, folder, data, within)
	if err != nil {
		return err
	}
	s.running[p.name], s.version[p.name] = c, version
	s.programs[p.name] = program{p, folder, s.programs[p.name].failures}
	return nil
}

// failed restarts a peer whose measurement has failed, with new data. A peer that fails too often, or does
// not start again, is left out.
func (s *peerSet) failed(ctx context.Context, name string, reason error, notes io.Writer) {
	s.running[name].stop()
	delete(s.running, name)
	again := s.programs[name]
	again.failures++
	s.programs[name] = again
	if again.failures <= peerRestarts {
		fmt.Fprintf(notes, "bench: start %s again: %v\n", name, reason)
		if reason = s.start(ctx, again.peer, again.folder, peerStart); reason == nil {
			return
		}
	}
	s.leaveOut(name, reason, notes)
}

// leaveOut records why a peer does not run. Its measurements are kept.
func (s *peerSet) leaveOut(name string, reason error, notes io.Writer) {
	fmt.Fprintf(notes, "bench: %s is left out: %v\n", name, reason)
	s.leftOut[name] = reason
}

// stop ends all peers and deletes their data. The results count even if the data cannot be
// deleted.
func (s *peerSet) stop(notes io.Writer) {
	for _, c := range s.running {
		c.stop()
	}
	clear(s.running)
	if s.dir == "" {
		return
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintf(notes, "bench: the data of the peers is left: %v\n", err)
	}
}

// contenders returns the running peers, sorted by name.
func (s *peerSet) contenders() []contender {
	if s == nil {
		return nil
	}
	var all []contender
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		all = append(all, contender{name: name, place: peerPlace})
	}
	return all
}

// peerPlace is the place of the measurements of peers.
const peerPlace = "peer"

// measure runs cycles of a peer: first to warm it up, and then to measure.
func (s *peerSet) measure(ctx context.Context, name string, p plan, runs int) (measurement, error) {
	c := s.running[name]
	if c == nil {
		return measurement{}, errors.New("the peer does not run")
	}
	if _, err := c.measure(ctx, runs, p.duration/10); err != nil {
		return measurement{}, fmt.Errorf("warm: %w", err)
	}
	u, start, spent := readUsage(), time.Now(), treeTime(c.cmd.Process.Pid)
	m, err := c.measure(ctx, runs, p.duration)
	took := time.Since(start)
	m.Others = max(0, u.others(took)-float64(treeTime(c.cmd.Process.Pid)-spent)/float64(took))
	return m, err
}

// A peerResult compares Askback with a peer, at a number of concurrent runs.
type peerResult struct {
	peer
	version string
	runs    int
	remote  spread // cycles/s of Askback divided by cycles/s of the peer, with both clients of Askback over HTTP
	byPost  spread // the same, with the agent in the process
	p50     spread // median latency of the peer, in ms
	speed   spread // cycles/s of the peer
	others  float64
}

// peerResults returns the measured comparisons, by peer and then by runs.
func (r report) peerResults(p plan) []peerResult {
	var out []peerResult
	for _, one := range knownPeers {
		for _, runs := range p.runs {
			k := key{one.name, peerPlace, runs}
			if r[k] == nil {
				continue
			}
			mine := func(place string) key { return key{"askback", place, runs} }
			of := func(place string) spread {
				return spreadOf(ratios(r.of(mine(place), perSecond), r.of(k, perSecond)))
			}
			out = append(out, peerResult{
				peer: one, version: p.peers.version[one.name], runs: runs, remote: of(remote), byPost: of(byPost),
				p50: r.spread(k, p50), speed: r.spread(k, perSecond),
				others: max(r.spread(mine(remote), others).Median, r.spread(k, others).Median),
			})
		}
	}
	return out
}

// A peerJSON is the JSON form of a comparison.
type peerJSON struct {
	What      string `json:"what"` // "peer"
	Peer      string `json:"peer"`
	Version   string `json:"version"`
	Runs      int    `json:"runs"`
	Remote    spread `json:"remote_ratio"`
	ByPost    spread `json:"by_post_ratio"`
	PerSecond spread `json:"per_s"`
	P50       spread `json:"p50_ms"`
}

// writePeers writes one JSON line per comparison.
func writePeers(w io.Writer, p plan, r report) error {
	var all []peerJSON
	for _, v := range r.peerResults(p) {
		all = append(all, peerJSON{"peer", v.name, v.version, v.runs, v.remote, v.byPost, v.speed, v.p50})
	}
	return writeLines(w, all)
}

// text returns in words whether the goal was reached, or "" if this number of runs has no
// goal.
func (r peerResult) text() string {
	switch {
	case r.gate == 0 || r.runs != gateRuns:
		return ""
	case r.others > maxOthers:
		return "disturbed"
	case r.remote.Median >= r.gate:
		return "held"
	}
	return "MISSED"
}

// bound returns the goal in words, or "" if this number of runs has no goal.
func (r peerResult) bound() string {
	if r.gate == 0 || r.runs != gateRuns {
		return ""
	}
	return fmt.Sprintf("≥ %g", r.gate)
}

// The lines that begin the comparisons with the peers.
const (
	peersTitle = "Peers: cycles/s of Askback divided by cycles/s of the peer in the same round, with Askback's " +
		"agent over HTTP (remote) and in the process."
	lacksTitle = "What the peers do not keep, and Askback keeps for each question:"
)

// printPeers prints the comparisons with the peers.
func printPeers(w io.Writer, p plan, r report) error {
	if p.peers == nil || len(p.peers.leftOut)+len(p.peers.version) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\n"+peersTitle)
	t := newTable(w)
	fmt.Fprintln(t,
		"runs\tpeer\tversion\tits place\tremote\tgate\t\tin process, answer by POST\tits cycles/s\tits p50 ms")
	results := r.peerResults(p)
	slices.SortStableFunc(results, func(a, b peerResult) int { return cmp.Compare(a.runs, b.runs) })
	for _, v := range results {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			v.runs, v.title, v.version, v.place, v.remote, v.bound(), v.text(), v.byPost, v.speed, v.p50)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n"+lacksTitle)
	for _, one := range knownPeers {
		if _, ok := p.peers.version[one.name]; ok {
			fmt.Fprintf(w, "  %s: %s.\n", one.title, one.lacks)
		}
		if err := p.peers.leftOut[one.name]; err != nil {
			fmt.Fprintf(w, "  %s is left out: %v\n", one.title, err)
		}
	}
	return nil
}
