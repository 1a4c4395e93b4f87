package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/internal/instance"
	"github.com/rogpeppe/go-internal/testscript"
)

// atOnce is how many tests run at once, whatever the number of processors: what
// they do is mostly to wait for the programs they started.
const atOnce = 8

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"askback": main})
}

// The scripts are the manual of the command line: every row of wire.md §9 that
// exists, with what stands on standard output and how it exits.
//
// Beside testscript's own commands they know:
//
//	exits CODE COMMAND…     runs it to its end, which has this exit code
//	until PATTERN COMMAND…  runs it again and again until its output matches
//	pending VAR TEXT        waits for an ask with this text and keeps its id
//	serving VAR             waits for the local server and keeps its URL, and its
//	                        address as ADDRESS
//	token VAR KIND NAME     makes a token and keeps it
//	revoke NAME             revokes the newest token of this name
//	start NAME COMMAND…     runs it beside the script; its input stays open
//	feed NAME TEXT          writes a line to its input
//	eof NAME                ends its input
//	said NAME PATTERN       waits until its standard error matches
//	signal NAME SIGNAL      sends INT, TERM, KILL or HUP
//	exited NAME CODE        waits for its end; stdout and stderr look at it then
//	gets URL PATTERN        asks again and again until the reply matches
func TestScripts(t *testing.T) {
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(4 * patience), // for a script that hangs,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("ME", who.Username)
			s := &script{started: map[string]*program{}}
			e.Values[scriptKey{}] = s
			e.Defer(s.end)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until, "pending": pending, "serving": served, "token": token, "revoke": revoke,
			"start": start, "feed": feed, "eof": eof, "said": said, "signal": signalled, "exited": exited,
			"gets": gets,
		},
	})
}

// patience is how long a condition may take to hold. It is no measure of how
// fast anything is.
const patience = 2 * time.Minute

// eventually asks until it is so.
func eventually(is func() bool) bool {
	end := time.NewTimer(patience)
	defer end.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		if is() {
			return true
		}
		select {
		case <-end.C:
			return false
		case <-again.C:
		}
	}
}

type scriptKey struct{}

// script holds what a script started.
type script struct{ started map[string]*program }

func (s *script) end() {
	for _, p := range s.started {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (s *script) named(ts *testscript.TestScript, name string) *program {
	p := s.started[name]
	if p == nil {
		ts.Fatalf("nothing was started under the name %s", name)
	}
	return p
}

func startedBy(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

func need(ts *testscript.TestScript, neg bool, args []string, n int) {
	if neg || len(args) < n {
		ts.Fatalf("this command takes %d words or more, and no !", n)
	}
}

// exitCode is how a command ended; -1 is by a signal.
func exitCode(err error) int {
	var end *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &end):
		return end.ExitCode()
	}
	return -2
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	want := regexp.MustCompile("(?m)" + args[0])
	ok := eventually(func() bool {
		_ = ts.Exec(args[1], args[2:]...)
		return want.MatchString(ts.ReadFile("stdout"))
	})
	if !ok {
		ts.Fatalf("%v never printed %s", args[1:], args[0])
	}
}

func pending(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	id := regexp.MustCompile(`(?m)^(ask_\w{26}) .*` + regexp.QuoteMeta(args[1]))
	until(ts, false, []string{id.String()[len("(?m)"):], "askback", "list"})
	ts.Setenv(args[0], id.FindStringSubmatch(ts.ReadFile("stdout"))[1])
}

func served(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1)
	place := instance.Place{Database: filepath.Join(ts.Getenv("XDG_STATE_HOME"), "askback", "askback.db")}
	ok := eventually(func() bool {
		s, ok := place.Last()
		ok = ok && s.Proves(context.Background()) == nil
		ts.Setenv(args[0], s.URL)
		ts.Setenv("ADDRESS", strings.TrimPrefix(s.URL, "http://"))
		return ok
	})
	if !ok {
		ts.Fatalf("nobody serves %s", place.Database)
	}
}

func token(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3)
	ts.Check(ts.Exec("askback", "token", "create", "--kind", args[1], "--name", args[2]))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func revoke(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1)
	ts.Check(ts.Exec("askback", "token", "list"))
	ids := regexp.MustCompile(`(?m)^(tok_\w+)  \w+ +`+regexp.QuoteMeta(args[0])+" ").FindAllStringSubmatch(ts.ReadFile("stdout"), -1)
	if len(ids) == 0 {
		ts.Fatalf("no token of %s", args[0])
	}
	ts.Check(ts.Exec("askback", "token", "revoke", ids[len(ids)-1][1]))
}

func start(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	p := &program{env: environment(ts), dir: ts.Getenv("WORK")}
	if err := p.start(args[1], args[2:]...); err != nil {
		ts.Fatalf("%v", err)
	}
	startedBy(ts).started[args[0]] = p
}

// environment is what a script has set.
func environment(ts *testscript.TestScript) []string {
	var all []string
	for _, name := range []string{
		"PATH", "HOME", "XDG_STATE_HOME", "ASKBACK_URL", "ASKBACK_TOKEN", "ASKBACK_DB", "ASKBACK_CONFIG", "TMPDIR", "GOCOVERDIR",
	} {
		if value := ts.Getenv(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

func feed(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	_, err := io.WriteString(startedBy(ts).named(ts, args[0]).in, args[1]+"\n")
	ts.Check(err)
}

func eof(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1)
	ts.Check(startedBy(ts).named(ts, args[0]).in.Close())
}

func said(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	p := startedBy(ts).named(ts, args[0])
	want := regexp.MustCompile("(?m)" + args[1])
	if !eventually(func() bool { return want.MatchString(p.err.String()) }) {
		ts.Fatalf("%s never said %s\n%s", args[0], args[1], p.err.String())
	}
}

func signalled(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	by := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}[args[1]]
	ts.Check(startedBy(ts).named(ts, args[0]).cmd.Process.Signal(by))
}

func exited(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	p := startedBy(ts).named(ts, args[0])
	if !p.wait() {
		ts.Fatalf("%s does not end\n%s", args[0], p.err.String())
	}
	_, _ = io.WriteString(ts.Stdout(), p.out.String())
	_, _ = io.WriteString(ts.Stderr(), p.err.String())
	if got := strconv.Itoa(exitCode(p.result)); got != args[1] {
		ts.Fatalf("%s: exit code %s, want %s\n%s", args[0], got, args[1], p.err.String())
	}
}

func gets(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2)
	want := regexp.MustCompile(args[1])
	var last []byte
	ok := eventually(func() bool {
		res, err := http.Get(args[0])
		if err != nil {
			last = []byte(err.Error())
			return false
		}
		defer res.Body.Close()
		last, _ = io.ReadAll(res.Body)
		return want.Match(last)
	})
	if !ok {
		ts.Fatalf("%s never gave %s, but %s", args[0], args[1], last)
	}
}

// A program is an askback that runs beside the test. Its input stays open until
// it is closed.
type program struct {
	env    []string
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    output
	err    output
	ended  chan struct{}
	result error
}

func (p *program) start(name string, args ...string) error {
	p.cmd = exec.Command(name, args...)
	p.cmd.Env, p.cmd.Dir = p.env, p.dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		p.result = p.cmd.Wait()
	}()
	return nil
}

// launch starts an askback that a test ends, at the latest when it is over.
func launch(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := &program{env: env}
	if err := p.start("askback", args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// says waits until a program has said something on standard error.
func (p *program) says(t *testing.T, text string) {
	t.Helper()
	if !eventually(func() bool { return strings.Contains(p.err.String(), text) }) {
		t.Fatalf("it never said %q:\n%s", text, p.err.String())
	}
}

// hasEnded reports whether a program has ended.
func (p *program) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// wait waits for the end of a program.
func (p *program) wait() bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-p.ended:
		return true
	case <-late.C:
		return false
	}
}

// output can be looked at while it is written.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// sandbox is the environment of a state directory of its own.
func sandbox(t *testing.T, more ...string) (env []string, database string) {
	t.Helper()
	dir := t.TempDir()
	env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "ASKBACK_") || strings.HasPrefix(s, "XDG_")
	})
	return append(append(env, "XDG_STATE_HOME="+dir), more...), filepath.Join(dir, "askback", "askback.db")
}

// stateOf is XDG_STATE_HOME of a sandbox.
func stateOf(database string) string { return filepath.Dir(filepath.Dir(database)) }
