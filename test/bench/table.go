package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
)

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printCycles prints the measurements of the cycles, and then the verdicts.
func printCycles(w io.Writer, p plan, r report) error {
	fmt.Fprintf(w, "\nOne cycle: ask, wait, answer, receive. Median of %d rounds of %s [min..max], %d asks pending, "+
		"%d processors.\n"+
		"Ratios (of bare, of record) are the medians of the ratios of slices that were measured one after the other.\n",
		p.rounds, p.duration, p.pending, runtime.NumCPU())
	t := newTable(w)
	fmt.Fprintln(t, "runs\twhat\tplace\tcycles/s\tp50 ms\tp99 ms\tof bare\tof record\tCPU µs\tCPU of bare\tCPU of "+
		"record\tothers' load")
	for _, k := range r.keys(p) {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", k.runs, k.contender, k.place,
			r.spread(k, perSecond), r.spread(k, p50), r.spread(k, p99),
			short(r.ratio(k, "bare", perSecond).Median), short(r.ratio(k, "record", perSecond).Median),
			short(r.spread(k, cpu).Median), short(r.ratio(k, "bare", cpu).Median),
			short(r.ratio(k, "record", cpu).Median),
			r.spread(k, others).Median)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printGoals(w, r)
}

// goalsTitle begins the table of goals.
const goalsTitle = "Goals, as ratios of slices: the median [lowest..highest round]."

func printGoals(w io.Writer, r report) error {
	fmt.Fprintln(w, "\n"+goalsTitle)
	t := newTable(w)
	fmt.Fprintln(t, "runs\tplace\twhat\tof\tgot\tgate\tstretch\t")
	verdicts := r.verdicts()
	for _, v := range verdicts {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s %g\t%s %g\t%s\n",
			v.runs, v.place, v.what, v.by, v.got, v.sign(), v.gate, v.sign(), v.stretch, v.text())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !slices.ContainsFunc(verdicts, func(v verdict) bool { return v.others > maxOthers }) {
		return nil
	}
	_, err := fmt.Fprintf(w, "Disturbed: other processes used more than %g processors; measure again (-wait 5m "+
		"waits until the machine is idle).\n", maxOthers)
	return err
}

// A line is the JSON form of one case.
type line struct {
	What    string  `json:"what"`
	Place   string  `json:"place"`
	Runs    int     `json:"runs"`
	Pending int     `json:"pending"`
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`

	PerSecond   spread `json:"per_s"`
	P50         spread `json:"p50_ms"`
	P99         spread `json:"p99_ms"`
	OfBare      spread `json:"of_bare"`
	OfRecord    spread `json:"of_record"`
	CPU         spread `json:"cpu_us"`
	CPUOfBare   spread `json:"cpu_of_bare"`
	CPUOfRecord spread `json:"cpu_of_record"`
	Others      spread `json:"others"`
}

// writeCycles writes one JSON line per case.
func writeCycles(w io.Writer, p plan, r report) error {
	out := json.NewEncoder(w)
	for _, k := range r.keys(p) {
		err := out.Encode(line{
			What: k.contender, Place: k.place, Runs: k.runs, Pending: p.pending, Rounds: p.rounds,
			Seconds: p.duration.Seconds(), PerSecond: r.spread(k, perSecond), P50: r.spread(k, p50),
			P99: r.spread(k, p99), OfBare: r.ratio(k, "bare", perSecond), OfRecord: r.ratio(k, "record", perSecond),
			CPU: r.spread(k, cpu), CPUOfBare: r.ratio(k, "bare", cpu), CPUOfRecord: r.ratio(k, "record", cpu),
			Others: r.spread(k, others),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
