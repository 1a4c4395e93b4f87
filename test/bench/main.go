// Bench measures what a question and its answer cost: Askback beside the least
// that a durable question can cost on the same disk, and beside the very
// statements Askback writes. README.md says how to read the figures.
//
//	go run ./test/bench [-dur 2s] [-rounds 5] [-c 1,16,64] [-pre N] [-only cycle,memory,streams,recovery] [-quick] [-json]
package main

import (
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

	"github.com/askback/askback/internal/gctune"
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

// run is the whole program, without its process. Tables go to out, or with
// -json lines of JSON to out and tables to notes.
func run(ctx context.Context, args []string, out, notes io.Writer) error {
	if len(args) > 0 && args[0] == childWord {
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
		if err := parts[part](ctx, o.plan, tables, o.lines(out), notes); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// options are what the command line says.
type options struct {
	plan
	parts []string
	json  bool
}

func (o options) lines(out io.Writer) io.Writer {
	if o.json {
		return out
	}
	return io.Discard
}

// partNames in the order in which they are measured.
var partNames = []string{"cycle", "memory", "streams", "recovery"}

// A part measures one thing, prints it as a table and as lines of JSON.
type part func(ctx context.Context, p plan, tables, lines, notes io.Writer) error

var parts = map[string]part{"cycle": cyclePart, "memory": memoryPart, "streams": streamsPart, "recovery": recoveryPart}

func parse(args []string, notes io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.DurationVar(&o.duration, "dur", 2*time.Second, "how long one case runs in one round")
	flags.IntVar(&o.rounds, "rounds", 5, "how often every case runs, in turns with the others")
	runs := flags.String("c", "1,16,64", "how many runs ask at once")
	flags.IntVar(&o.pending, "pre", 0, "how many asks are pending already")
	flags.StringVar(&o.dir, "dir", ".", "a folder on the disk to measure; databases are made and removed there")
	flags.DurationVar(&o.patience, "wait", 0, "how long to wait, in all, for the rest of the machine to be quiet")
	only := flags.String("only", strings.Join(partNames, ","), "what to measure")
	quick := flags.Bool("quick", false, "a look in half a minute; not to be quoted")
	flags.BoolVar(&o.json, "json", false, "one line of JSON per case on stdout, tables on stderr")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.memory, o.waiters, o.connected, o.recovery = []int{10_000, 100_000, 200_000}, 10_000, 10_000, []int{1000, 100_000}
	o.followers = 1000
	if *quick {
		o.duration, o.rounds = 300*time.Millisecond, 3
		o.memory, o.waiters, o.connected, o.recovery = []int{1000, 5000}, 1000, 1000, []int{100, 5000}
		o.followers = 100
	}
	if flags.NArg() > 0 || o.duration <= 0 || o.rounds < 1 || o.pending < 0 {
		return o, errors.New("see go run ./test/bench -help")
	}
	if o.runs, err = parseNumbers(*runs); err != nil {
		return o, fmt.Errorf("-c: %w", err)
	}
	o.parts = strings.Split(*only, ",")
	for _, name := range o.parts {
		if !slices.Contains(partNames, name) {
			return o, fmt.Errorf("-only: nothing is called %q; there is %s", name, strings.Join(partNames, ", "))
		}
	}
	return o, nil
}

// parseNumbers reads positive numbers with commas between; "" is none.
func parseNumbers(text string) (numbers []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no positive number", field)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func joinNumbers(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

func cyclePart(ctx context.Context, p plan, tables, lines, notes io.Writer) error {
	r, err := measureCycles(ctx, p, notes)
	if err != nil {
		return err
	}
	return errors.Join(writeCycles(lines, p, r), printCycles(tables, p, r))
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
	told, err := measureFanOut(ctx, p, notes)
	if err != nil {
		return fmt.Errorf("fan-out: %w", err)
	}
	return errors.Join(writeLines(lines, told), printFanOut(tables, p, told))
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

func writeLines[T any](w io.Writer, all []T) error {
	out := json.NewEncoder(w)
	for _, v := range all {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
