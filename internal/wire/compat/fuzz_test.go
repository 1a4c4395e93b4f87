package compat_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/text/resumecontext"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/jcs"
)

// asks returns asks with every kind of question.
func asks() []askback.Ask {
	labels := askback.Options("Go", "Go, with cgo", " C ", ", ", "Yes, proceed")
	one := askback.Question{ID: "q1", Text: "Which?", Options: labels}
	many := askback.Question{ID: "q2", Text: "Which ones?", Options: labels, MultiSelect: true}
	free := askback.Question{ID: "q3", Text: "Why?", Optional: true}
	strict := askback.Question{ID: "q4", Text: "When?", Options: askback.Options("now", "later"), NoOther: true}
	alone := many
	alone.ID = "q1"
	return []askback.Ask{
		{Kind: askback.Questions, Questions: []askback.Question{one}},
		{Kind: askback.Questions, Questions: []askback.Question{alone}},
		{Kind: askback.Questions, Questions: []askback.Question{one, many, free, strict}},
		{Kind: askback.Confirm, Confirmation: &askback.Confirmation{ToolName: "deploy", Input: []byte(`{}`)}},
	}
}

// No input panics, and accepted input is a valid answer (T5).
func FuzzText(f *testing.F) {
	f.Add("Go, with cgo, Go")
	f.Add("Go\nC, x\n\nnow\nthanks")
	f.Add("yes")
	f.Add("\xff, \x00")
	f.Fuzz(func(t *testing.T, input string) {
		for _, ask := range asks() {
			a, err := compat.Text(ask, input)
			var bad askback.Invalid
			if err != nil && !errors.As(err, &bad) {
				t.Errorf("got %v, want Invalid", err)
			}
			if err == nil {
				_, err = a.Normalize(ask)
			}
			if err != nil && len(bad) == 0 {
				t.Errorf("%q: got %+v, which is rejected: %v", input, a, err)
			}
		}
	})
}

// The pieces of an answer, joined by ", ", are the answer, except for white space (C1).
func FuzzSplit(f *testing.F) {
	f.Add("Go, with cgo, Go,  C , x, y")
	f.Add(", , ,")
	f.Add("Yes, proceed")
	f.Fuzz(func(t *testing.T, input string) {
		pieces := compat.Split(asks()[1].Questions[0], input)
		if got, want := withoutSpace(strings.Join(pieces, ", ")), withoutSpace(input); got != want {
			t.Errorf("%q was split into %q", input, pieces)
		}
	})
}

// withoutSpace returns s without white space.
func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// No body causes a panic, and every error is an Invalid or a syntax error.
func FuzzBodies(f *testing.F) {
	f.Add(`{"answers": {"Which?": "Go", "q2": ["Go", "x"], "q4": "now"}, "annotations": {"q1": {"notes": "n", "preview": ""}}}`)
	f.Add(`{"question_id": "latest", "answer": "Python\nBeginner"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		known := func(err error) {
			var bad askback.Invalid
			var syntax *jcs.SyntaxError
			if err != nil && !errors.As(err, &bad) && !errors.As(err, &syntax) {
				t.Errorf("%q: got %v", raw, err)
			}
		}
		_, err := compat.ReadTextAnswer([]byte(raw))
		known(err)
		for _, ask := range asks() {
			_, err := compat.Respond([]byte(raw), ask)
			known(err)
		}
	})
}

// The pointer of a problem refers to the body that the client sent, not to the converted
// answer.
func TestProblemsHavePointersIntoTheBody(t *testing.T) {
	long := strings.Repeat("x", limits.MaxText+1)
	_, err := compat.Respond([]byte(`{"answers": {"Which?": "Go"}, "annotations": {"Which?": {"notes": "`+long+`"}}}`),
		asks()[0])
	var bad askback.Invalid
	if !errors.As(err, &bad) || len(bad) != 1 || bad[0].Pointer != "/annotations/Which?/notes" {
		t.Errorf("got %v", err)
	}
	_, err = compat.Text(asks()[3], long)
	if !errors.As(err, &bad) || len(bad) != 1 || bad[0].Pointer != "/answer" {
		t.Errorf("got %v", err)
	}
}

// Only a few words approve, and only without other text. All these words except approve_all may be in any
// letter case (C3).
func TestOnlyExactWordsApprove(t *testing.T) {
	words := []string{"yes, proceed", "yes", "y", "true", "approved", "approve_all"}
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("yestrue approved_all,\nYES1ſı")), 0, 14, -1)
	rapid.Check(t, func(t *rapid.T) {
		input := letters.Draw(t, "input")
		if rapid.Bool().Draw(t, "word") {
			input += rapid.SampledFrom(words).Draw(t, "which") + letters.Draw(t, "more")
		}
		a, err := compat.Text(asks()[3], input)
		approved := err == nil && a.Decision != askback.Deny
		want := false
		for _, w := range words {
			same := strings.EqualFold(w, strings.TrimSpace(input)) && !strings.ContainsAny(input, "ſı")
			want = want || same && (w != "approve_all" || strings.TrimSpace(input) == w)
		}
		if approved != want {
			t.Fatalf("%q: got %+v %v", input, a, err)
		}
	})
}

// Whatever its texts contain, the context is one block, which is hidden from people. The texts
// cannot imitate another question (B5).
func TestResumeContextIsOneBlock(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"<resume-context>", "</resume-context>", "</", "<", "resume-context>", "\n  Q: ", "\r  A: ", "\u2028", "\n",
		" ", "x", "&lt;", "Todo state at pause:",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "questions")
		a := askback.Ask{Kind: askback.Questions, Outcome: &askback.Outcome{
			Status: rapid.SampledFrom([]askback.Status{askback.Answered, askback.Declined, askback.Expired}).Draw(t,
				"status"),
			Comment: text.Draw(t, "comment"), Reason: text.Draw(t, "reason"),
		}}
		for range n {
			a.Questions = append(a.Questions, askback.Question{Text: text.Draw(t, "question")})
			a.Outcome.Answers = append(a.Outcome.Answers,
				askback.QuestionAnswer{Other: text.Draw(t, "other"), Notes: text.Draw(t, "notes")})
		}
		s := askback.Session{Status: askback.SessionWaiting, Todos: []askback.Todo{{
			Content: text.Draw(t, "todo"), Status: askback.TodoStatus(text.Draw(t, "status")),
		}}}
		got := compat.ResumeContext(s, []askback.Ask{a})
		if left := resumecontext.Strip(got); left != "" {
			t.Fatalf("%q is left of %q", left, got)
		}
		questions := 0
		for line := range strings.FieldsFuncSeq(got,
			func(r rune) bool { return strings.ContainsRune("\n\r\u2028", r) }) {
			if strings.HasPrefix(line, "  Q: ") {
				questions++
			}
		}
		if questions != n {
			t.Fatalf("got %d questions, want %d:\n%s", questions, n, got)
		}
	})
}
