package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
)

// options are what the command line says.
type options struct {
	load, binary, server, streams int // kills
	pairs, races                  int
	seed                          uint64
	keep                          bool
	plant                         string
}

// The short form, which is a part of make test.
const (
	shortLoad    = 100
	shortBinary  = 30
	shortServer  = 30
	shortStreams = 8
	shortPairs   = 100_000
	shortRaces   = 200
)

// What the long form does for each kill of the engine, where nothing is said.
const (
	pairsPerKill = 10_000
	racesPerKill = 10
)

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("prove", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.load, "n", 1000, "kills of an engine under load")
	flags.IntVar(&o.binary, "binary", -1, "kills of the real program (default three for ten of the others)")
	flags.IntVar(&o.server, "server", -1, "kills of the real server while agents wait (default as many as -n)")
	flags.IntVar(&o.streams, "streams", -1, "kills of the real server while event streams are followed (default one for four of the others)")
	flags.IntVar(&o.pairs, "pairs", -1, fmt.Sprintf("pairs of an approved call and one that is a little different (default %d times -n)", pairsPerKill))
	flags.IntVar(&o.races, "races", -1, fmt.Sprintf("races for an approval and a grant on each store (default %d times -n)", racesPerKill))
	short := flags.Bool("short", false, fmt.Sprintf("%d kills of the engine, %d of the program, %d of the server and %d beside streams, %d pairs and %d races",
		shortLoad, shortBinary, shortServer, shortStreams, shortPairs, shortRaces))
	flags.Uint64Var(&o.seed, "seed", rand.Uint64N(1_000_000), "what chance begins with")
	flags.BoolVar(&o.keep, "keep", false, "keep the databases")
	flags.StringVar(&o.plant, "plant", "", "a fault to plant, which must be found: "+plantNames())
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *short {
		o.load, o.binary, o.server, o.streams, o.pairs, o.races = shortLoad, shortBinary, shortServer, shortStreams, shortPairs, shortRaces
	}
	unsaid(&o.binary, o.load*3/10)
	unsaid(&o.server, o.load)
	unsaid(&o.streams, o.load/4)
	unsaid(&o.pairs, o.load*pairsPerKill)
	unsaid(&o.races, o.load*racesPerKill)
	return o, o.only()
}

func unsaid(n *int, value int) {
	if *n < 0 {
		*n = value
	}
}

// only leaves of the proofs the one that looks where a fault is planted.
func (o *options) only() error {
	if o.plant == "" {
		return nil
	}
	keep, ok := plants[o.plant]
	if !ok {
		return fmt.Errorf("-plant %s: there is only %s", o.plant, plantNames())
	}
	for _, times := range []*int{&o.load, &o.binary, &o.server, &o.streams, &o.pairs, &o.races} {
		if times != keep(o) {
			*times = 0
		}
	}
	return nil
}

// again is the command that does the same.
func (o options) again() string {
	command := fmt.Sprintf("go run ./test/faults -n %d -binary %d -server %d -streams %d -pairs %d -races %d -seed %d", o.load, o.binary, o.server, o.streams, o.pairs, o.races, o.seed)
	if o.plant != "" {
		command += " -plant " + o.plant
	}
	return command
}
