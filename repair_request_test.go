package askback_test

import (
	"slices"
	"testing"

	"github.com/askback/askback"
)

func repairPointers(notes []askback.Problem) []string {
	var at []string
	for _, n := range notes {
		at = append(at, n.Pointer)
	}
	return at
}

func TestOptionOtherIsDroppedIfFreeTextIsAllowed(t *testing.T) {
	for _, other := range []string{"Other", "other", "OTHER…", "Other...", " Other "} {
		r := validQuestions()
		r.Questions[0].Options = askback.Options("A", other, "B")
		got, err := r.Normalize()
		notes := got.Warnings
		if err != nil {
			t.Errorf("%q: %v", other, err)
			continue
		}
		if got, want := got.Questions[0].Options, askback.Options("A", "B"); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", other, got, want)
		}
		if got, want := repairPointers(notes), []string{"/questions/0/options/1"}; !slices.Equal(got, want) {
			t.Errorf("%q: got notes at %q, want %q", other, got, want)
		}
	}
}

func TestOptionOtherIsKeptIfOnlyOptionsAreAllowed(t *testing.T) {
	r := validQuestions()
	r.Questions[0].Options, r.Questions[0].NoOther = askback.Options("A", "Other"), true
	got, err := r.Normalize()
	notes := got.Warnings
	if want := askback.Options("A", "Other"); err != nil || len(notes) > 0 ||
		!slices.Equal(got.Questions[0].Options, want) {
		t.Errorf("got %v, notes %v, error %v, want %v", got.Questions, notes, err, want)
	}
}

// Only an option whose whole label is "Other" is dropped.
func TestLabelThatContainsOtherIsKept(t *testing.T) {
	r := validQuestions()
	r.Questions[0].Options = askback.Options("Another", "Other database")
	got, err := r.Normalize()
	notes := got.Warnings
	if want := askback.Options("Another", "Other database"); err != nil || len(notes) > 0 ||
		!slices.Equal(got.Questions[0].Options, want) {
		t.Errorf("got %v, notes %v, error %v, want %v", got.Questions, notes, err, want)
	}
}

func TestPreviewsOfMultiSelectAreDroppedWithWarning(t *testing.T) {
	for _, multi := range []bool{false, true} {
		r := validQuestions()
		r.Questions[0].MultiSelect = multi
		r.Questions[0].Options[1].Preview = "create table …"
		got, err := r.Normalize()
		notes := got.Warnings
		preview, at := "create table …", []string(nil)
		if multi {
			preview, at = "", []string{"/questions/0/options/1/preview"}
		}
		if got := got.Questions[0].Options[1].Preview; err != nil || got != preview ||
			!slices.Equal(repairPointers(notes), at) {
			t.Errorf("several answers %v: got preview %q, notes %v, error %v; want %q, notes at %q", multi, got, notes,
				err, preview, at)
		}
	}
}
