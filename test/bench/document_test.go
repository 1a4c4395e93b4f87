package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newDocument returns a document with one goal, two peers and a table.
func newDocument() *document {
	d := &document{
		plan: plan{rounds: 3, duration: time.Second, peers: &peerSet{
			version: map[string]string{"restate": "1.7", "nats": "2"},
			leftOut: map[string]error{"eino": errors.New("no compiler")},
		}},
		verdicts: []verdict{
			{goal: goals[0], runs: 1, got: spread{0.85, 0.8, 0.9}},
			{
				goal: goal{what: "p99", by: "bare", place: remote, gate: 2, stretch: 1.5, atMost: true}, runs: 64,
				got: spread{1.4, 1.3, 1.5},
			},
		},
		peers: []peerResult{
			{peer: knownPeers[0], version: "2", runs: gateRuns, remote: spread{2, 1.5, 2.5}, byPost: spread{3, 3, 3}},
			{peer: knownPeers[2], version: "1.7", runs: gateRuns, remote: spread{4, 3, 5}, byPost: spread{6, 6, 6}},
			{peer: knownPeers[2], version: "1.7", runs: 1, remote: spread{7, 7, 7}, byPost: spread{8, 8, 8}},
		},
	}
	_, _ = io.WriteString(d.tee(io.Discard), "\nruns  what   \n64    bare\n\n"+goalsTitle+"\nruns  place\n")
	return d
}

func TestResultsReplaceEarlierResults(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "bench.md")
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	if err := os.WriteFile(name, []byte("before\n"+resultsBegin+"old\n"+resultsEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDocument()
	var texts []string
	for range 2 {
		if err := d.write(folder, now); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	text := texts[0]
	if text != texts[1] {
		t.Errorf("the second run wrote\n%s\nafter\n%s", texts[1], text)
	}
	if !strings.HasPrefix(text, "before\n") || !strings.HasSuffix(text, "after\n") || strings.Contains(text, "old") {
		t.Errorf("got\n%s", text)
	}
	for _, want := range []string{
		"Measured on 2026-11-22: 3 rounds, 1s for each case",
		"| 64 | Restate (1.7) | remote | 4.00 [3.00..5.00] | ≥ 5 MISSED | 6.00 [6.00..6.00] |",
		"| Eino with SQLite | (left out",
		"| 1 | in process | cycles/s | record | 0.85 [0.80..0.90] | ≥ 0.8 | ≥ 0.9 | held |",
		"```text\nruns  what\n64    bare\n```",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, goalsTitle) {
		t.Errorf("the goals are a table of the page, and printed as well:\n%s", text)
	}
	pictures := regexp.MustCompile(`\]\((bench/[^)]*)\)`).FindAllStringSubmatch(text, -1)
	if len(pictures) != 3 {
		t.Errorf("got pictures %q, want three", pictures)
	}
	for _, p := range pictures {
		if _, err := os.Stat(filepath.Join(folder, p[1])); err != nil {
			t.Error(err)
		}
	}
}

func TestDocumentWithoutMarksIsNotChanged(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "bench.md")
	for _, text := range []string{"nothing", resultsBegin, resultsEnd} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := newDocument().write(folder, time.Now()); err == nil {
			t.Errorf("%q: no error", text)
		}
		if raw, err := os.ReadFile(name); err != nil || string(raw) != text {
			t.Errorf("%q: now %q, %v", text, raw, err)
		}
	}
}

// docs/bench.md has each mark exactly once.
func TestBenchDocumentHasEachMarkOnce(t *testing.T) {
	raw, err := os.ReadFile("../../docs/bench.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{resultsBegin, resultsEnd} {
		if strings.Count(string(raw), mark) != 1 {
			t.Errorf("docs/bench.md does not have one line %q", mark)
		}
	}
}

// An element is a part of a picture.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// elements parses a picture and returns its elements.
func elements(t *testing.T, raw []byte) (all []element) {
	t.Helper()
	for in := xml.NewDecoder(strings.NewReader(string(raw))); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, raw)
		}
		switch of := token.(type) {
		case xml.StartElement:
			e := element{name: of.Name.Local, attrs: map[string]string{}}
			for _, a := range of.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(of)
			}
		}
	}
}

func (e element) number(t *testing.T, attr string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attrs[attr], 64)
	if err != nil {
		t.Fatalf("%s of %v: %v", attr, e, err)
	}
	return v
}

func TestBarsAreProportionalToTheirValues(t *testing.T) {
	c := chart{title: "Title", groups: []barGroup{{heading: "One", bars: []bar{
		{label: "a", value: spread{2, 1, 3}, gate: 4},
		{label: "b", value: spread{6, 6, 6}},
		{label: "c", value: spread{12, 12, 12}},
	}}}}
	var widths []float64
	var gate, first element
	for _, e := range elements(t, c.svg()) {
		switch e.attrs["class"] {
		case "bar":
			widths = append(widths, e.number(t, "width"))
			if first.name == "" {
				first = e
			}
		case "gate":
			gate = e
		}
		for _, attr := range []string{"x", "x1", "x2"} {
			if e.attrs[attr] != "" && (e.number(t, attr) < 0 || e.number(t, attr) > chartWidth) {
				t.Errorf("%v is outside of the picture", e)
			}
		}
	}
	if len(widths) != 3 || !near(widths[1], 3*widths[0]) || !near(widths[2], 6*widths[0]) {
		t.Errorf("the values 2, 6 and 12 have bars of %v pixels", widths)
	}
	if got := gate.number(t, "x1") - first.number(t, "x"); !near(got, 2*widths[0]) {
		t.Errorf("the bound 4 is at %g pixels, and the value 2 at %g", got, widths[0])
	}
}

// near reports whether two lengths differ by less than half a pixel.
func near(a, b float64) bool { return a-b < 0.5 && b-a < 0.5 }

func TestPictureHasTextForScreenReaders(t *testing.T) {
	c := chart{title: "A <b> & c", about: "More is better.", groups: []barGroup{
		{heading: "Group", bars: []bar{{label: "x<y", value: spread{2.5, 2, 3}, note: "held"}}},
	}}
	texts := map[string][]string{}
	var root element
	for i, e := range elements(t, c.svg()) {
		if i == 0 {
			root = e
		}
		texts[e.name] = append(texts[e.name], strings.TrimSpace(e.text))
	}
	if root.attrs["role"] != "img" || root.attrs["aria-labelledby"] != "title desc" {
		t.Errorf("the picture has the attributes %v", root.attrs)
	}
	if got := strings.Join(texts["title"], ""); got != c.title {
		t.Errorf("got title %q", got)
	}
	if got, want := strings.Join(texts["desc"], ""), "More is better. Group: x<y 2.50 held."; got != want {
		t.Errorf("got description %q, want %q", got, want)
	}
	if got := strings.Join(texts["text"], "|"); !strings.Contains(got, "x<y") || !strings.Contains(got, "2.50  held") {
		t.Errorf("got texts %q", got)
	}
	if got := strings.Join(texts["style"], ""); !strings.Contains(got, "prefers-color-scheme:dark") {
		t.Error("the picture has no colours for dark mode")
	}
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for limit, want := range map[float64]float64{
		1: 0.2, 1.5: 0.2, 3: 0.5, 7: 1, 12: 2, 40: 5, 78: 10, 100: 20, 950: 200,
	} {
		if got := tickStep(limit); !near(got*1000, want*1000) {
			t.Errorf("up to %g: got %g, want %g", limit, got, want)
		}
	}
}
