package main

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/test/kit/freeport"
	"github.com/askback/askback/test/kit/proctest"
	"github.com/rogpeppe/go-internal/testscript"
)

// parallelTests is the number of tests that run in parallel, whatever GOMAXPROCS is, because tests wait for
// the processes that they started.
const parallelTests = 8

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(parallelTests)); err != nil {
		panic(err)
	}
	testscript.Main(cleanedUp{m}, map[string]func(){"askback": main})
}

// cleanedUp runs the tests and then deletes the files that they have built.
type cleanedUp struct{ *testing.M }

// Run implements [testscript.TestingM].
func (c cleanedUp) Run() int {
	defer deleteFilesServer()
	return c.M.Run()
}

// TestScripts runs the scripts in testdata/script. They check the commands, flags,
// output and exit codes of docs/cli.md (E8).
//
// Besides the commands of testscript they may use these. Each wait ends with a
// failure after testTimeout.
//
//	exits CODE COMMAND…         run a command and require its exit code
//	start NAME COMMAND…         start a command in the background; its stdin stays open
//	writeline NAME TEXT         write a line to its stdin
//	closestdin NAME             close its stdin
//	signal NAME SIGNAL          send it INT, TERM, KILL or HUP
//	waitstderr NAME PATTERN     wait until its stderr matches
//	waitmatch VAR NAME PATTERN  wait until its stderr matches, and set VAR to the first group
//	waitexit NAME CODE          wait until it exits, require the exit code, and
//	                            let stdout and stderr check its output
//	waitoutput PATTERN COMMAND… run a command until its stdout matches
//	waitask VAR TEXT            wait for a pending ask with this text, and set VAR to its id
//	waitserver VAR              wait for the local server, set VAR to its URL and
//	                            ADDRESS to its host and port
//	waitget URL PATTERN         get a URL until the body matches
//	newtoken VAR KIND NAME      create a token and set VAR to it
//	revoketoken NAME            revoke the newest token with this name
func TestScripts(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(4 * testTimeout), // ends a script that hangs
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("ME", u.Username)
			e.Setenv("FREE_PORT", strconv.Itoa(freeport.Pick(t)))
			s := &scriptState{processes: map[string]*process{}}
			e.Values[scriptKey{}] = s
			e.Defer(s.kill)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "start": cmdStart, "writeline": cmdWriteLine, "closestdin": cmdCloseStdin,
			"signal": cmdSignal, "waitstderr": cmdWaitStderr, "waitexit": cmdWaitExit, "waitoutput": cmdWaitOutput,
			"waitask": cmdWaitAsk, "waitserver": cmdWaitServer, "waitget": cmdWaitGet, "waitmatch": cmdWaitMatch,
			"newtoken": cmdNewToken, "revoketoken": cmdRevokeToken,
		},
	})
}

type scriptKey struct{}

// scriptState holds the processes that a script started, by name.
type scriptState struct{ processes map[string]*process }

func (s *scriptState) kill() {
	for _, p := range s.processes {
		_ = proctest.Kill(p.cmd)
		<-p.ended
	}
}

func scriptStateOf(ts *testscript.TestScript) *scriptState {
	return ts.Value(scriptKey{}).(*scriptState)
}

// processNamed returns the process that a script started under a name.
func processNamed(ts *testscript.TestScript, name string) *process {
	p := scriptStateOf(ts).processes[name]
	if p == nil {
		ts.Fatalf("no process was started under the name %s", name)
	}
	return p
}

// requireArgs fails the script if a command is negated or has fewer than n arguments.
func requireArgs(ts *testscript.TestScript, neg bool, args []string, n int) {
	if neg || len(args) < n {
		ts.Fatalf("this command needs at least %d arguments and cannot be negated", n)
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdWaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	want := regexp.MustCompile("(?m)" + args[0])
	ok := eventually(func() bool {
		_ = ts.Exec(args[1], args[2:]...)
		return want.MatchString(ts.ReadFile("stdout"))
	})
	if !ok {
		ts.Fatalf("%v never printed %s", args[1:], args[0])
	}
}

func cmdWaitAsk(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	pattern := `^(ask_\w{26}) .*` + regexp.QuoteMeta(args[1])
	cmdWaitOutput(ts, false, []string{pattern, "askback", "list"})
	ts.Setenv(args[0], regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(ts.ReadFile("stdout"))[1])
}

func cmdWaitServer(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 1)
	place := instance.Place{Database: filepath.Join(ts.Getenv("XDG_STATE_HOME"), "askback", "askback.db")}
	ok := eventually(func() bool {
		s, ok := place.Last()
		ok = ok && s.Proves(context.Background()) == nil
		ts.Setenv(args[0], s.URL)
		ts.Setenv("ADDRESS", strings.TrimPrefix(s.URL, "http://"))
		return ok
	})
	if !ok {
		ts.Fatalf("no server for %s", place.Database)
	}
}

func cmdNewToken(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 3)
	ts.Check(ts.Exec("askback", "token", "add", "--kind", args[1], "--name", args[2]))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func cmdRevokeToken(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 1)
	ts.Check(ts.Exec("askback", "token", "list"))
	ids := regexp.MustCompile(`(?m)^(tok_\w+)  \w+ +`+regexp.QuoteMeta(args[0])+" ").FindAllStringSubmatch(
		ts.ReadFile("stdout"), -1,
	)
	if len(ids) == 0 {
		ts.Fatalf("no token with the name %s", args[0])
	}
	ts.Check(ts.Exec("askback", "token", "remove", ids[len(ids)-1][1]))
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	p := &process{env: scriptEnv(ts), dir: ts.Getenv("WORK")}
	if err := p.start(args[1], args[2:]...); err != nil {
		ts.Fatalf("%v", err)
	}
	scriptStateOf(ts).processes[args[0]] = p
}

// scriptEnv returns the variables of a script that askback reads.
func scriptEnv(ts *testscript.TestScript) []string {
	var all []string
	for _, name := range []string{
		"PATH", "HOME", "XDG_STATE_HOME", "ASKBACK_URL", "ASKBACK_TOKEN", "ASKBACK_DB", "ASKBACK_CONFIG", "TMPDIR",
		"GOCOVERDIR", "ME", "CLAUDE_CODE_ENTRYPOINT",
	} {
		if value := ts.Getenv(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

func cmdWriteLine(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	_, err := io.WriteString(processNamed(ts, args[0]).in, args[1]+"\n")
	ts.Check(err)
}

func cmdCloseStdin(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 1)
	ts.Check(processNamed(ts, args[0]).in.Close())
}

func cmdWaitStderr(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	p := processNamed(ts, args[0])
	want := regexp.MustCompile("(?m)" + args[1])
	if !eventually(func() bool { return want.MatchString(p.err.String()) }) {
		ts.Fatalf("stderr of %s never matched %s:\n%s", args[0], args[1], p.err.String())
	}
}

func cmdWaitMatch(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 3)
	cmdWaitStderr(ts, neg, args[1:])
	want := regexp.MustCompile("(?m)" + args[2])
	ts.Setenv(args[0], want.FindStringSubmatch(processNamed(ts, args[1]).err.String())[1])
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	s, ok := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP,
	}[args[1]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[1])
	}
	ts.Check(processNamed(ts, args[0]).cmd.Process.Signal(s))
}

func cmdWaitExit(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
	p := processNamed(ts, args[0])
	if !p.wait() {
		ts.Fatalf("%s has not exited:\n%s", args[0], p.err.String())
	}
	_, _ = io.WriteString(ts.Stdout(), p.out.String())
	_, _ = io.WriteString(ts.Stderr(), p.err.String())
	if got := strconv.Itoa(exitCode(p.result)); got != args[1] {
		ts.Fatalf("%s: exit code %s, want %s\n%s", args[0], got, args[1], p.err.String())
	}
}

func cmdWaitGet(ts *testscript.TestScript, neg bool, args []string) {
	requireArgs(ts, neg, args, 2)
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
		ts.Fatalf("the body of %s never matched %s, last: %s", args[0], args[1], last)
	}
}
