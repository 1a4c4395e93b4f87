// Prove kills Askback with kill -9, again and again, and looks whether
// everything it acknowledged is there, exactly once.
//
// Three things are killed: an engine on SQLite under load, whose database grows
// from kill to kill; the real program while it asks and answers; and the real
// server while agents wait for it over HTTP and people answer.
//
//	go run ./prove [-n 1000] [-binary 300] [-server 1000] [-short] [-seed S] [-keep] [-plant FAULT]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// childWord as the first argument makes this program the load that is killed.
const childWord = "child"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 3 && os.Args[1] == childWord {
		err = loadChild(ctx, os.Args[2], os.Stdin, os.Stdout)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "prove: %v\n", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	load, binary, server int // kills
	seed                 uint64
	keep                 bool
	plant                string
}

// The kills of the short form, which is a part of make test.
const (
	shortLoad   = 100
	shortBinary = 30
	shortServer = 30
)

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.load, "n", 1000, "kills of an engine under load")
	flags.IntVar(&o.binary, "binary", -1, "kills of the real program (default three for ten of the others)")
	flags.IntVar(&o.server, "server", -1, "kills of the real server while agents wait (default as many as -n)")
	short := flags.Bool("short", false, fmt.Sprintf("%d kills of the engine, %d of the program and %d of the server", shortLoad, shortBinary, shortServer))
	flags.Uint64Var(&o.seed, "seed", rand.Uint64N(1_000_000), "what chance begins with")
	flags.BoolVar(&o.keep, "keep", false, "keep the databases")
	flags.StringVar(&o.plant, "plant", "", "a fault to plant, which must be found: "+ackBeforeCommit+" or "+unforwarded)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *short {
		o.load, o.binary, o.server = shortLoad, shortBinary, shortServer
	}
	if o.binary < 0 {
		o.binary = o.load * 3 / 10
	}
	if o.server < 0 {
		o.server = o.load
	}
	switch o.plant { // it is planted in one place, and only that is looked at
	case "":
	case ackBeforeCommit:
		o.binary, o.server = 0, 0
	case unforwarded:
		o.load, o.binary = 0, 0
	default:
		return o, fmt.Errorf("-plant %s: there is only %s and %s", o.plant, ackBeforeCommit, unforwarded)
	}
	return o, nil
}

// again is the command that does the same.
func (o options) again() string {
	command := fmt.Sprintf("go run ./prove -n %d -binary %d -server %d -seed %d", o.load, o.binary, o.server, o.seed)
	if o.plant != "" {
		command += " -plant " + o.plant
	}
	return command
}

var (
	// errViolated says that something happened that must never happen.
	errViolated = errors.New("what was acknowledged is not so")
	// errMissed says that the prover is blind.
	errMissed = errors.New("a planted fault was not found")
)

// run is the whole program, without its process.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "askback-prove-*")
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(out, "prove: %s\n", o.again())
	r, err := prove(ctx, o, dir)
	r.took = time.Since(began)
	r.print(out)
	if wrong := len(r.bad) > 0 && o.plant == "" || err != nil && ctx.Err() == nil; o.keep || wrong {
		fmt.Fprintf(out, "prove: the databases are in %s\nprove: the same again, as far as chance allows: %s -keep\n", dir, o.again())
	} else {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return errors.Join(err, r.verdict(o.plant))
}

// verdict is the error of a result. With a planted fault it says whether that
// was found, and is an error either way: nothing was proved.
func (r result) verdict(plant string) error {
	switch found := r.count(lost)+r.count(doubled) > 0; {
	case plant != "" && !found:
		return fmt.Errorf("%w: %s", errMissed, plant)
	case plant != "":
		return fmt.Errorf("%w: the planted fault, %s, was found after %d kills", errViolated, plant, r.kills())
	case len(r.bad) > 0:
		return errViolated
	}
	return nil
}

// A proof kills one thing again and again, on one database.
type proof interface {
	// run kills so many times, or until something is wrong.
	run(ctx context.Context, kills int) error
	found() part
}

// A part is what one proof killed, compared and found.
type part struct {
	what   string
	kills  int
	acks   int
	lines  int64 // of history
	detail string
	bad    []violation
}

// A result is that of all proofs.
type result struct {
	parts []part
	bad   []violation
	took  time.Duration
}

// prove kills the engine, then the program, then the server.
func prove(ctx context.Context, o options, dir string) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	if err := r.add(ctx, newCrash(dir, self, o.seed, o.plant), o.load); err != nil || len(r.bad) > 0 || o.binary+o.server == 0 {
		return r, err
	}
	program, err := build(ctx, dir)
	if err != nil {
		return r, err
	}
	b, err := newBinary(dir, program, o.seed)
	if err != nil {
		return r, err
	}
	if err := r.add(ctx, b, o.binary); err != nil || len(r.bad) > 0 {
		return r, err
	}
	s, err := newOutage(dir, program, o.seed, o.plant)
	if err != nil {
		return r, err
	}
	return r, r.add(ctx, s, o.server)
}

// add runs a proof and takes what it found.
func (r *result) add(ctx context.Context, p proof, kills int) error {
	if kills == 0 {
		return nil
	}
	err := p.run(ctx, kills)
	found := p.found()
	r.parts, r.bad = append(r.parts, found), append(r.bad, found.bad...)
	return err
}

// shown is how many violations are printed; after the first, most follow from
// it.
const shown = 20

func (r result) print(out io.Writer) {
	for i, v := range r.bad {
		if i == shown {
			fmt.Fprintf(out, "prove: … and %d more\n", len(r.bad)-shown)
			break
		}
		fmt.Fprintf(out, "prove: %s\n", v)
	}
	for _, p := range r.parts {
		fmt.Fprintf(out, "prove: %d kills %s: %s%d acknowledgements and %d lines of history compared\n", p.kills, p.what, p.detail, p.acks, p.lines)
	}
	fmt.Fprintf(out, "prove: %d kills; %d lost, %d doubled, %d torn, %d failed; %.0f s\n",
		r.kills(), r.count(lost), r.count(doubled), r.count(torn), r.count(failed), r.took.Seconds())
}

func (r result) kills() (n int) {
	for _, p := range r.parts {
		n += p.kills
	}
	return n
}

func (r result) count(f fault) (n int) {
	for _, v := range r.bad {
		if v.fault == f {
			n++
		}
	}
	return n
}
