// Gotest runs go test for the scripts and prints its progress. It prints each
// package when it is done, and the running packages after some time without
// output. It prints the output of a test only if it failed. It appends the names
// of failed tests and the messages of tests that need a missing program to the
// file NOTES.
//
//	gotest NOTES ARGUMENT… [';' ARGUMENT…] runs go test -json ARGUMENT…
//
// If there are several lists of arguments, it runs go test for each at the same time.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// quiet is the time without output after which the running packages are printed.
const quiet = 20 * time.Second

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: gotest NOTES ARGUMENT… [';' ARGUMENT…]")
		os.Exit(2)
	}
	r := newReport(os.Stdout)
	err := run(r, os.Args[2:])
	if noteErr := appendTo(os.Args[1], r.notes()); noteErr != nil {
		fmt.Fprintf(os.Stderr, "gotest: write the notes: %v\n", noteErr)
		os.Exit(2)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		os.Exit(1)
	default:
		fmt.Fprintf(os.Stderr, "gotest: %v\n", err)
		os.Exit(2)
	}
}

// run runs go test for each list of arguments and prints the progress. If a test fails, the
// error is an [exec.ExitError].
func run(r *report, args []string) error {
	lines := make(chan []byte)
	var group sync.WaitGroup
	var commands []*exec.Cmd
	for list := range lists(args) {
		cmd := exec.Command("go", append([]string{"test", "-json"}, list...)...)
		cmd.Env = append(os.Environ(), "ASKBACK_LEFT_OUT=reported")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		commands = append(commands, cmd)
		group.Go(func() { read(out, lines) })
	}
	go func() {
		group.Wait()
		close(lines)
	}()
	follow(r, lines)
	var failed error
	for _, cmd := range commands {
		if err := cmd.Wait(); err != nil {
			failed = err
		}
	}
	return failed
}

// lists returns the lists of arguments between arguments ";".
func lists(args []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(args) > 0 {
			n := slices.Index(args, ";")
			if n < 0 {
				yield(args)
				return
			}
			if n > 0 && !yield(args[:n]) {
				return
			}
			args = args[n+1:]
		}
	}
}

// read sends each line of from to lines.
func read(from io.Reader, lines chan<- []byte) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

// follow handles lines until the channel is closed. Whenever nothing was printed
// for the time quiet, it prints the running packages.
func follow(r *report, lines <-chan []byte) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return
			}
			if r.line(line) {
				tick.Reset(quiet)
			}
		case <-tick.C:
			r.stillRunning()
		}
	}
}

// line handles one line of go test -json, and reports whether it printed
// anything. A line that is not an event is printed unchanged.
func (r *report) line(line []byte) (printed bool) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		_, _ = r.out.Write(line)
		return true
	}
	return r.take(e)
}

func appendTo(path string, lines []string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(f, l); err != nil {
			_ = f.Close()
			return err
		}
	}
	return f.Close()
}
