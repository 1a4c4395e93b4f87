package decode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/decode"
)

// words are the parts of generated texts. Many of them resemble mistakes that are repaired.
var words = rapid.SampledFrom([]string{
	"Which", "one?", "{", "}", "[1]", `"`, `\`, "`", "</question>", "</parameter>", "<parameter name=\"options\">",
	"\n", "1)", "2)", "ü", "☂", "true", "null", ",",
})

func text(t *rapid.T, field, name string) string {
	s := strings.TrimSpace(strings.Join(rapid.SliceOfN(words, 1, 6).Draw(t, name), " "))
	if s == "" || decode.EndsInMarkup(field, s) {
		return "plain " + name
	}
	return s
}

// wellFormed returns valid input, and the questions that it is parsed to.
func wellFormed(t *rapid.T) (questions []map[string]any, want []askback.Question) {
	for i := range rapid.IntRange(1, 4).Draw(t, "questions") {
		q := askback.Question{
			ID: "q" + string(rune('1'+i)), Text: string(rune('A'+i)) + " " + text(t, "question", "question"),
		}
		var options []any
		for j := range rapid.IntRange(0, 4).Draw(t, "options") {
			o := askback.Option{Label: string(rune('a'+j)) + " " + text(t, "label", "label")}
			q.Options = append(q.Options, o)
			options = append(options, map[string]any{"label": o.Label})
		}
		if len(q.Options) == 1 {
			q.Options, options = nil, nil
		}
		q.MultiSelect = rapid.Bool().Draw(t, "multi")
		questions = append(questions,
			map[string]any{"question": q.Text, "options": options, "multiSelect": q.MultiSelect})
		want = append(want, q)
	}
	return questions, want
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// malform returns a call with mistakes that models make.
func malform(t *rapid.T, questions []map[string]any) string {
	left := 2 // the number of further times that JSON may be encoded as a string
	pack := func(name string, v any) any {
		if left > 0 && rapid.Bool().Draw(t, name) {
			left--
			return encode(v)
		}
		return v
	}
	if left--; rapid.Bool().Draw(t, "pack inside") {
		for _, q := range questions {
			if options, ok := q["options"].([]any); ok && len(options) > 0 {
				q["options"] = encode(options)
			}
			if rapid.Bool().Draw(t, "flag") {
				q["multiSelect"] = encode(q["multiSelect"])
			}
		}
	} else {
		left++
	}
	var body any = map[string]any{"questions": pack("pack questions", questions)}
	if len(questions) == 1 && rapid.Bool().Draw(t, "flat") {
		body = questions[0]
	}
	sent := encode(pack("pack all", body))
	if end := len(strings.TrimRight(sent, "]}")); !strings.HasSuffix(sent[:end], ",") && rapid.Bool().Draw(t, "cut") {
		sent = sent[:rapid.IntRange(end, len(sent)).Draw(t, "end")]
	}
	return sent
}

// A repaired call has the same questions as the call without mistakes (F15, W1–W11).
func TestRepairsDoNotChangeQuestions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		questions, want := wellFormed(t)
		sent := malform(t, questions)
		r, err := decode.Request([]byte(sent))
		if err == nil {
			r, err = r.Normalize()
		}
		if diff := cmp.Diff(want, r.Questions); err != nil || diff != "" {
			t.Fatalf("%s: %v\n%s", sent, err, diff)
		}
	})
}
