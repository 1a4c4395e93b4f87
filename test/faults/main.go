// Prove tries to break the two promises of Askback: that nothing it acknowledged
// is ever lost, and that nothing runs but what was approved.
//
// Approvals are attacked twice. An approved call is held against another in
// which one thing is different, millions of times; and everything that can
// happen to one approval and one grant happens at once, thousands of times.
//
// Then Askback is killed with kill -9, again and again, and everything it
// acknowledged must be there, exactly once. Four things are killed: an engine
// on SQLite under load, whose database grows from kill to kill; the real program
// while it asks and answers; the real server while agents wait for it over HTTP
// and people answer; and the real server while others follow what happens, who
// must be told all of it, once and in order.
//
//	go run ./test/faults [-n 1000] [-binary 300] [-server 1000] [-streams 250] [-pairs 10000000] [-races 10000] [-short] [-seed S] [-keep] [-plant FAULT]
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

// A proof tries one thing again and again.
type proof interface {
	// run tries so many times, or until something is wrong.
	run(ctx context.Context, times int) error
	found() part
}

// prove attacks approvals, then kills the engine, the program and the server.
func prove(ctx context.Context, o options, dir string) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	if err := r.add(ctx, newPairs(o.seed, o.plant), o.pairs); err != nil || len(r.bad) > 0 {
		return r, err
	}
	for _, where := range raceStores {
		if err := r.add(ctx, newRaces(dir, where, o.seed, o.plant), o.races); err != nil || len(r.bad) > 0 {
			return r, err
		}
	}
	if err := r.add(ctx, newCrash(dir, self, o.seed, o.plant), o.load); err != nil || len(r.bad) > 0 || o.binary+o.server+o.streams == 0 {
		return r, err
	}
	return r, r.killProgram(ctx, o, dir)
}

// killProgram builds the real program and kills it, then its server.
func (r *result) killProgram(ctx context.Context, o options, dir string) error {
	program, err := build(ctx, dir)
	if err != nil {
		return err
	}
	b, err := newBinary(dir, program, o.seed)
	if err != nil {
		return err
	}
	if err := r.add(ctx, b, o.binary); err != nil || len(r.bad) > 0 {
		return err
	}
	s, err := newOutage(dir, program, o.seed, o.plant)
	if err != nil {
		return err
	}
	if err := r.add(ctx, s, o.server); err != nil || len(r.bad) > 0 {
		return err
	}
	f, err := newStreams(dir, program, o.seed, o.plant)
	if err != nil {
		return err
	}
	return r.add(ctx, f, o.streams)
}
