// Bench measures the cost of a question and its answer. The cost is compared with the cost of a minimal
// durable question on the same disk, and of the plain SQL statements of Askback. README.md explains the
// figures.
//
//	go run ./test/bench [-dur 2s] [-rounds 5] [-c 1,16,64] [-what record,askback] [-pre N] [-dir FOLDER] [-wait 5m]
//	    [-only cycle,memory,streams,recovery,growth,hosted,scale] [-pending N] [-settled N] [-data FILE] [-peers]
//	    [-docs FOLDER] [-quick] [-json]
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/askback/askback/internal/server/gctune"
)

func main() {
	defer gctune.Start()() // as the server does
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// run runs the program with its arguments. It prints tables to out. With -json, it prints lines of JSON to
// out and the tables to notes.
func run(ctx context.Context, args []string, out, notes io.Writer) error {
	if len(args) > 0 && args[0] == childArg {
		return child(ctx, args[1:])
	}
	o, err := parse(args, notes)
	if err != nil {
		return err
	}
	tables := out
	if o.json {
		tables = notes
	}
	for _, part := range o.parts {
		if err := parts[part](ctx, o.plan, o.results.tee(tables), o.lines(out), notes); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return o.results.write(o.docs, time.Now())
}

// options are the parsed command line.
type options struct {
	plan
	parts []string
	json  bool
	docs  string // the folder for -docs
}

func (o options) lines(out io.Writer) io.Writer {
	if o.json {
		return out
	}
	return io.Discard
}

// partNames lists the parts in their default order. The option -only can name them in another order.
var partNames = []string{"cycle", "memory", "streams", "recovery", "growth", "hosted", "scale"}

// A part of the benchmark measures, and prints the results as tables and as
// lines of JSON.
type part func(ctx context.Context, p plan, tables, lines, notes io.Writer) error

var parts = map[string]part{
	"cycle": cyclePart, "memory": memoryPart, "streams": streamsPart, "recovery": recoveryPart, "growth": growthPart,
	"hosted": hostedPart, "scale": scalePart,
}

func parse(args []string, notes io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.DurationVar(&o.duration, "dur", 2*time.Second,
		"`duration` of one case in one round, in slices of about 250ms")
	flags.IntVar(&o.rounds, "rounds", 5, "`number` of rounds; each runs all cases")
	runs := flags.String("c", "1,16,64", "`numbers` of concurrent runs")
	flags.IntVar(&o.pending, "pre", 0, "`number` of asks that are pending before")
	flags.StringVar(&o.dir, "dir", ".",
		"`folder` for the databases, on the disk to measure; they are deleted afterwards")
	flags.DurationVar(&o.patience, "wait", 0, "maximum `duration` to wait, in total, for an idle machine")
	flags.IntVar(&o.large.pending, "pending", 0,
		"`number` of pending asks in the large database of scale; 1000000 by default, or 20000 with -quick")
	flags.IntVar(&o.large.settled, "settled", 0,
		"`number` of settled asks in it; 5000000 by default, or 100000 with -quick")
	flags.StringVar(&o.data, "data", "",
		"`file` with the large database of scale, kept afterwards; it is made if it does not exist")
	only := flags.String("only", strings.Join(partNames[:6], ","),
		"`parts` to measure; scale must be named, because it needs 10 GB")
	names := flags.String("what", "", "`cases` of cycle to measure, such as record,askback; all by default")
	quick := flags.Bool("quick", false, "run for half a minute; the results are not representative")
	flags.BoolFunc("peers", "measure other products too; -peers=NAME,NAME selects them", func(list string) (err error) {
		o.others, err = parsePeers(list)
		return err
	})
	flags.StringVar(&o.docs, "docs", "", "write the results to bench.md and pictures in this `folder`")
	flags.BoolVar(&o.json, "json", false, "print one line of JSON per case on stdout, and the tables on stderr")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.setSizes(*quick)
	if flags.NArg() > 0 || o.duration <= 0 || o.rounds < 1 || o.pending < 0 ||
		o.large.pending < 0 || o.large.settled < 0 {
		return o, errors.New("invalid options: see go run ./test/bench -help")
	}
	if o.runs, err = parseNumbers(*runs); err != nil {
		return o, fmt.Errorf("-c: %w", err)
	}
	if o.cases, err = parseCases(*names); err != nil {
		return o, fmt.Errorf("-what: %w", err)
	}
	o.parts = strings.Split(*only, ",")
	if o.docs != "" {
		if !slices.Contains(o.parts, "cycle") {
			return o, errors.New("-docs: the results need the part cycle")
		}
		o.results = &document{}
	}
	for _, name := range o.parts {
		if !slices.Contains(partNames, name) {
			return o, fmt.Errorf("-only: unknown part %q; use %s", name, strings.Join(partNames, ", "))
		}
	}
	return o, nil
}

// setSizes sets the sizes of all measurements. It keeps the sizes of the large database that flags have set.
func (o *options) setSizes(quick bool) {
	o.memory, o.waiters, o.connected, o.recovery = []int{10_000, 100_000, 200_000}, 10_000, 10_000, []int{1000, 100_000}
	o.followers, o.settled, o.hosted = 1000, 5000, 10_000
	large := dataset{1_000_000, 5_000_000}
	if quick {
		large = dataset{20_000, 100_000}
		o.duration, o.rounds = 300*time.Millisecond, 3
		o.memory, o.waiters, o.connected, o.recovery = []int{1000, 5000}, 1000, 1000, []int{100, 5000}
		o.followers, o.settled, o.hosted = 100, 1000, 1000
	}
	o.large = dataset{cmp.Or(o.large.pending, large.pending), cmp.Or(o.large.settled, large.settled)}
}

// parseNumbers parses a comma-separated list of positive numbers, which may be
// empty.
func parseNumbers(text string) (numbers []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a positive number", field)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// parseCases parses a comma-separated list of names of contenders, which may be empty.
func parseCases(text string) (names []string, err error) {
	if text == "" {
		return nil, nil
	}
	names = strings.Split(text, ",")
	for _, name := range names {
		if !slices.ContainsFunc(contenders, func(c contender) bool { return c.name == name }) {
			return nil, fmt.Errorf("unknown case %q; use bare, record, askback or mcp", name)
		}
	}
	return names, nil
}

func joinNumbers(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

func cyclePart(ctx context.Context, p plan, tables, lines, notes io.Writer) error {
	peers, err := startPeers(ctx, p.others, p.dir, notes)
	defer peers.stop(notes)
	if err != nil {
		return err
	}
	p.peers = peers
	r, err := measureCycles(ctx, p, notes)
	if err != nil {
		return err
	}
	p.results.add(p, r)
	return errors.Join(writeCycles(lines, p, r), printCycles(tables, p, r), writePeers(lines, p, r),
		printPeers(tables, p, r))
}

func memoryPart(ctx context.Context, p plan, tables, lines, _ io.Writer) error {
	all, err := measureMemory(ctx, p)
	if err != nil {
		return err
	}
	if err := errors.Join(writeLines(lines, all), printMemory(tables, all)); err != nil {
		return err
	}
	if all, err = measureConnections(ctx, p, longPoll); err != nil {
		return fmt.Errorf("connections: %w", err)
	}
	return errors.Join(writeLines(lines, all), printConnections(tables, all))
}

func streamsPart(ctx context.Context, p plan, tables, lines, notes io.Writer) error {
	all, err := measureConnections(ctx, p, oneStream)
	if err != nil {
		return err
	}
	if err := errors.Join(writeLines(lines, all), printStreams(tables, all)); err != nil {
		return err
	}
	results, err := measureFanOut(ctx, p, notes)
	if err != nil {
		return fmt.Errorf("fan-out: %w", err)
	}
	return errors.Join(writeLines(lines, results), printFanOut(tables, p, results))
}

func recoveryPart(ctx context.Context, p plan, tables, lines, _ io.Writer) error {
	var all []recovery
	for _, n := range p.recovery {
		r, err := measureRecovery(ctx, p, n)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	return errors.Join(writeLines(lines, all), printRecovery(tables, all))
}

func scalePart(ctx context.Context, p plan, tables, lines, notes io.Writer) error {
	s, err := measureScale(ctx, p, notes)
	if err != nil {
		return err
	}
	return errors.Join(writeLines(lines, s.lines()), s.print(tables))
}

func writeLines[T any](w io.Writer, all []T) error {
	out := json.NewEncoder(w)
	for _, v := range all {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
