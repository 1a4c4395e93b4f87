package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A fakeSubject is a subject whose ask takes 10 ms. ask appends the name of the subject to order, unless it
// is the last name there.
type fakeSubject struct {
	name  string
	order *[]string
}

func (s fakeSubject) ask(context.Context) (string, error) {
	if last := len(*s.order) - 1; last < 0 || (*s.order)[last] != s.name {
		*s.order = append(*s.order, s.name)
	}
	<-time.After(10 * time.Millisecond)
	return "", nil
}

func (fakeSubject) wait(context.Context, string) error   { return nil }
func (fakeSubject) answer(context.Context, string) error { return nil }
func (fakeSubject) close() error                         { return nil }

func fakeContender(name string, order *[]string) contender {
	return contender{
		name, inProcess, func(context.Context, string) (subject, error) { return fakeSubject{name, order}, nil },
	}
}

func TestSlicesOfCasesAreInterleaved(t *testing.T) { synctest.Test(t, testInterleavedSlices) }

func testInterleavedSlices(t *testing.T) {
	var order []string
	fakes := []contender{fakeContender("a", &order), fakeContender("b", &order), fakeContender("c", &order)}
	p := plan{duration: 4 * sliceLength, dir: t.TempDir()}
	all, err := measurePlace(t.Context(), fakes, p, 1, &patience{})
	if err != nil {
		t.Fatal(err)
	}
	// Each contender is warmed up first. Two slices in a row are recorded once.
	if got, want := strings.Join(order, " "), "a b c a b c b a b c b a"; got != want {
		t.Errorf("the slices were of %s, want %s", got, want)
	}
	for _, m := range all {
		if len(m.pairs) != 2 || m.pairs[0].PerSecond <= 0 || m.PerSecond <= 0 {
			t.Errorf("got %+v, want two pairs with a speed", m)
		}
	}
}

func TestPairsInDividesTheDurationIntoEqualSlices(t *testing.T) {
	for _, c := range []struct {
		d, slice time.Duration
		pairs    int
	}{
		{50 * time.Millisecond, 25 * time.Millisecond, 1},
		{300 * time.Millisecond, 150 * time.Millisecond, 1},
		{600 * time.Millisecond, 300 * time.Millisecond, 1},
		{800 * time.Millisecond, 200 * time.Millisecond, 2},
		{2 * time.Second, 250 * time.Millisecond, 4},
	} {
		if pairs, slice := pairsIn(c.d); pairs != c.pairs || slice != c.slice {
			t.Errorf("%s: got %d pairs of %s, want %d of %s", c.d, pairs, slice, c.pairs, c.slice)
		}
	}
}

func TestRatioComparesTheSamePairs(t *testing.T) {
	of := func(speeds ...float64) (m measurement) {
		for _, v := range speeds {
			m.pairs = append(m.pairs, measurement{PerSecond: v})
		}
		return m
	}
	k, by := key{"askback", remote, 1}, key{"bare", remote, 1}
	r := report{k: {0: of(10, 20, 60), 1: of(5, 80), 2: of(7)}, by: {0: of(10, 10, 20), 1: of(0, 10)}}
	if got, want := r.ratio(k, "bare", perSecond), (spread{2.5, 2, 8}); got != want {
		t.Errorf("got %v, want the median of all pairs and the medians of the rounds, %v", got, want)
	}
	if got := r.ratio(k, "record", perSecond); got != (spread{}) {
		t.Errorf("got %v without a reference", got)
	}
}

func TestGoalWithoutItsReferenceIsOmitted(t *testing.T) {
	k := key{"askback", inProcess, 1}
	if got := (report{k: {0: {}}}).verdicts(); len(got) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestOnlyNamedCasesAreMeasured(t *testing.T) {
	o, err := parse([]string{"-what", "mcp,record"}, new(strings.Builder))
	if err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string][]string{inProcess: {"record"}, byPost: {"record"}, remote: {"record", "mcp"}} {
		var got []string
		for _, c := range o.contendersIn(place) {
			got = append(got, c.name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", place, got, want)
		}
	}
}
