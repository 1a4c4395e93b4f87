// Faults tests the two guarantees of Askback: an acknowledged change is never lost, and only approved calls
// run.
//
// Two tests attack approvals. One compares approved calls with calls that differ in one detail. The other
// runs concurrent operations on one approval and one grant. Another test lets two people answer one ask in
// two channels at the same moment, for each pair of channels. Seven tests kill a process repeatedly and check
// that every acknowledged change is stored exactly once:
//
//   - an engine on SQLite under load, with a growing database
//   - the real program while it asks and answers
//   - the real server while agents wait over HTTP and people answer
//   - the real server while clients follow its event streams, which must receive every event once and in order
//   - the real server while it sends through all channels and people answer there
//   - the real server while it runs agents, each of whose calls must have its effect once
//   - the real server while people give answers that can be undone: an answer that was undone must not be sent
//
// Usage:
//
//	go run ./test/faults [-n 1000] [-binary 300] [-server 1000] [-streams 250] [-pairs 10000000] [-races 10000]
//	    [-channels 1000] [-reach 300] [-hosted 500] [-held 300] [-short] [-seed S] [-keep] [-mutant NAME]
//	    [-program PATH]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/askback/askback/test/kit/fakes"
	"github.com/askback/askback/test/program"
)

// childArg is the first argument of the child process, which runs the load.
const childArg = "child"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) > 1 && os.Args[1] == fakesArg {
		err = fakes.Run(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	} else if len(os.Args) == 3 && os.Args[1] == childArg {
		err = loadChild(ctx, os.Args[2], os.Stdin, os.Stdout)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "faults: %v\n", err)
		os.Exit(1)
	}
}

var (
	// errViolated is returned if the tests found violations, or detected a mutant.
	errViolated = errors.New("an acknowledged change was lost, or a call that was not approved was accepted")
	// errUndetected is returned if the tests did not detect a mutant.
	errUndetected = errors.New("the mutant was not detected")
)

// run runs the tests that the arguments select and prints the results. It deletes the
// databases, unless -keep is set, a test returned an error, or there are violations without
// a mutant.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "askback-faults-*")
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(out, "faults: %s\n", o.command())
	r, err := runTests(ctx, o, dir)
	r.took = time.Since(began)
	r.print(out)
	if failed := len(r.bad) > 0 && o.mutant == "" || err != nil && ctx.Err() == nil; o.keep || failed {
		fmt.Fprintf(out, "faults: the databases are in %s\nfaults: to repeat, except for timing: %s -keep\n", dir,
			o.command())
	} else {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return errors.Join(err, r.err(o.mutant))
}

// A faultTest is a test that is repeated many times.
type faultTest interface {
	// run runs the test the given number of times, or until there is a
	// violation.
	run(ctx context.Context, times int) error
	report() report
}

// runTests runs the tests of approvals and of simultaneous answers, and then the tests that kill the engine,
// the program and the server. It stops after a test with violations.
func runTests(ctx context.Context, o options, dir string) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	if err := r.add(ctx, newPairTest(o.seed, o.mutant), o.pairs); err != nil || len(r.bad) > 0 {
		return r, err
	}
	for _, where := range raceStores {
		if err := r.add(ctx, newRaceTest(dir, where, o.seed, o.mutant), o.races); err != nil || len(r.bad) > 0 {
			return r, err
		}
	}
	if err := r.add(ctx, newChannelRaceTest(o.seed, o.mutant), o.channels); err != nil || len(r.bad) > 0 {
		return r, err
	}
	if err := r.add(ctx, newEngineTest(dir, self, o.seed, o.mutant), o.load); err != nil || len(r.bad) > 0 ||
		o.binary+o.server+o.streams+o.reach+o.hosted+o.held == 0 {
		return r, err
	}
	return r, r.killProgram(ctx, o, dir)
}

// killProgram runs the tests that kill the program and the tests that kill its server. It builds the program
// unless the options have a path. It stops after a test with violations.
func (r *result) killProgram(ctx context.Context, o options, dir string) error {
	path := o.program
	if path == "" {
		var err error
		if path, err = program.Build(ctx, dir); err != nil {
			return err
		}
	}
	b, err := newProgramTest(dir, path, o.seed)
	if err != nil {
		return err
	}
	if err := r.add(ctx, b, o.binary); err != nil || len(r.bad) > 0 {
		return err
	}
	s, err := newServerTest(dir, path, o.seed, o.mutant)
	if err != nil {
		return err
	}
	if err := r.add(ctx, s, o.server); err != nil || len(r.bad) > 0 {
		return err
	}
	f, err := newStreamTest(dir, path, o.seed, o.mutant)
	if err != nil {
		return err
	}
	if err := r.add(ctx, f, o.streams); err != nil || len(r.bad) > 0 {
		return err
	}
	if err := r.add(ctx, newChannelKillTest(dir, path, o.seed, o.mutant), o.reach); err != nil || len(r.bad) > 0 {
		return err
	}
	h, err := newHostedTest(dir, path, o.seed)
	if err != nil {
		return err
	}
	if err := r.add(ctx, h, o.hosted); err != nil || len(r.bad) > 0 {
		return err
	}
	u, err := newHeldTest(dir, path, o.seed)
	if err != nil {
		return err
	}
	return r.add(ctx, u, o.held)
}
