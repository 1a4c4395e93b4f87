package askback_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback"
)

// An answer outside the format of its question is rejected, and the error names the field. The answer 0 is
// valid.
func TestAnswerMustFitFormat(t *testing.T) {
	for format, values := range map[string]struct{ good, bad []string }{
		"integer 1..100": {[]string{"1", "42", " 7 ", "100", "1e2"}, []string{
			"42abc", "1,5", "１２", "0", "-0", "101", "1.5", "0x10", "1_0", "+1", "NaN", "abc", "1 2", "42\n43",
			"0.99999999999999999999", "100.00000000000000001", "1.00000000000000000001",
		}},
		"integer": {
			[]string{"0", "-0", "-3", "0e999999999"}, []string{"5e-400", "1.5", "9007199254740993", "1e400", "true"},
		},
		"number ..2.5": {
			[]string{"2.5", "-1e3", "0"}, []string{"2.51", "2,5", ".5", "1/2", "2.5000000000000000001", "-1e-400"},
		},
		"date": {[]string{"2027-02-28"}, []string{"31.02.2027", "2027-02-31", "2027-2-3", "tomorrow"}},
		"date-time": {[]string{"2027-01-31T18:00:00Z", "2027-01-31t18:00:00.5z", "2027-01-31T18:00:00+01:00"}, []string{
			"2027-01-31", "2027-01-31 18:00", "2027-01-31T9:00:00Z", "2027-01-31T10:00:00,5Z",
		}},
		"email": {[]string{"kim@example.com"}, []string{
			"kim", "kim@", "Kim <kim@example.com>", "a@b, c@d", "a@b.de\rX", "a\x00@b.de", "a\u00a0b@c.de",
			"a@b\u2028c.de", "\u202ea@b.de", "a\u200b@b.de", "a@b..de",
		}},
		"uri": {
			[]string{"https://example.com/a", "mailto:kim@example.com"}, []string{"example.com", "/path", "http://"},
		},
		"text 3..5": {[]string{"abc", "äöüß"}, []string{"ab", "abcdef"}},
	} {
		q := askback.Question{ID: "q1", Text: "How many?", Format: format, Optional: true}
		ask := askback.Ask{Kind: askback.Questions, Questions: []askback.Question{q}}
		give := func(text string) (askback.Answer, error) {
			return askback.Answer{
				Answers: []askback.QuestionAnswer{{ID: "q1", Other: text, Notes: "kept"}},
			}.Normalize(ask)
		}
		for _, text := range append(values.good, "") {
			if a, err := give(text); err != nil || a.Answers[0].Other != strings.TrimSpace(text) {
				t.Errorf("%s: %q: got %+v, %v", format, text, a, err)
			}
		}
		for _, text := range values.bad {
			_, err := give(text)
			var bad askback.Invalid
			if !errors.As(err, &bad) || len(bad) != 1 || bad[0].Pointer != "/answers/0/other" ||
				!strings.Contains(bad[0].Detail, q.Expects()) {
				t.Errorf("%s: %q: got %v", format, text, err)
			}
		}
	}
}

// An ask is rejected if a format does not exist or allows no answer, or if a default does not fit the format.
func TestInvalidFormatIsRejected(t *testing.T) {
	for _, q := range []askback.Question{
		{Format: "int"},
		{Format: "integer 1"},
		{Format: "integer 5..1"},
		{Format: "integer .."},
		{Format: "date 1..2"},
		{Format: "text"},
		{Format: "integer a..b"},
		{Format: "integer 1.2..1.8"},
		{Format: "integer 9007199254740993.."},
		{Format: "text ..0"},
		{Format: "text 20001.."},
		{Format: "text 2.5..2.9"},
		{Format: "integer", Options: askback.Options("1", "2")},
		{Format: "integer 1..9", Default: []string{"10"}},
	} {
		q.Text = "How many?"
		if _, err := (askback.Request{Questions: []askback.Question{q}}).Normalize(); err == nil {
			t.Errorf("%+v was accepted", q)
		}
	}
}
