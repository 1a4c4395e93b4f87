package agents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/wire/compat"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/test/kit/golden"
)

// transcripts returns the paths of the transcripts of the formats, by name. The transcripts of agents are in
// their folders.
func transcripts(t testing.TB) map[string]string {
	byName := map[string]string{}
	for _, pattern := range []string{"*/testdata/dialect/*.txt", "../wire/compat/testdata/clients/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			byName[strings.TrimSuffix(filepath.Base(path), ".txt")] = path
		}
	}
	return byName
}

// Each format has a transcript: the input of a tool, the actions of people, "----", and the results
// of the tool (A1, C1, F4, F9).
func TestDialectsMatchTranscripts(t *testing.T) {
	paths := transcripts(t)
	for _, client := range agents.Dialects() {
		t.Run(client.Name, func(t *testing.T) {
			p := &clientPlayer{t: t, client: client}
			golden.Transcript(t, paths[client.Name], golden.Lines(p.play))
		})
		delete(paths, client.Name)
	}
	if len(paths) > 0 {
		t.Errorf("transcripts of unknown formats: %v", paths)
	}
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

// A clientPlayer runs the commands of a transcript for one client.
type clientPlayer struct {
	t      *testing.T
	client compat.Client
	input  compat.Input
	asks   []askback.Ask
}

func (p *clientPlayer) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	of := 0
	if word == "second" { // the second of the asks that the input makes
		of = 1
		word, rest, _ = strings.Cut(rest, " ")
	}
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "ask":
		return p.start([]byte(rest))
	case "result":
		p.asks[of].Outcome, p.asks[of].Status = nil, askback.Pending
		return p.result(p.input.Result(p.asks))
	case "answer":
		o = p.answer(p.asks[of], o, rest)
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "bot"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	case "default":
		o.Status, o.Actor, o.Defaulted, o.Answers = askback.Expired, askback.Actor{
			Kind: askback.ActorTimer,
		}, true, p.asks[of].Defaults()
	default:
		p.t.Fatalf("unknown command %q", line)
	}
	p.asks[of].Outcome, p.asks[of].Status = &o, o.Status
	return p.result(p.input.Result(p.asks))
}

func (p *clientPlayer) start(raw []byte) string {
	input, err := p.client.Read(raw)
	if err != nil {
		return "rejected: " + err.Error() + "\n"
	}
	p.input, p.asks = input, nil
	text := ""
	for i, call := range input.Calls {
		r := call.Request
		ask := askback.Ask{
			ID: fmt.Sprint("ask_", i+1), Kind: askback.Questions, Questions: r.Questions, Confirmation: r.Confirmation,
			Status: askback.Pending, CreatedAt: nine,
		}
		var out []byte
		if r.Confirmation != nil {
			ask.Kind = askback.Confirm
			out, err = json.Marshal(r.Confirmation)
		} else {
			out, err = json.Marshal(r.Questions)
		}
		p.asks = append(p.asks, ask)
		text += p.result(out, err)
		for _, p := range r.Warnings {
			text += "warning: " + askback.Invalid{p}.Error() + "\n"
		}
		if len(r.Context) > 0 {
			text += "context: " + string(r.Context) + "\n"
		}
		if !r.Deadline.IsZero() {
			text += "deadline: " + r.Deadline.Format(time.RFC3339) + "\n"
		}
	}
	return text
}

// answer returns the outcome with the answer of a person, as the engine would store it.
func (p *clientPlayer) answer(ask askback.Ask, o askback.Outcome, body string) askback.Outcome {
	a, err := decode.Answer([]byte(body))
	if err == nil {
		a, err = a.Normalize(ask)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", body, err)
	}
	o.Status, o.Answers, o.Comment, o.Decision, o.Input, o.Reason = askback.Answered, a.Answers, a.Comment, a.Decision,
		a.Input, a.Reason
	return o
}

// result formats a result of the tool, or its error.
func (p *clientPlayer) result(b []byte, err error) string {
	u, ok := errors.AsType[*compat.Unanswered](err)
	switch {
	case ok:
		return string(u.Status) + ": " + u.Error() + "\n"
	case err != nil:
		return "rejected: " + err.Error() + "\n"
	}
	return string(b) + "\n"
}

// The text of a Mistake has at most 400 characters, and its example is valid (F15).
func TestMistakeEndsWithAValidExample(t *testing.T) {
	long := strings.Repeat("ä", 20_000)
	inputs := []string{
		"", "null", "[]", "7", "{", `{"questions": null}`, `{"questions": [7]}`, `{"questions": []}`,
		`{"questions": [{"question": "A?", "options": ["a"]}]}`,
		`{"questions": [{"question": ` + `"` + long + `"}]}`, `{"question": 5, "` + long + `": 1}`,
		`{"action_request": {}}`, "\xff",
		`{"questions": [{"question": "A?", "options": "` + long +
			`", "choices": [{"id": 1}], "header": {}, "type": "x", "id": []}]}`,
	}
	for _, c := range agents.Dialects() {
		name := c.Name
		for _, input := range inputs {
			_, err := c.Ask([]byte(input))
			m, ok := errors.AsType[*compat.Mistake](err)
			if !ok {
				t.Errorf("%s: %.80q: got %v, want a Mistake", name, input, err)
				continue
			}
			if n := utf8.RuneCountInString(m.Error()); n > 400 || !utf8.ValidString(m.Error()) {
				t.Errorf("%s: %d characters: %s", name, n, m)
			}
			_, example, _ := strings.Cut(m.Error(), " Example: ")
			if call, err := c.Ask([]byte(example)); err != nil || len(call.Request.Warnings) > 0 {
				t.Errorf("%s: the example of %q: %v, %v", name, m, err, call.Request.Warnings)
			}
		}
	}
}

// No input causes a panic, and accepted input is a valid request (T5).
func FuzzClients(f *testing.F) {
	for _, path := range transcripts(f) {
		stanzas, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(stanzas) {
			if raw, ok := bytes.CutPrefix(line, []byte("ask ")); ok {
				f.Add(raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, c := range agents.Dialects() {
			name := c.Name
			in, err := c.Read(raw)
			if err != nil {
				if utf8.RuneCountInString(err.Error()) > 400 {
					t.Errorf("%s: %s", name, err)
				}
				continue
			}
			for _, call := range in.Calls {
				if _, err := call.Request.Normalize(); err != nil {
					t.Errorf("%s: %q is rejected: %v", name, raw, err)
				}
				checkEveryAnswer(t, name, call)
			}
			checkApprovals(t, name, raw, in)
		}
	})
}

// consent matches a result that a client takes for an approval.
var consent = regexp.MustCompile(
	`"approved":true|"payload":true|"confirmed":true|"type":"(approve|accept|edit)"|^true$|Yes, proceed`,
)

// checkApprovals requires that the results of outcomes without an approval do not look like an approval to
// the client. It does nothing unless all calls of the input are confirmations.
func checkApprovals(t *testing.T, name string, raw []byte, in compat.Input) {
	var asks []askback.Ask
	for _, call := range in.Calls {
		if call.Request.Confirmation == nil {
			return
		}
		asks = append(asks, askback.Ask{Kind: askback.Confirm, Confirmation: call.Request.Confirmation})
	}
	for _, o := range []askback.Outcome{
		{Status: askback.Answered, Decision: askback.Deny},
		{Status: askback.Declined},
		{Status: askback.Cancelled},
		{Status: askback.Expired},
		{Status: askback.Expired, Defaulted: true},
	} {
		for i := range asks {
			asks[i].Status, asks[i].Outcome = o.Status, &o
		}
		if out, err := in.Result(asks); err == nil && consent.Match(out) && !consent.Match(raw) {
			t.Errorf("%s: %q: the outcome %+v is %s", name, raw, o, out)
		}
	}
}

// checkEveryAnswer answers each question with notes and, if the question permits a text, with a text. It
// requires that the result contains these notes and texts, and the comment. It does nothing for
// confirmations.
func checkEveryAnswer(t *testing.T, name string, call compat.Call) {
	ask := askback.Ask{Kind: askback.Questions, Questions: call.Request.Questions, Status: askback.Answered}
	o := askback.Outcome{Status: askback.Answered, Comment: "the comment"}
	ask.Outcome = &o
	if call.Request.Confirmation != nil {
		return
	}
	var notes []string
	for _, q := range ask.Questions {
		notes = append(notes, "note of "+q.ID)
		a := askback.QuestionAnswer{ID: q.ID, Question: q.Text, Notes: notes[len(notes)-1], Other: "words of " + q.ID}
		if q.NoOther {
			a.Other, a.Selected = "", []string{q.Options[0].Label}
		} else {
			notes = append(notes, a.Other)
		}
		o.Answers = append(o.Answers, a)
	}
	out, err := call.Result(ask)
	if u, ok := errors.AsType[*compat.Unanswered](err); ok && strings.Contains(u.Error(), "is not of the type") {
		return // a text is not a number
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := jcs.Parse(out); err != nil {
		t.Errorf("%s: %s: %v", name, out, err)
	}
	for _, want := range append(notes, "the comment") {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s: %s lacks %q", name, out, want)
		}
	}
}

// Result matches answers to the client's questions by position. It therefore rejects an ask with other
// questions.
func TestResultOfAnotherAskIsRejected(t *testing.T) {
	call, err := codex.Dialect.Ask([]byte(`{"questions": [{"id": "a", "question": "A?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	other := askback.Ask{
		Kind: askback.Questions, Status: askback.Answered, Questions: []askback.Question{{ID: "q1", Text: "B?"}},
		Outcome: &askback.Outcome{Status: askback.Answered},
	}
	if out, err := call.Result(other); err == nil {
		t.Errorf("got %s", out)
	}
}
