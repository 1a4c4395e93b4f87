package filltest_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/test/kit/filltest"
)

type part struct {
	Name  string
	Names []string
}

type whole struct {
	Large   bool
	Count   int
	Seq     int64
	Weight  float64
	At      time.Time
	Timeout time.Duration
	Raw     json.RawMessage
	Parts   []part
	Best    *part
	First   part
	hidden  chan int
}

func TestEveryFieldIsFilled(t *testing.T) {
	got := filltest.New[whole]()
	want := whole{
		Large: true, Count: 47, Seq: 756, Weight: 592.5, At: time.Date(2026, 1, 2, 3, 18, 47, 0, time.UTC),
		Timeout: 391 * time.Second, Raw: json.RawMessage(`{"n":862}`),
		Parts: []part{
			{"Parts[0].Name", []string{"Parts[0].Names[0]", "Parts[0].Names[1]"}},
			{"Parts[1].Name", []string{"Parts[1].Names[0]", "Parts[1].Names[1]"}},
		},
		Best:  &part{"Best.Name", []string{"Best.Names[0]", "Best.Names[1]"}},
		First: part{"First.Name", []string{"First.Names[0]", "First.Names[1]"}}, hidden: nil,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(whole{})); diff != "" {
		t.Error(diff)
	}
}

func TestEachLeafCanBeChanged(t *testing.T) {
	original := filltest.New[whole]()
	var paths []string
	for i := range filltest.Leaves(&original) {
		changed := filltest.New[whole]()
		leaf := filltest.Leaves(&changed)[i]
		leaf.Change()
		if cmp.Equal(original, changed, cmp.AllowUnexported(whole{})) {
			t.Errorf("%s did not change", leaf.Path)
		}
		paths = append(paths, leaf.Path)
	}
	want := []string{
		"Large", "Count", "Seq", "Weight", "At", "Timeout", "Raw",
		"Parts[0].Name", "Parts[0].Names[0]", "Parts[0].Names[1]", "Parts[1].Name", "Parts[1].Names[0]",
		"Parts[1].Names[1]", "Best.Name", "Best.Names[0]", "Best.Names[1]", "First.Name", "First.Names[0]",
		"First.Names[1]",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if got, want := filltest.Leaves(&original)[8].Field(), "Parts.Names"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIgnoredFieldsAreFound(t *testing.T) {
	got := filltest.Ignored(
		func(w whole) string { return fmt.Sprint(w.Large, w.Count, w.Parts[0].Name, w.Parts[1].Names, *w.Best) },
		func(a, b string) bool { return a == b },
	)
	want := []string{"Seq", "Weight", "At", "Timeout", "Raw", "Parts.Names", "Parts.Name", "First.Name", "First.Names"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownTypesPanic(t *testing.T) {
	defer func() {
		if got, want := recover(), "filltest: cannot fill a chan int"; got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}()
	filltest.New[struct{ C chan int }]()
}
