package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// showsLocks reports whether /proc shows the locks of a process.
func showsLocks(t *testing.T) bool {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(path, "probe")
	lock, err := instance.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	return (&lockMonitor{database: path}).holdsLock(fmt.Sprintf("/proc/%d", os.Getpid()))
}

// An askGroup is several askback ask processes with one state directory.
type askGroup struct {
	t     *testing.T
	env   []string
	place instance.Place
	mu    sync.Mutex
	asks  map[int]*process // the processes that were neither killed nor answered
	rand  *rand.Rand
}

// Twenty processes ask at the same time. Six times, the process that holds the database is killed and other
// commands answer two asks. Each remaining process gets its own answer. Two processes never have the database
// open at the same time (F2, wire.md §11).
func TestCommandsShareOneDatabase(t *testing.T) {
	t.Parallel()
	const asks, kills = 20, 6
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	env, database := sandbox(t)
	stop := make(chan struct{})
	seen := monitorLock(t, database, stop)
	g := &askGroup{
		t: t, env: env, place: instance.Place{Database: database}, asks: map[int]*process{},
		rand: rand.New(rand.NewPCG(seed, 0)),
	}
	all := make([]*process, asks)
	for i := range all {
		all[i] = launch(t, env, "ask", fmt.Sprintf("Question %d?", i), fmt.Sprintf("yes %d", i),
			fmt.Sprintf("no %d", i))
		g.asks[i] = all[i]
	}
	killed := map[int]bool{}
	for range kills {
		killed[g.killHolder()] = true
		var group sync.WaitGroup
		for _, i := range g.randomAsks(2) {
			group.Go(func() { g.answer(i) })
		}
		group.Wait()
	}
	for _, i := range g.randomAsks(asks) {
		g.answer(i)
	}
	close(stop)
	for i, p := range all {
		if killed[i] {
			continue
		}
		want := fmt.Sprintf("no %d\n", i)
		if !p.wait() || exitCode(p.result) != 0 || p.out.String() != want {
			t.Errorf("ask %d: exit code %d and %q, want 0 and %q\n%s", i, exitCode(p.result), p.out.String(), want,
				p.err.String())
		}
	}
	o := seen()
	for _, fault := range o.violations {
		t.Error(fault)
	}
	if o.sightings == 0 {
		t.Error("no process was seen with the database open, so the test checked nothing")
	}
	t.Logf("%d sightings of an opener", o.sightings)
}

// killHolder waits for the process that serves the database, kills it and returns its
// index.
func (g *askGroup) killHolder() int {
	g.t.Helper()
	who := -1
	ok := eventually(func() bool {
		s, ok := g.place.Last()
		for i, p := range g.asks {
			if ok && p.cmd.Process.Pid == s.PID {
				who = i
			}
		}
		return who >= 0 && s.Proves(g.t.Context()) == nil
	})
	if !ok {
		g.t.Fatal("no process took over")
	}
	_ = g.asks[who].cmd.Process.Kill()
	<-g.asks[who].ended
	delete(g.asks, who)
	return who
}

// randomAsks returns the indexes of up to n random open asks.
func (g *askGroup) randomAsks(n int) []int {
	var all []int
	for i := range g.asks {
		all = append(all, i)
	}
	g.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// answer answers ask i with its second option, as soon as its id is printed.
func (g *askGroup) answer(i int) {
	g.mu.Lock()
	p := g.asks[i]
	delete(g.asks, i)
	g.mu.Unlock()
	var id string
	if !eventually(func() bool { id = askID.FindString(p.err.String()); return id != "" }) {
		g.t.Errorf("ask %d printed no id: exit code %d\n%s", i, exitCode(p.result), p.err.String())
		return
	}
	by := launch(g.t, g.env, "answer", id, fmt.Sprintf("no %d", i))
	if !by.wait() || exitCode(by.result) != 0 {
		g.t.Errorf("answer ask %d: exit code %d\n%s", i, exitCode(by.result), by.err.String())
	}
}

// Only the owner has access to files of the state directory (T28).
func TestOnlyTheOwnerHasAccessToFiles(t *testing.T) {
	t.Parallel()
	env, database := sandbox(t)
	p := launch(t, env, "ask", "Which?", "a", "b")
	p.waitForStderr(t, "Type one")
	dir := filepath.Dir(database)
	want := map[string]os.FileMode{
		dir: os.ModeDir | 0o700, database: 0o600, database + ".lock": 0o600,
		filepath.Join(dir, "server.json"): 0o600, filepath.Join(dir, "agent.token"): 0o600,
		filepath.Join(dir, "user.token"): 0o600,
	}
	for path, mode := range want {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, mode)
		}
	}
	if _, err := io.WriteString(p.in, "a\n"); err != nil || !p.wait() {
		t.Fatal(err, p.err.String())
	}
}

// A server stops within seconds even if clients are connected. It exits with 0, removes
// server.json, releases the lock and leaves all data in one file. A waiting call gets the
// pending ask.
func TestServeStopsCleanly(t *testing.T) {
	t.Parallel()
	// A connection without a request would delay each attempt by five seconds. A busy machine delays only
	// some attempts.
	took := stopsCleanly(t)
	for tries := 1; took > 4*time.Second; tries++ {
		if tries == 5 {
			t.Fatalf("the server took %v to stop: it waited for a connection without a request", took)
		}
		took = stopsCleanly(t)
	}
}

// stopsCleanly stops a server, checks the files that it leaves, and returns the duration of the stop.
func stopsCleanly(t *testing.T) (took time.Duration) {
	t.Helper()
	env, database := sandbox(t)
	p := launch(t, env, "serve", "--listen", "127.0.0.1:0")
	p.waitForStderr(t, "msg=serving")
	place := instance.Place{Database: database}
	s, _ := place.Last()
	unused, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	secret := strings.TrimSpace(mustRun(t, env, "token", "add", "--kind", "agent", "--name", "robot"))
	post, _ := http.NewRequest("POST", s.URL+"/api/v1/asks?wait=60s", strings.NewReader(`{"question": "Which?"}`))
	post.Header.Set("Authorization", "Bearer "+secret)
	post.Header.Set("Content-Type", "application/json")
	polled := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(post)
		if err != nil {
			polled <- err.Error()
			return
		}
		defer res.Body.Close()
		raw, _ := io.ReadAll(res.Body)
		polled <- res.Status + string(raw)
	}()
	if !eventually(func() bool { return strings.Contains(mustRun(t, env, "list"), "robot: Which?") }) {
		t.Fatal("the ask is not listed")
	}
	begun := time.Now()
	_ = p.cmd.Process.Signal(os.Interrupt)
	if !p.wait() || exitCode(p.result) != 0 {
		t.Fatalf("exit code %d, want 0\n%s", exitCode(p.result), p.err.String())
	}
	took = time.Since(begun)
	if got := <-polled; !strings.HasPrefix(got, "201") || !strings.Contains(got, `"status":"pending"`) {
		t.Errorf("the waiting call got %s, want the pending ask", got)
	}
	if _, ok := place.Last(); ok {
		t.Error("server.json is still there")
	}
	lock, err := instance.Hold(database)
	if err != nil {
		t.Fatalf("the lock: %v", err)
	}
	defer lock.Release()
	if wal, err := os.Stat(database + "-wal"); err == nil && wal.Size() > 0 {
		t.Errorf("%d bytes are left in the write-ahead log", wal.Size())
	}
	if log := p.err.String(); !strings.Contains(log, "msg=stopping") || strings.Contains(log, "level=ERROR") {
		t.Errorf("got the log\n%s", log)
	}
	return took
}
