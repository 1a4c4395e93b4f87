package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A part is what one proof tried, compared and found.
type part struct {
	noun   string // kills, pairs, races
	what   string // of what
	n      int
	detail string
	table  table
	bad    []violation
}

// A table is rows of cells; the first is the heads of the columns.
type table [][]string

// A result is that of all proofs.
type result struct {
	parts []part
	bad   []violation
	took  time.Duration
}

// add runs a proof and takes what it found.
func (r *result) add(ctx context.Context, p proof, times int) error {
	if times == 0 {
		return nil
	}
	err := p.run(ctx, times)
	found := p.found()
	r.parts, r.bad = append(r.parts, found), append(r.bad, found.bad...)
	return err
}

// verdict is the error of a result. With a planted fault it says whether that
// was found, and is an error either way: nothing was proved.
func (r result) verdict(plant string) error {
	switch found := r.count(lost)+r.count(doubled)+r.count(accepted) > 0; {
	case plant != "" && !found:
		return fmt.Errorf("%w: %s", errMissed, plant)
	case plant != "":
		return fmt.Errorf("%w: the planted fault, %s, was found after %s", errViolated, plant, r.parts[len(r.parts)-1].tried())
	case len(r.bad) > 0:
		return errViolated
	}
	return nil
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
		p.print(out)
	}
	var counts []string
	for _, f := range faults {
		counts = append(counts, fmt.Sprintf("%d %s", r.count(f), f))
	}
	fmt.Fprintf(out, "prove: %s; %s; %.0f s\n", r.tried(), strings.Join(counts, ", "), r.took.Seconds())
}

func (p part) print(out io.Writer) {
	fmt.Fprintf(out, "prove: %d %s %s: %s\n", p.n, p.noun, p.what, p.detail)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range p.table {
		fmt.Fprintf(w, "%s\t\n", strings.Join(row, "\t"))
	}
	w.Flush()
}

func (p part) tried() string { return fmt.Sprintf("%d %s", p.n, p.noun) }

// tried says how much was tried, of all parts that try the same.
func (r result) tried() string {
	var sums []part
	for _, p := range r.parts {
		i := slices.IndexFunc(sums, func(s part) bool { return s.noun == p.noun })
		if i < 0 {
			sums = append(sums, p)
			continue
		}
		sums[i].n += p.n
	}
	words := make([]string, len(sums))
	for i, s := range sums {
		words[i] = s.tried()
	}
	return strings.Join(words, ", ")
}

func (r result) count(f fault) (n int) {
	for _, v := range r.bad {
		if v.fault == f {
			n++
		}
	}
	return n
}
