package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os/exec"
	"time"
)

// A child is a process that is going to be killed.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // whole lines of its output; closed at the end
	notes bytes.Buffer
}

// startChild starts a program, with this environment if env is not nil. Its
// input stays open until it is killed.
func startChild(ctx context.Context, env []string, program string, args ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, program, args...), lines: make(chan []byte, 64)}
	c.cmd.Env = env
	bind(c.cmd)
	c.cmd.Cancel = func() error { return kill(c.cmd) }
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

// read passes whole lines on. A kill may cut the last one, which then says
// nothing.
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

// end kills the child unless it has ended, and waits until it is gone. It
// returns the exit code, or -1 of a child that was killed.
func (c *child) end(take func([]byte)) (code int, err error) {
	err = kill(c.cmd)
	return c.ended(take), err
}

// ended takes the lines that are left and waits until the child is gone.
func (c *child) ended(take func([]byte)) int {
	for line := range c.lines {
		take(line)
	}
	_ = c.cmd.Wait() // the exit code says it
	_ = c.stdin.Close()
	return c.cmd.ProcessState.ExitCode()
}

// until takes lines for a while. It returns early when take has had enough, the
// child has ended or ctx does.
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

// upTo is a while of at most d.
func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d) + 1)) }
