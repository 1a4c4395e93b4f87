package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/askback/askback/test/kit/proctest"
)

// testTimeout is how long a test waits for a condition. It is generous, so that a
// slow machine does not fail a test.
const testTimeout = 2 * time.Minute

// eventually polls until the condition is true, and reports whether it became true
// within testTimeout.
func eventually(condition func() bool) bool { return within(testTimeout, condition) }

// within waits until a condition is met. It reports whether the condition was met before the limit.
func within(limit time.Duration, condition func() bool) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if condition() {
			return true
		}
		select {
		case <-timeout.C:
			return false
		case <-tick.C:
		}
	}
}

// sandbox returns an environment with a new state directory and a terminal that shows no panels, and the path
// of the database in that directory. The environment has no GOGC, because with it a server would not tune its
// collector.
func sandbox(t *testing.T, extra ...string) (env []string, database string) {
	t.Helper()
	dir := t.TempDir()
	env = slices.DeleteFunc(os.Environ(), func(s string) bool {
		return strings.HasPrefix(s, "ASKBACK_") || strings.HasPrefix(s, "XDG_") || strings.HasPrefix(s, "GOGC=")
	})
	return append(append(env, "XDG_STATE_HOME="+dir, "TERM=dumb"),
		extra...), filepath.Join(dir, "askback", "askback.db")
}

// stateHome returns the XDG_STATE_HOME of the sandbox with this database.
func stateHome(database string) string { return filepath.Dir(filepath.Dir(database)) }

// mustRun runs askback, fails the test if it does not exit with 0, and returns its
// standard output.
func mustRun(t *testing.T, env []string, args ...string) string {
	t.Helper()
	return mustRunIn(t, "", env, args...)
}

// mustRunIn is like mustRun, but runs in a folder.
func mustRunIn(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("askback", args...)
	cmd.Env, cmd.Dir = env, dir
	var errs syncBuffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("askback %v: %v\n%s", args, err, errs.String())
	}
	return string(out)
}

var askID = regexp.MustCompile(`ask_\w{26}`)

// A process is a command in the background. Its stdin stays open until a test
// closes it.
type process struct {
	env    []string
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    syncBuffer
	err    syncBuffer
	ended  chan struct{}
	result error
}

func (p *process) start(name string, args ...string) error {
	p.cmd = exec.Command(name, args...)
	p.cmd.Env, p.cmd.Dir = p.env, p.dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	proctest.Bind(p.cmd)
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

// launch starts askback and kills it at the end of the test.
func launch(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return launchIn(t, "", env, args...)
}

// launchIn is like launch, but runs in a folder.
func launchIn(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	p := &process{env: env, dir: dir}
	if err := p.start("askback", args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = proctest.Kill(p.cmd)
		<-p.ended
	})
	return p
}

// waitForStderr waits until stderr contains text.
func (p *process) waitForStderr(t *testing.T, text string) {
	t.Helper()
	if !eventually(func() bool { return strings.Contains(p.err.String(), text) }) {
		t.Fatalf("stderr never contained %q:\n%s", text, p.err.String())
	}
}

// hasEnded reports whether the process has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// wait reports whether the process ended within testTimeout.
func (p *process) wait() bool {
	timeout := time.NewTimer(testTimeout)
	defer timeout.Stop()
	select {
	case <-p.ended:
		return true
	case <-timeout.C:
		return false
	}
}

// exitCode returns the exit code for the error of a command. It is -1 after a signal, and
// -2 if the command did not start.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -2
}

// syncBuffer is a bytes.Buffer for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *syncBuffer) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *syncBuffer) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
