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

// childWord as the first argument makes this program a child of itself: memory
// is only told apart in a process of its own, and only a process can be killed.
const childWord = "child"

// A childCommand does something in a process of its own and says so in lines
// of JSON. It ends when it is done or its input ends.
type childCommand func(ctx context.Context, out *json.Encoder, path string, numbers []int) error

// child runs one of the commands: child NAME FILE NUMBERS.
func child(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("child: not meant to be started by hand")
	}
	numbers, err := parseNumbers(args[2])
	if err != nil {
		return err
	}
	do, ok := map[string]childCommand{
		"memory": memoryChild, "serve": serveChild, "load": loadChild, "resume": resumeChild,
	}[args[0]]
	if !ok {
		return fmt.Errorf("child: no command %s", args[0])
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // the parent holds the other end: when it is gone, so are we
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	return do(ctx, json.NewEncoder(os.Stdout), args[1], numbers)
}

// A process is a child that was started.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *json.Decoder
}

// start runs a command on a database in a process of its own.
func start(ctx context.Context, name, path string, numbers ...int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childWord, name, path, joinNumbers(numbers))
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

// read takes the next line of the child.
func (p *process) read(into any) error {
	if err := p.lines.Decode(into); err != nil {
		return fmt.Errorf("a child said nothing: %w", err)
	}
	return nil
}

// kill ends the child as kill -9 does, and waits until it is gone.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed, and says so
	return errors.Join(err, ignoreClosed(p.stdin.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
