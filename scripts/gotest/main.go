// Gotest runs go test for the scripts and prints its progress. It prints each package when the tests of the
// package have ended, and the running packages after some time without output. It prints the output of a test
// only if the test failed. It appends the names of failed tests and the messages of tests that need a missing
// program to the file NOTES.
//
//	gotest [-lanes N] NOTES ARGUMENT… [',' ARGUMENT…] [';' ARGUMENT…] runs go test -json ARGUMENT…
//
// If there are several lists of arguments, gotest runs go test for each list. Lists that are separated by
// commas are a lane: gotest runs the lists of a lane one after the other. Lanes are separated by semicolons,
// and run at the same time. With -lanes, at most N lanes run at the same time. The other lanes start in order
// when a lane has ended.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// quiet is the time without output after which the running packages are printed.
const quiet = 20 * time.Second

func main() {
	lanes := flag.Int("lanes", math.MaxInt, "how many lists run at the same time")
	flag.Parse()
	if flag.NArg() < 2 || *lanes < 1 {
		fmt.Fprintln(os.Stderr, "usage: gotest [-lanes N] NOTES ARGUMENT… [',' ARGUMENT…] [';' ARGUMENT…]")
		os.Exit(2)
	}
	r := newReport(os.Stdout)
	err := run(r, *lanes, flag.Args()[1:])
	if noteErr := appendTo(flag.Arg(0), r.notes()); noteErr != nil {
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

// A line is a line of the output of go test for a list of arguments.
type line struct {
	list int
	text []byte
}

// run runs go test for the lists of arguments and prints the progress. lanes is the maximum number of lanes
// that run at the same time. If a test fails, the error is an [exec.ExitError].
func run(r *report, lanes int, args []string) error {
	lines := make(chan line)
	var failed error
	go func() {
		defer close(lines)
		failed = testAll(lanes, args, lines)
	}()
	follow(r, lines)
	return failed
}

// testAll runs go test for the lists of arguments, and returns the last error.
func testAll(lanes int, args []string, lines chan<- line) error {
	all := split(args, ";")
	free := make(chan struct{}, min(lanes, len(all)))
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed error
	lists := 0
	for _, lane := range all {
		parts := split(lane, ",")
		first := lists
		lists += len(parts)
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			for i, list := range parts {
				if err := test(list, first+i, lines); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
}

// split returns the parts of args between the separators, except for empty parts.
func split(args []string, separator string) (parts [][]string) {
	for len(args) > 0 {
		n := slices.Index(args, separator)
		if n < 0 {
			return append(parts, args)
		}
		if n > 0 {
			parts = append(parts, args[:n])
		}
		args = args[n+1:]
	}
	return parts
}

// test runs go test with the arguments of a list, and sends each line of its output to lines.
func test(args []string, list int, lines chan<- line) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), "ASKBACK_LEFT_OUT=reported")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(out)
	for {
		text, err := in.ReadBytes('\n')
		if len(text) > 0 {
			lines <- line{list, text}
		}
		if err != nil {
			return cmd.Wait()
		}
	}
}

// follow handles lines until the channel is closed. Whenever nothing was printed for the duration quiet, it
// prints the running packages.
func follow(r *report, lines <-chan line) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return
			}
			if r.line(l) {
				tick.Reset(quiet)
			}
		case <-tick.C:
			r.stillRunning()
		}
	}
}

// line handles a line of go test -json, and reports whether it printed anything. A line that
// is not an event is printed unchanged.
func (r *report) line(l line) (printed bool) {
	e := event{list: l.list}
	if err := json.Unmarshal(l.text, &e); err != nil {
		_, _ = r.out.Write(l.text)
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
