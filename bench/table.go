package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

// quiet is how much of a processor others may use before the figures are called
// disturbed.
const quiet = 0.15

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printCycles prints what was measured, then how that stands to the goals.
func printCycles(w io.Writer, p plan, r report) error {
	fmt.Fprintf(w, "\nOne cycle: asked, waited for, answered, the run has it. Median of %d rounds of %s [min..max], %d asks pending, %d processors.\n",
		p.rounds, p.duration, p.pending, runtime.NumCPU())
	t := newTable(w)
	fmt.Fprintln(t, "runs\twhat\tplace\tcycles/s\tp50 ms\tp99 ms\tof bare\tof record\tothers' load")
	for _, k := range r.keys(p) {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", k.runs, k.contender, k.place,
			r.spread(k, perSecond), r.spread(k, p50), r.spread(k, p99),
			short(r.ratio(k, "bare", perSecond).Median), short(r.ratio(k, "record", perSecond).Median),
			r.spread(k, others).Median)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if load := r.disturbed(p); load > quiet {
		fmt.Fprintf(w, "Others used up to %.2f processors meanwhile: read the ratios, not the figures.\n", load)
	}
	return printGoals(w, r)
}

// disturbed returns the largest median load by others.
func (r report) disturbed(p plan) float64 {
	var most float64
	for _, k := range r.keys(p) {
		most = max(most, r.spread(k, others).Median)
	}
	return most
}

func printGoals(w io.Writer, r report) error {
	fmt.Fprintln(w, "\nAskback against its goals, by ratios within a round.")
	t := newTable(w)
	fmt.Fprintln(t, "runs\twhat\tof\tgot\tgate\tstretch\t")
	for _, v := range r.verdicts() {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s %g\t%s %g\t%s\n",
			v.runs, v.what, v.by, v.got, v.sign(), v.gate, v.sign(), v.stretch, v.word())
	}
	return t.Flush()
}

// A line is one case as JSON.
type line struct {
	What    string  `json:"what"`
	Place   string  `json:"place"`
	Runs    int     `json:"runs"`
	Pending int     `json:"pending"`
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`

	PerSecond spread `json:"per_s"`
	P50       spread `json:"p50_ms"`
	P99       spread `json:"p99_ms"`
	OfBare    spread `json:"of_bare"`
	OfRecord  spread `json:"of_record"`
	Others    spread `json:"others"`
}

// writeCycles writes one JSON line per case.
func writeCycles(w io.Writer, p plan, r report) error {
	out := json.NewEncoder(w)
	for _, k := range r.keys(p) {
		err := out.Encode(line{
			What: k.contender, Place: k.place, Runs: k.runs, Pending: p.pending, Rounds: p.rounds, Seconds: p.duration.Seconds(),
			PerSecond: r.spread(k, perSecond), P50: r.spread(k, p50), P99: r.spread(k, p99),
			OfBare: r.ratio(k, "bare", perSecond), OfRecord: r.ratio(k, "record", perSecond), Others: r.spread(k, others),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
