package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os/exec"
	"time"

	"github.com/askback/askback/test/kit/proctest"
)

// A child is a process that the tests start and kill.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // complete lines of stdout; closed when the process ends
	notes bytes.Buffer
}

// startChild starts a program with a pipe as its stdin. If env is nil, the child has the
// environment of this process. The child is killed when ctx is done.
func startChild(ctx context.Context, env []string, program string, args ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program, args...), lines: make(chan []byte, 64)}
	c.cmd.Env = env
	proctest.Bind(c.cmd)
	c.cmd.Stderr = &c.notes
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stdin = stdin
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.read(stdout)
	return c, nil
}

// read sends the complete lines of stdout to c.lines, and closes c.lines at the end. It drops a last line
// that a kill truncated.
func (c *child) read(stdout io.Reader) {
	defer close(c.lines)
	in := bufio.NewReader(stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		c.lines <- line
	}
}

// end kills the child if it still runs, calls take for the remaining lines, and waits for
// the child. It returns the exit code, or -1 if the child was killed.
func (c *child) end(take func([]byte)) (code int, err error) {
	err = proctest.Kill(c.cmd)
	return c.ended(take), err
}

// ended calls take for the remaining lines, waits for the child, and returns its exit
// code.
func (c *child) ended(take func([]byte)) int {
	for line := range c.lines {
		take(line)
	}
	_ = c.cmd.Wait() // the exit code is returned
	_ = c.stdin.Close()
	return c.cmd.ProcessState.ExitCode()
}

// until calls take for each line. It returns when d has passed, take returns true, the child ends or ctx is
// done.
func (c *child) until(ctx context.Context, d time.Duration, take func([]byte) (enough bool)) {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case line, ok := <-c.lines:
			if !ok || take(line) {
				return
			}
		case <-ctx.Done():
			return
		case <-t.C:
			return
		}
	}
}

// randomDuration returns a random duration of at most d.
func randomDuration(r *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(d) + 1))
}
