package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
)

// options are the parsed command line.
type options struct {
	load, binary, server, streams int // kills
	pairs, races, channels        int
	reach, hosted, held           int // kills
	seed                          uint64
	keep                          bool
	mutant                        string
	program                       string // the program to kill; "" means that it is built
}

// The numbers of repetitions with -short, as in "make test".
const (
	shortLoad    = 100
	shortBinary  = 30
	shortServer  = 30
	shortStreams = 8
	shortPairs   = 100_000
	shortRaces   = 200
	shortChannel = 2
	shortReach   = 4
	shortHosted  = 12
	shortHeld    = 12
)

// The defaults of -pairs and -races, divided by -n.
const (
	pairsPerKill = 10_000
	racesPerKill = 10
)

func parse(args []string, out io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.load, "n", 1000, "`number` of kills of an engine under load")
	flags.IntVar(&o.binary, "binary", -1, "`number` of kills of the program (default: 30 % of -n)")
	flags.IntVar(&o.server, "server", -1, "`number` of kills of the server while agents wait (default: -n)")
	flags.IntVar(&o.streams, "streams", -1,
		"`number` of kills of the server while clients follow event streams (default: 25 % of -n)")
	flags.IntVar(&o.pairs, "pairs", -1,
		fmt.Sprintf("`number` of pairs of an approved and a changed call (default: %d times -n)", pairsPerKill))
	flags.IntVar(&o.races, "races", -1,
		fmt.Sprintf("`number` of races on each store (default: %d times -n)", racesPerKill))
	flags.IntVar(&o.channels, "channels", -1, "`number` of races for each pair of channels (default: -n)")
	flags.IntVar(&o.reach, "reach", -1,
		"`number` of kills of the server while it sends through all channels (default: 30 % of -n)")
	flags.IntVar(&o.hosted, "hosted", -1, "`number` of kills of the server while it runs agents (default: 50 % of -n)")
	flags.IntVar(&o.held, "held", -1,
		"`number` of kills of the server while people give answers and undo them (default: 30 % of -n)")
	short := flags.Bool("short", false, fmt.Sprintf("run %d kills of the engine, %d of the program, %d of the "+
		"server, %d with event streams, %d with channels, %d with hosted runs, %d with answers that can be undone, "+
		"%d pairs, %d races and %d for each pair of channels",
		shortLoad, shortBinary, shortServer, shortStreams, shortReach, shortHosted, shortHeld, shortPairs, shortRaces,
		shortChannel))
	flags.Uint64Var(&o.seed, "seed", rand.Uint64N(1_000_000), "`seed` of the random numbers")
	flags.BoolVar(&o.keep, "keep", false, "do not delete the databases")
	flags.StringVar(&o.mutant, "mutant", "", "`name` of a defect that the tests must detect: "+mutantNames())
	flags.StringVar(&o.program, "program", "", "`path` of the program to kill (default: it is built from this module)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *short {
		o.load, o.binary, o.server, o.streams, o.pairs, o.races = shortLoad, shortBinary, shortServer, shortStreams,
			shortPairs, shortRaces
		o.channels, o.reach, o.hosted, o.held = shortChannel, shortReach, shortHosted, shortHeld
	}
	setDefault(&o.binary, o.load*3/10)
	setDefault(&o.server, o.load)
	setDefault(&o.streams, o.load/4)
	setDefault(&o.pairs, o.load*pairsPerKill)
	setDefault(&o.races, o.load*racesPerKill)
	setDefault(&o.channels, o.load)
	setDefault(&o.reach, o.load*3/10)
	setDefault(&o.hosted, o.load/2)
	setDefault(&o.held, o.load*3/10)
	return o, o.selectMutantTest()
}

func setDefault(n *int, value int) {
	if *n < 0 {
		*n = value
	}
}

// selectMutantTest disables all tests except the test that must detect the mutant. Without a mutant, it does
// nothing. It returns an error if the mutant is unknown.
func (o *options) selectMutantTest() error {
	if o.mutant == "" {
		return nil
	}
	keep, ok := mutants[o.mutant]
	if !ok {
		return fmt.Errorf("unknown mutant %s: use one of %s", o.mutant, mutantNames())
	}
	for _, times := range []*int{
		&o.load, &o.binary, &o.server, &o.streams, &o.pairs, &o.races, &o.channels, &o.reach, &o.hosted, &o.held,
	} {
		if times != keep(o) {
			*times = 0
		}
	}
	return nil
}

// command returns the command line that repeats the run with the same seed and numbers.
func (o options) command() string {
	command := fmt.Sprintf("go run ./test/faults -n %d -binary %d -server %d -streams %d -pairs %d -races %d "+
		"-channels %d -reach %d -hosted %d -held %d -seed %d",
		o.load, o.binary, o.server, o.streams, o.pairs, o.races, o.channels, o.reach, o.hosted, o.held, o.seed)
	if o.mutant != "" {
		command += " -mutant " + o.mutant
	}
	if o.program != "" {
		command += " -program " + o.program
	}
	return command
}
