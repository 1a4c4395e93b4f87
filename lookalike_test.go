package askback_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// Options that look alike are rejected. The error points to the second label and suggests different labels. A
// stored ask with such options can still be answered.
func TestLabelsThatLookAlikeAreRejected(t *testing.T) {
	for _, labels := range [][2]string{
		{"Yes", "yes"}, {"1", "2"}, {"👍", "👎"}, {"a", "á"},
	} {
		r := askback.Request{
			Questions: []askback.Question{{Text: "Which?", Options: askback.Options(labels[0], labels[1])}},
		}
		if _, err := r.Normalize(); err != nil {
			t.Errorf("%q: %v", labels, err)
		}
	}
	for _, labels := range [][2]string{
		{"Yes", "Yes "},
		{"Yes", "Y\u200bes"},
		{"é", "e\u0301"},
		{"１", "1"},
		{"copy", "сору"},
		{"two words", "two  words"},
		{"Yes", "\u202eYes"},
	} {
		q := askback.Question{Text: "Which?", Options: askback.Options(labels[0], "Maybe", labels[1])}
		_, err := askback.Request{Questions: []askback.Question{q}}.Normalize()
		var bad askback.Invalid
		if !errors.As(err, &bad) || len(bad) != 1 || bad[0].Pointer != "/questions/0/options/2/label" ||
			!strings.Contains(bad[0].Detail, "looks like") || !strings.Contains(bad[0].Fix, `"Yes, now"`) {
			t.Errorf("%q: got %v", labels, err)
		}
		q.ID = "q1"
		stored := askback.Ask{Kind: askback.Questions, Questions: []askback.Question{q}}
		given, err := askback.Answer{
			Answers: []askback.QuestionAnswer{{ID: "q1", Selected: []string{labels[1]}}},
		}.Normalize(stored)
		if err != nil || given.Answers[0].Selected[0] != labels[1] {
			t.Errorf("%q: got %+v, %v", labels, given, err)
		}
	}
	blank := askback.Request{
		Questions: []askback.Question{{Text: "Which?", Options: askback.Options("\u200b\u2800", "No")}},
	}
	if _, err := blank.Normalize(); err == nil || !strings.Contains(err.Error(), "invisible") {
		t.Errorf("an invisible label: got %v", err)
	}
	other := askback.Request{
		Questions: []askback.Question{{Text: "Which?", Options: askback.Options("a", "b", "Ｏther ")}},
	}
	if r, err := other.Normalize(); err != nil || len(r.Questions[0].Options) != 2 {
		t.Errorf("a label that looks like Other: got %+v, %v", r.Questions, err)
	}
}
