package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A document collects the results of a run for bench.md and its pictures. Without -docs it is nil: add and
// write then do nothing, and tee returns its argument.
type document struct {
	tables   bytes.Buffer // the tables that the run prints
	plan     plan
	verdicts []verdict
	peers    []peerResult
}

// The lines of bench.md between which the results are replaced.
const (
	resultsBegin = "<!-- results: written by make bench-docs -->\n"
	resultsEnd   = "<!-- end of results -->\n"
)

// tee returns a writer that writes to tables and keeps a copy in the document.
func (d *document) tee(tables io.Writer) io.Writer {
	if d == nil {
		return tables
	}
	return io.MultiWriter(tables, &d.tables)
}

// add adds the results of the cycles.
func (d *document) add(p plan, r report) {
	if d != nil {
		d.plan, d.verdicts, d.peers = p, r.verdicts(), r.peerResults(p)
	}
}

// write replaces the results in bench.md in folder, and writes the pictures to the folder bench below folder.
// It returns an error if bench.md does not have the lines resultsBegin and resultsEnd.
func (d *document) write(folder string, now time.Time) error {
	if d == nil {
		return nil
	}
	name := filepath.Join(folder, "bench.md")
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(old), resultsBegin)
	_, after, ends := strings.Cut(rest, resultsEnd)
	if !begins || !ends {
		return fmt.Errorf("%s does not contain the lines %q and %q", name, resultsBegin, resultsEnd)
	}
	pictures := filepath.Join(folder, "bench")
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		return err
	}
	for _, c := range d.charts() {
		err = errors.Join(err, os.WriteFile(filepath.Join(pictures, c.file), c.svg(), 0o644))
	}
	return errors.Join(err, os.WriteFile(name, []byte(before+resultsBegin+d.markdown(now)+resultsEnd+after), 0o644))
}

// A picture is a chart in a file.
type picture struct {
	file string
	chart
}

// The names of the pictures.
const (
	peersPicture   = "peers.svg"
	speedPicture   = "speed.svg"
	latencyPicture = "latency.svg"
)

const rangeLegend = "Line in a bar: lowest and highest round. Solid mark: gate. Dashed mark: stretch."

// charts returns the pictures that have bars.
func (d *document) charts() []picture {
	all := []picture{
		{peersPicture, chart{
			title: fmt.Sprintf("Askback compared with other products at %d runs", gateRuns),
			about: "Cycles per second of Askback divided by cycles per second of the product in the same round; " +
				"more than 1: Askback is faster.",
			groups: d.peerBars(), legend: "Line in a bar: lowest and highest round. Solid mark: gate.",
		}},
		{speedPicture, chart{
			title: "Speed of Askback as a share of its references",
			about: "Cycles per second divided by cycles per second of record (the same rows) or bare (the " +
				"minimum); more is better.",
			groups: d.goalBars(false), legend: rangeLegend,
		}},
		{latencyPicture, chart{
			title:  "Times of Askback as a multiple of its references",
			about:  "Time from the answer to the run that has it, and of MCP compared with HTTP; less is better.",
			groups: d.goalBars(true), legend: rangeLegend,
		}},
	}
	return slices.DeleteFunc(all, func(p picture) bool { return len(p.groups) == 0 })
}

// peerBars returns a group for each place of Askback, with the peers that were measured at
// gateRuns runs.
func (d *document) peerBars() []barGroup {
	over, inside := barGroup{heading: "Askback with agent and person over HTTP"}, barGroup{
		heading: "Askback with the agent in the process, answers over HTTP",
	}
	for _, r := range d.peers {
		if r.runs == gateRuns {
			over.bars = append(over.bars,
				bar{label: r.title, value: r.remote, gate: r.gate, note: strings.TrimSpace(r.bound() + " " + r.text())})
			inside.bars = append(inside.bars, bar{label: r.title, value: r.byPost})
		}
	}
	return slices.DeleteFunc([]barGroup{over, inside}, func(g barGroup) bool { return len(g.bars) == 0 })
}

// goalBars returns a group for each quantity, reference and place of the measured goals. If atMost is set, it
// uses the goals with upper bounds, otherwise the goals with lower bounds.
func (d *document) goalBars(atMost bool) []barGroup {
	var groups []barGroup
	for _, v := range d.verdicts {
		if v.atMost != atMost {
			continue
		}
		heading := fmt.Sprintf("%s compared with %s, %s", v.what, v.by, v.place)
		i := slices.IndexFunc(groups, func(g barGroup) bool { return g.heading == heading })
		if i < 0 {
			i, groups = len(groups), append(groups, barGroup{heading: heading})
		}
		groups[i].bars = append(groups[i].bars,
			bar{label: runsText(v.runs), value: v.got, gate: v.gate, stretch: v.stretch, note: v.text()})
	}
	return groups
}

func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d concurrent runs", n)
}

// representative is the minimum duration of a case. The document marks the results of shorter cases.
const representative = time.Second

// markdown returns the results as the text between the marks.
func (d *document) markdown(now time.Time) string {
	var out strings.Builder
	p := d.plan
	fmt.Fprintf(&out, "\nMeasured on %s: %d rounds, %s for each case, %d processors (%s/%s), %s.\n",
		now.UTC().Format(time.DateOnly), p.rounds, p.duration, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version())
	if p.duration < representative {
		fmt.Fprint(&out, "This was a quick run, which is not representative.\n")
	}
	d.writePeers(&out)
	d.writeGoals(&out)
	fmt.Fprint(&out, "\n### Absolute figures\n\n",
		"These figures are of this one run on this one machine, where clients, servers and databases share the "+
			"processors.\n",
		"They differ on any other machine. Do not quote them; quote the ratios.\n\n```text\n", d.absolute(), "```\n\n")
	return out.String()
}

// absolute returns the printed tables, without the tables that the page has in Markdown.
func (d *document) absolute() string {
	var kept []string
	for table := range strings.SplitSeq(trimLines(d.tables.String()), "\n\n") {
		if title, _, _ := strings.Cut(table,
			"\n"); !slices.Contains([]string{goalsTitle, peersTitle, lacksTitle}, title) {
			kept = append(kept, strings.TrimRight(table, "\n"))
		}
	}
	return strings.Join(kept, "\n\n") + "\n"
}

func (d *document) writePeers(out *strings.Builder) {
	set := d.plan.peers
	if set == nil || len(set.version)+len(set.leftOut) == 0 {
		return
	}
	fmt.Fprint(out, "\n### Other products\n\nRatios of cycles per second, Askback divided by the product: median "+
		"[lowest..highest] of the rounds.\n")
	if len(d.peerBars()) > 0 {
		fmt.Fprintf(out, "\n![Bars: how many times faster Askback is than other products](bench/%s)\n", peersPicture)
	}
	fmt.Fprint(out, "\n| runs | product | place of its agent and person | Askback remote / product | goal | Askback "+
		"in process, answer by POST / product |\n|---|---|---|---|---|---|\n")
	results := slices.Clone(d.peers)
	slices.SortStableFunc(results, func(a, b peerResult) int { return cmp.Compare(a.runs, b.runs) })
	for _, r := range results {
		fmt.Fprintf(out, "| %d | %s (%s) | %s | %s | %s | %s |\n",
			r.runs, r.title, r.version, r.place, r.remote, strings.TrimSpace(r.bound()+" "+r.text()), r.byPost)
	}
	fmt.Fprint(out, "\n| product | what it does not keep, and Askback keeps for each question |\n|---|---|\n")
	for _, one := range knownPeers {
		if set.leftOut[one.name] != nil {
			fmt.Fprintf(out, "| %s | (left out: it did not start or failed) |\n", one.title)
		} else if _, ok := set.version[one.name]; ok {
			fmt.Fprintf(out, "| %s | %s |\n", one.title, one.lacks)
		}
	}
}

func (d *document) writeGoals(out *strings.Builder) {
	if len(d.verdicts) == 0 {
		return
	}
	fmt.Fprintf(out, "\n### Goals\n\n![Bars: cycles per second of Askback as a share of record and bare](bench/%s)\n"+
		"\n![Bars: times of Askback as a multiple of bare, and of MCP as a multiple of HTTP](bench/%s)\n",
		speedPicture, latencyPicture)
	fmt.Fprint(out, "\n| runs | place | what | of | ratio: median [lowest..highest] | gate | stretch | result |\n"+
		"|---|---|---|---|---|---|---|---|\n")
	for _, v := range d.verdicts {
		fmt.Fprintf(out, "| %d | %s | %s | %s | %s | %s %g | %s %g | %s |\n",
			v.runs, v.place, v.what, v.by, v.got, v.sign(), v.gate, v.sign(), v.stretch, v.text())
	}
}

// trimLines returns text without the spaces at the ends of lines, and without empty lines at the beginning.
func trimLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		out.WriteString(strings.TrimRight(line, " \t\n") + "\n")
	}
	return out.String()
}
