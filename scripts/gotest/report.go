package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An event is a line of the output of go test -json; see go doc test2json.
type event struct {
	list    int // the index of the list of arguments
	Time    time.Time
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// A report prints the progress and the results of go test.
type report struct {
	out      io.Writer
	packages map[packageKey]*packageRun
	failed   []string
	leftOut  map[string]bool
}

// A packageKey identifies a run of a package. Several lists can have the same package.
type packageKey struct {
	name string
	list int
}

// A packageRun is the state of a package whose tests are running.
type packageRun struct {
	cached  bool
	output  []string            // output outside of tests
	tests   map[string][]string // output of tests that have not passed
	unended []string            // first the paused tests, then the running tests, the latest test last
	failed  []string
}

func newReport(out io.Writer) *report {
	return &report{out: out, packages: map[packageKey]*packageRun{}, leftOut: map[string]bool{}}
}

func (r *report) run(key packageKey) *packageRun {
	p := r.packages[key]
	if p == nil {
		p = &packageRun{tests: map[string][]string{}}
		r.packages[key] = p
	}
	return p
}

// leftOut matches the message of a test that is skipped because a program is
// missing (package leftout).
var leftOut = regexp.MustCompile(`LEFT OUT: [^\n]*`)

// take handles an event, and reports whether it printed anything.
func (r *report) take(e event) (printed bool) {
	if e.Package == "" { // build-output and build-fail
		fmt.Fprint(r.out, e.Output)
		return e.Output != ""
	}
	key := packageKey{e.Package, e.list}
	p := r.run(key)
	if e.Test != "" {
		p.take(e)
		if what := leftOut.FindString(e.Output); what != "" {
			r.leftOut[what] = true
		}
		return false
	}
	switch e.Action {
	case "output":
		p.output = append(p.output, e.Output)
		p.cached = p.cached || strings.Contains(e.Output, "\t(cached)")
	case "pass", "fail", "skip":
		r.end(e, p)
		delete(r.packages, key)
		return e.Action != "skip"
	}
	return false
}

// take handles an event of a test.
func (p *packageRun) take(e event) {
	switch e.Action {
	case "run", "cont":
		p.unended = append(p.remove(e.Test), e.Test)
		return
	case "pause":
		p.unended = slices.Insert(p.remove(e.Test), 0, e.Test)
		return
	case "output":
		p.tests[e.Test] = append(p.tests[e.Test], e.Output)
		return
	case "pass", "skip":
		delete(p.tests, e.Test)
	case "fail":
		p.failed = append(p.failed, e.Test)
	default:
		return
	}
	p.unended = p.remove(e.Test)
}

// remove removes a test from p.unended, and returns the other tests.
func (p *packageRun) remove(test string) []string {
	return slices.DeleteFunc(p.unended, func(t string) bool { return t == test })
}

// end prints the result of a package, unless it was skipped. If the package failed, it also
// prints the output of the tests that did not pass.
func (r *report) end(e event, p *packageRun) {
	took := fmt.Sprintf("%6.1fs", e.Elapsed)
	if p.cached {
		took = " cached"
	}
	switch e.Action {
	case "pass":
		fmt.Fprintf(r.out, "   ok     %s  %s\n", took, short(e.Package))
	case "fail":
		for _, test := range slices.Sorted(maps.Keys(p.tests)) {
			fmt.Fprint(r.out, strings.Join(p.tests[test], ""))
		}
		fmt.Fprint(r.out, strings.Join(p.output, ""))
		fmt.Fprintf(r.out, "   FAILED %s  %s\n", took, short(e.Package))
		r.failed = append(r.failed, failures(e.Package, p)...)
	}
}

// failures returns the names of the tests that failed or did not end. For failed subtests it returns only the
// innermost names. If no test failed, it returns the package, which may not build.
func failures(name string, p *packageRun) (all []string) {
	for _, test := range p.failed {
		if !slices.ContainsFunc(p.failed, func(other string) bool { return strings.HasPrefix(other, test+"/") }) {
			all = append(all, short(name)+" "+test)
		}
	}
	for _, test := range p.unended {
		all = append(all, short(name)+" "+test+" (did not end)")
	}
	if len(all) == 0 {
		all = append(all, short(name))
	}
	return all
}

// stillRunning prints each package that is running tests, with the test that
// began or continued last. If no test is running, it prints "building".
func (r *report) stillRunning() {
	var all []string
	for key, p := range r.packages {
		if len(p.unended) > 0 {
			all = append(all, short(key.name)+" "+p.unended[len(p.unended)-1])
		}
	}
	slices.Sort(all)
	if len(all) > 0 {
		fmt.Fprintf(r.out, "   still running: %s\n", strings.Join(all, ", "))
	} else {
		fmt.Fprintln(r.out, "   building")
	}
}

// notes returns the lines for the file of notes.
func (r *report) notes() (lines []string) {
	for _, f := range r.failed {
		lines = append(lines, "FAILED: "+f)
	}
	return append(lines, slices.Sorted(maps.Keys(r.leftOut))...)
}

// short returns the path of a package relative to the module.
func short(name string) string {
	if rest, ok := strings.CutPrefix(name, "github.com/askback/askback"); ok {
		return "." + rest
	}
	return name
}
