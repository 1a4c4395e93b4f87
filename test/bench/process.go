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
)

// childArg is the first argument of a child process. Child processes are used to measure memory, and recovery
// after a process was killed.
const childArg = "child"

// A childCommand runs in a child process and writes lines of JSON. It ends when its work is done or stdin is
// closed.
type childCommand func(ctx context.Context, out *json.Encoder, path string, numbers []int) error

// child runs the child command with the arguments NAME FILE NUMBERS.
func child(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("child: not meant to be started by hand")
	}
	numbers, err := parseNumbers(args[2])
	if err != nil {
		return err
	}
	do, ok := map[string]childCommand{
		"memory": memoryChild, "serve": serveChild, "load": loadChild, "resume": resumeChild, "reads": readsChild,
		"clean": cleanChild, "host": hostChild, "rehost": rehostChild,
	}[args[0]]
	if !ok {
		return fmt.Errorf("child: no command %s", args[0])
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // stop when the parent ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return do(ctx, json.NewEncoder(os.Stdout), args[1], numbers)
}

// A process is a running child.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *json.Decoder
}

// start starts a child command on the database at path.
func start(ctx context.Context, name, path string, numbers ...int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childArg, name, path, joinNumbers(numbers))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, stdin, json.NewDecoder(bufio.NewReader(stdout))}, cmd.Start()
}

// read decodes the next line of the child.
func (p *process) read(into any) error {
	if err := p.lines.Decode(into); err != nil {
		return fmt.Errorf("read from the child: %w", err)
	}
	return nil
}

// stop lets the child end by itself and waits for it.
func (p *process) stop() error {
	return errors.Join(ignoreClosed(p.stdin.Close()), p.cmd.Wait())
}

// kill sends SIGKILL to the child and waits for it.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // the error reports that it was killed
	return errors.Join(err, ignoreClosed(p.stdin.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
