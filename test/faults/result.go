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

// A report is the result of one test.
type report struct {
	noun   string // the repetitions: kills, pairs or races
	what   string // continues noun, such as "under load"
	n      int
	detail string
	table  table
	bad    []violation
}

// A table is a list of rows. The first row has the column heads.
type table [][]string

// A result collects the reports and violations of all fault tests of a run.
type result struct {
	reports []report
	bad     []violation
	took    time.Duration
}

// add runs a test and adds its report. It does nothing if times is 0.
func (r *result) add(ctx context.Context, p faultTest, times int) error {
	if times == 0 {
		return nil
	}
	err := p.run(ctx, times)
	report := p.report()
	r.reports, r.bad = append(r.reports, report), append(r.bad, report.bad...)
	return err
}

// err returns errViolated if there are violations. In a run with a mutant, it returns errUndetected unless a
// violation is lost, duplicated or accepted.
func (r result) err(mutant string) error {
	switch detected := r.count(lost)+r.count(duplicated)+r.count(accepted) > 0; {
	case mutant != "" && !detected:
		return fmt.Errorf("%w: %s", errUndetected, mutant)
	case mutant != "":
		return fmt.Errorf("%w: the mutant %s was detected after %s", errViolated, mutant,
			r.reports[len(r.reports)-1].summary())
	case len(r.bad) > 0:
		return errViolated
	}
	return nil
}

// maxPrinted is the maximum number of violations that are printed. Later violations are often consequences of
// the first violation.
const maxPrinted = 20

func (r result) print(out io.Writer) {
	for i, v := range r.bad {
		if i == maxPrinted {
			fmt.Fprintf(out, "faults: … and %d more\n", len(r.bad)-maxPrinted)
			break
		}
		fmt.Fprintf(out, "faults: %s\n", v)
	}
	for _, p := range r.reports {
		p.print(out)
	}
	var counts []string
	for _, f := range faults {
		counts = append(counts, fmt.Sprintf("%d %s", r.count(f), f))
	}
	fmt.Fprintf(out, "faults: %s; %s; %.0f s\n", r.summary(), strings.Join(counts, ", "), r.took.Seconds())
}

func (p report) print(out io.Writer) {
	fmt.Fprintf(out, "faults: %d %s %s: %s\n", p.n, p.noun, p.what, p.detail)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range p.table {
		fmt.Fprintf(w, "%s\t\n", strings.Join(row, "\t"))
	}
	w.Flush()
}

func (p report) summary() string { return fmt.Sprintf("%d %s", p.n, p.noun) }

// summary returns the number of repetitions, added up over tests of the same
// kind.
func (r result) summary() string {
	var sums []report
	for _, p := range r.reports {
		i := slices.IndexFunc(sums, func(s report) bool { return s.noun == p.noun })
		if i < 0 {
			sums = append(sums, p)
			continue
		}
		sums[i].n += p.n
	}
	texts := make([]string, len(sums))
	for i, s := range sums {
		texts[i] = s.summary()
	}
	return strings.Join(texts, ", ")
}

func (r result) count(f fault) (n int) {
	for _, v := range r.bad {
		if v.fault == f {
			n++
		}
	}
	return n
}
