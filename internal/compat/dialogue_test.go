package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/compat"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

var update = flag.Bool("update", false, "rewrite the dialogues with what happens now")

// Each file in testdata is a dialogue: what a client or a person does, "----",
// and what is made of it (A1, A4, B4, B5, C1, E2).
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { play(t, path) })
	}
}

func play(t *testing.T, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	s := &stage{t: t, session: askback.Session{ID: "ses_1", Agent: "write-poem", Status: "running", CreatedAt: nine}}
	for stanza := range strings.SplitSeq(strings.TrimSpace(string(want)), "\n\n") {
		said, _, _ := strings.Cut(stanza, "\n----")
		got.WriteString(said + "\n----\n")
		for line := range strings.SplitSeq(said, "\n") {
			if !strings.HasPrefix(line, "#") {
				got.WriteString(s.play(line))
			}
		}
		got.WriteString("\n")
	}
	text := strings.TrimSpace(got.String()) + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != string(want) {
		t.Errorf("%s changed; if that is right, run with -update.\n--- got\n%s--- want\n%s", path, text, want)
	}
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

// facts are what a line says of a session; what it leaves out stays.
type facts struct {
	Status         askback.SessionStatus
	QuestionsAsked int
	CompletedAt    time.Time
	Todos          []askback.Todo
	Result         string // what it came to, or said last
}

// stage is what the lines of one dialogue have made so far.
type stage struct {
	t       *testing.T
	asks    []askback.Ask
	session askback.Session
	facts   facts
}

// play does what one line says and returns what came of it.
func (s *stage) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "ask":
		return s.ask(rest)
	case "end":
		return s.end(rest)
	case "session":
		s.json(rest, &s.facts)
		f := s.facts
		s.session.Status, s.session.AsksTotal, s.session.CompletedAt, s.session.Todos = f.Status, f.QuestionsAsked, f.CompletedAt, f.Todos
		return ""
	case "respond":
		a, err := compat.Respond([]byte(rest), s.last())
		return s.answer(a, err)
	case "text":
		a, err := compat.Text(s.last(), s.unquote(rest))
		return s.answer(a, err)
	case "body":
		a, err := compat.ReadTextAnswer([]byte(rest))
		return s.said(a, err)
	case "questions":
		return s.said(s.last().Form(), nil)
	case "pending-question":
		return s.said(compat.Pending(s.open()), nil)
	case "latest":
		a, err := compat.Latest(s.open())
		if err != nil {
			return s.said(compat.NotSubmitted(err, a), nil)
		}
		return a.ID + "\n"
	case "submitted":
		return s.said(compat.Submitted(), nil)
	case "settled-before":
		return s.said(compat.NotSubmitted(askback.ErrSettled, s.last()), nil)
	case "rows":
		rows, err := compat.Rows(s.asks)
		return s.said(rows, err)
	case "status":
		status, err := compat.QuestionStatus(rest)
		return s.said(status, err)
	case "resumed":
		return s.said(compat.Resumed(s.session.ID), nil)
	case "late":
		reply, err := compat.Late(s.last(), rest == "over")
		return s.said(reply, err)
	case "session-row":
		row, err := compat.SessionRow(s.session, s.facts.Result)
		return s.said(row, err)
	case "resume-context":
		return compat.ResumeContext(s.session, s.asks) + "\n"
	case "strip":
		return fmt.Sprintf("%q\n", askback.StripResumeContext(s.unquote(rest)))
	}
	s.t.Fatalf("nobody knows what %q means", line)
	return ""
}

// ask puts an ask, as POST /asks would, a minute after the one before.
func (s *stage) ask(body string) string {
	r, err := decode.Request([]byte(body))
	if err == nil {
		r, err = r.Normalize()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	a := askback.Ask{
		ID: fmt.Sprintf("ask_%d", len(s.asks)+1), SessionID: s.session.ID, Agent: s.session.Agent,
		Kind: askback.Questions, Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context,
		Status: askback.Pending, CreatedAt: nine.Add(time.Duration(len(s.asks)) * time.Minute),
	}
	if r.Confirmation != nil {
		a.Kind = askback.Confirm
	}
	s.asks = append(s.asks, a)
	return ""
}

// end gives the last ask its outcome.
func (s *stage) end(outcome string) string {
	var o askback.Outcome
	s.json(outcome, &o)
	a := &s.asks[len(s.asks)-1]
	a.Outcome, a.Status = &o, o.Status
	return ""
}

func (s *stage) last() askback.Ask { return s.asks[len(s.asks)-1] }

func (s *stage) open() (out []askback.Ask) {
	for _, a := range s.asks {
		if !a.Settled() {
			out = append(out, a)
		}
	}
	return out
}

func (s *stage) json(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
}

func (s *stage) unquote(text string) (out string) {
	s.json(text, &out)
	return out
}

// said writes a reply as it goes over the wire, or what is wrong, a line each.
func (s *stage) said(v any, err error) string {
	var bad askback.Invalid
	var syntax *jcs.SyntaxError
	switch {
	case errors.As(err, &bad):
		var out strings.Builder
		for _, p := range bad {
			out.WriteString("refused: " + askback.Invalid{p}.Error() + "\n")
		}
		return out.String()
	case errors.As(err, &syntax):
		return "no JSON: " + err.Error() + "\n"
	case err != nil:
		return "refused: " + err.Error() + "\n"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// answer writes an answer for people to read.
func (s *stage) answer(a askback.Answer, err error) string {
	if err != nil {
		return s.said(nil, err)
	}
	if again, err := a.Normalize(s.last()); err != nil || len(again.Answers) != len(a.Answers) {
		s.t.Errorf("got %v for %+v, want an answer the engine takes", err, a)
	}
	var out strings.Builder
	for _, q := range a.Answers {
		fmt.Fprintf(&out, "%s = %q", q.ID, q.Selected)
		add(&out, ", other ", q.Other)
		add(&out, ", notes ", q.Notes)
		out.WriteString("\n")
	}
	if a.Decision != "" {
		out.WriteString(string(a.Decision))
		add(&out, ", reason ", a.Reason)
		if a.Grant != nil {
			fmt.Fprintf(&out, ", grants this %s for %v", a.Grant.Scope, a.Grant.ExpiresIn)
		}
		out.WriteString("\n")
	}
	if a.Comment != "" {
		add(&out, "comment ", a.Comment)
		out.WriteString("\n")
	}
	return out.String()
}

func add(out *strings.Builder, what, text string) {
	if text != "" {
		fmt.Fprintf(out, "%s%q", what, text)
	}
}
