package mcptools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// inherited lists the variables that every command gets. Other variables are not passed on: the environment
// of the server has secrets, such as the keys of models and the tokens of Askback.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// environment returns the environment of a command.
func environment(o Options) []string {
	env := []string{}
	for _, name := range slices.Concat(inherited, inheritedHere) {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		env = append(env, name+"="+o.Env[name]) // the last value counts
	}
	return env
}

// A process is the process of a command.
type process struct {
	server *Server
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	errs   *lines

	done chan struct{} // closed when the process has ended
	err  error         // the error of the process, set before done is closed
}

// start starts the command of s in its own group of processes. The lines that the command writes to standard
// error are logged.
func start(s *Server) (*process, error) {
	cmd := exec.Command(s.o.Command[0], s.o.Command[1:]...)
	cmd.Dir, cmd.Env = s.o.Dir, environment(s.o)
	errs := &lines{hide: s.hide, longest: s.longest(), write: func(text string) {
		s.log.Info("MCP server wrote to standard error", "text", text)
	}}
	cmd.Stderr = errs
	cmd.WaitDelay = time.Second // limits the wait for other processes that inherited standard error
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not cmd.StdoutPipe, because Wait would discard output that is not read yet.
	stdout, childStdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	cmd.Stdout = childStdout
	err = cmd.Start()
	_ = childStdout.Close() // the child has its own copy
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the command cannot be started: %w", err), stdin.Close(), stdout.Close())
	}
	p := &process{server: s, cmd: cmd, stdin: stdin, stdout: stdout, errs: errs, done: make(chan struct{})}
	s.log.Info("MCP server started", "pid", cmd.Process.Pid)
	go func() {
		p.err = cmd.Wait()
		kill(cmd) // also kills the processes that the command started, so that its output ends
		errs.flush()
		if p.err != nil {
			s.log.Warn("MCP server ended", "pid", cmd.Process.Pid, "error", p.err)
		} else {
			s.log.Info("MCP server ended", "pid", cmd.Process.Pid)
		}
		close(p.done)
	}()
	return p, nil
}

// outcome returns the reason why the process ended, with the last line that it wrote to standard error.
func (p *process) outcome() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	if last := p.errs.final(); last != "" {
		how += ": " + cut(last, 300)
	}
	return fmt.Errorf("the command ended: %s", how)
}

// stop ends the process as the specification of MCP describes. It closes the input, then sends a signal, then
// kills the process. It returns when the process has ended.
func (p *process) stop() {
	_ = p.stdin.Close()
	if !wait(p.done, p.server.o.Stop) {
		terminate(p.cmd)
		if !wait(p.done, p.server.o.Stop) {
			kill(p.cmd)
			<-p.done
		}
	}
	_ = p.stdout.Close()
}

// maxLine is the maximum length of a line in the log in bytes. Longer lines are split.
const maxLine = 2000

// lines is a writer that calls write with each line, in which secrets are hidden. It splits lines of more
// than maxLine bytes.
type lines struct {
	write   func(text string)
	hide    func(text string) string
	longest int // the length of the longest secret

	mu      sync.Mutex
	pending []byte
	last    string
}

// Write writes the complete lines. It hides secrets before it splits a line. It splits an incomplete line
// only if the line is long enough that no secret can begin in the first part and end in later input.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, p...)
	for hidden := false; ; {
		i := bytes.IndexByte(l.pending, '\n')
		switch {
		case i >= 0 && i <= maxLine:
			l.writeLine(l.pending[:i])
			l.pending = l.pending[i+1:]
		case i < 0 && len(l.pending) <= maxLine+l.longest:
			l.pending = bytes.Clone(l.pending)
			return len(p), nil
		case !hidden:
			l.pending = []byte(l.hide(string(l.pending)))
			hidden = true
		default:
			l.writePart()
		}
	}
}

// writePart writes the first part of a long line. It does not split a character.
func (l *lines) writePart() {
	n := maxLine
	for n > maxLine-utf8.UTFMax && !utf8.RuneStart(l.pending[n]) {
		n--
	}
	l.writeLine(l.pending[:n])
	l.pending = l.pending[n:]
}

func (l *lines) writeLine(b []byte) {
	if text := strings.TrimSpace(strings.ToValidUTF8(l.hide(string(b)), "�")); text != "" {
		l.last = text
		l.write(text)
	}
}

// final returns the last line that was written, or "".
func (l *lines) final() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// flush writes the rest of the input as a line, even without a line feed.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = []byte(l.hide(string(l.pending)))
	for len(l.pending) > maxLine {
		l.writePart()
	}
	l.writeLine(l.pending)
	l.pending = nil
}
