package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/resumecontext"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/test/kit/golden"
)

// Each file in testdata is a transcript for the HTTP formats. It contains commands of clients
// and people, "----", and their results (A1, A4, B4, B5, C1, E2).
func TestAPIResultsMatchTranscripts(t *testing.T) {
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
	p := &player{t: t, session: askback.Session{ID: "ses_1", Agent: "write-poem", Status: "running", CreatedAt: nine}}
	golden.Transcript(t, path, golden.Lines(p.play))
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

// A sessionState is the state that the command "session" sets. Omitted fields keep their value.
type sessionState struct {
	Status         askback.SessionStatus
	QuestionsAsked int
	CompletedAt    time.Time
	Todos          []askback.Todo
	Result         string // the result, or the last message
}

// player runs the commands of a transcript.
type player struct {
	t       *testing.T
	asks    []askback.Ask
	session askback.Session
	state   sessionState
}

// play runs one command and returns its result.
func (p *player) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "ask":
		return p.ask(rest)
	case "end":
		return p.end(rest)
	case "session":
		p.json(rest, &p.state)
		f := p.state
		p.session.Status, p.session.AsksTotal, p.session.CompletedAt, p.session.Todos = f.Status, f.QuestionsAsked,
			f.CompletedAt, f.Todos
		return ""
	case "respond":
		a, err := compat.Respond([]byte(rest), p.last())
		return p.answer(a, err)
	case "text":
		a, err := compat.Text(p.last(), p.unquote(rest))
		return p.answer(a, err)
	case "body":
		a, err := compat.ReadTextAnswer([]byte(rest))
		return p.format(a, err)
	case "questions":
		return p.format(p.last().Form(), nil)
	case "pending-question":
		return p.format(compat.PendingReply(p.open()), nil)
	case "latest":
		a, err := compat.OnlyOpenAsk(p.open())
		if err != nil {
			return p.format(compat.RejectedReply(err, a), nil)
		}
		return a.ID + "\n"
	case "submitted":
		return p.format(compat.SubmittedReply(), nil)
	case "settled-before":
		return p.format(compat.RejectedReply(askback.ErrSettled, p.last()), nil)
	case "rows":
		rows, err := compat.QuestionRows(p.asks)
		return p.format(rows, err)
	case "status":
		status, err := compat.QuestionStatus(rest)
		return p.format(status, err)
	case "resumed":
		return p.format(compat.ResumedReply(p.session.ID), nil)
	case "late":
		reply, err := compat.LateReply(p.last(), rest == "over")
		return p.format(reply, err)
	case "session-row":
		row, err := compat.SessionRow(p.session, p.state.Result)
		return p.format(row, err)
	case "resume-context":
		return compat.ResumeContext(p.session, p.asks) + "\n"
	case "strip":
		return fmt.Sprintf("%q\n", resumecontext.Strip(p.unquote(rest)))
	}
	p.t.Fatalf("unknown command %q", line)
	return ""
}

// ask adds an ask for a body of POST /asks. The ask is created a minute after the last ask.
func (p *player) ask(body string) string {
	r, err := decode.Request([]byte(body))
	if err == nil {
		r, err = r.Normalize()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	a := askback.Ask{
		ID: fmt.Sprintf("ask_%d", len(p.asks)+1), SessionID: p.session.ID, Agent: p.session.Agent,
		Kind: askback.Questions, Questions: r.Questions, Confirmation: r.Confirmation, Context: r.Context,
		Status: askback.Pending, CreatedAt: nine.Add(time.Duration(len(p.asks)) * time.Minute),
	}
	if r.Confirmation != nil {
		a.Kind = askback.Confirm
	}
	p.asks = append(p.asks, a)
	return ""
}

// end sets the outcome of the last ask.
func (p *player) end(outcome string) string {
	var o askback.Outcome
	p.json(outcome, &o)
	a := &p.asks[len(p.asks)-1]
	a.Outcome, a.Status = &o, o.Status
	return ""
}

func (p *player) last() askback.Ask { return p.asks[len(p.asks)-1] }

func (p *player) open() (out []askback.Ask) {
	for _, a := range p.asks {
		if !a.Settled() {
			out = append(out, a)
		}
	}
	return out
}

func (p *player) json(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
}

func (p *player) unquote(text string) (out string) {
	p.json(text, &out)
	return out
}

// format returns a reply as JSON, or the problems, one on each line.
func (p *player) format(v any, err error) string {
	var bad askback.Invalid
	var syntax *jcs.SyntaxError
	switch {
	case errors.As(err, &bad):
		var out strings.Builder
		for _, problem := range bad {
			out.WriteString("rejected: " + askback.Invalid{problem}.Error() + "\n")
		}
		return out.String()
	case errors.As(err, &syntax):
		return "syntax error: " + err.Error() + "\n"
	case err != nil:
		return "rejected: " + err.Error() + "\n"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// answer formats an answer, which must be valid, or its error.
func (p *player) answer(a askback.Answer, err error) string {
	if err != nil {
		return p.format(nil, err)
	}
	if again, err := a.Normalize(p.last()); err != nil || len(again.Answers) != len(a.Answers) {
		p.t.Errorf("got %v for %+v, want a valid answer", err, a)
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

func add(out *strings.Builder, label, text string) {
	if text != "" {
		fmt.Fprintf(out, "%s%q", label, text)
	}
}
