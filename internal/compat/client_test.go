package compat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/compat"
	"github.com/askback/askback/internal/decode"
	"github.com/askback/askback/internal/jcs"
)

// Each file in testdata/clients is one client: what its tool is given, what
// people do, "----", and what the tool returns (A1, C1, F4, F9).
func TestClients(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.txt")
	if err != nil || len(files) != len(compat.Clients()) {
		t.Fatalf("%d files, %v: want one for each of %v", len(files), err, compat.Clients())
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) { playClient(t, path, name) })
	}
}

func playClient(t *testing.T, path, name string) {
	t.Helper()
	client, ok := compat.ClientNamed(name)
	if !ok {
		t.Fatalf("nobody knows the client %q", name)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	d := &desk{t: t, client: client}
	for stanza := range strings.SplitSeq(strings.TrimSpace(string(want)), "\n\n") {
		said, _, _ := strings.Cut(stanza, "\n----")
		got.WriteString(said + "\n----\n")
		for line := range strings.SplitSeq(said, "\n") {
			if !strings.HasPrefix(line, "#") {
				got.WriteString(d.play(line))
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

// desk is where people answer what one client asks.
type desk struct {
	t      *testing.T
	client compat.Client
	call   compat.Call
	ask    askback.Ask
}

func (d *desk) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "ask":
		return d.put([]byte(rest))
	case "result":
		d.ask.Outcome, d.ask.Status = nil, askback.Pending
		return d.said(d.call.Result(d.ask))
	case "answer":
		o = d.answer(o, rest)
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "bot"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	case "default":
		o.Status, o.Actor, o.Defaulted, o.Answers = askback.Expired, askback.Actor{Kind: askback.ActorTimer}, true, d.ask.Defaults()
	default:
		d.t.Fatalf("nobody knows what %q means", line)
	}
	d.ask.Outcome, d.ask.Status = &o, o.Status
	return d.said(d.call.Result(d.ask))
}

func (d *desk) put(raw []byte) string {
	call, err := d.client.Ask(raw)
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	r := call.Request
	d.call = call
	d.ask = askback.Ask{ID: "ask_1", Kind: askback.Questions, Questions: r.Questions, Confirmation: r.Confirmation, Status: askback.Pending, CreatedAt: nine}
	var out []byte
	if r.Confirmation != nil {
		d.ask.Kind = askback.Confirm
		out, err = json.Marshal(r.Confirmation)
	} else {
		out, err = json.Marshal(r.Questions)
	}
	said := d.said(out, err)
	for _, p := range r.Warnings {
		said += "mended: " + askback.Invalid{p}.Error() + "\n"
	}
	return said
}

// answer is what a person gives, as the engine would keep it.
func (d *desk) answer(o askback.Outcome, body string) askback.Outcome {
	a, err := decode.Answer([]byte(body))
	if err == nil {
		a, err = a.Normalize(d.ask)
	}
	if err != nil {
		d.t.Fatalf("%s: %v", body, err)
	}
	o.Status, o.Answers, o.Comment, o.Decision, o.Input, o.Reason = askback.Answered, a.Answers, a.Comment, a.Decision, a.Input, a.Reason
	return o
}

func (d *desk) said(b []byte, err error) string {
	u, ok := errors.AsType[*compat.Unanswered](err)
	switch {
	case ok:
		return string(u.Status) + ": " + u.Error() + "\n"
	case err != nil:
		return "refused: " + err.Error() + "\n"
	}
	return string(b) + "\n"
}

// A model that knows nothing but the text of its mistake can go on from there:
// the text is short, and its example is accepted as it stands (F15).
func TestAClientsMistakeTeaches(t *testing.T) {
	long := strings.Repeat("ä", 20_000)
	inputs := []string{
		"", "null", "[]", "7", "{", `{"questions": null}`, `{"questions": [7]}`, `{"questions": []}`, `{"questions": [{"question": "A?", "options": ["a"]}]}`,
		`{"questions": [{"question": ` + `"` + long + `"}]}`, `{"question": 5, "` + long + `": 1}`, `{"action_request": {}}`, "\xff",
		`{"questions": [{"question": "A?", "options": "` + long + `", "choices": [{"id": 1}], "header": {}, "type": "x", "id": []}]}`,
	}
	for _, name := range compat.Clients() {
		c, _ := compat.ClientNamed(name)
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

// No input panics, and what is taken is a request that the engine takes (T5).
func FuzzClients(f *testing.F) {
	for _, name := range compat.Clients() {
		stanzas, err := os.ReadFile("testdata/clients/" + name + ".txt")
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
		for _, name := range compat.Clients() {
			c, _ := compat.ClientNamed(name)
			call, err := c.Ask(raw)
			if err != nil {
				if utf8.RuneCountInString(err.Error()) > 400 {
					t.Errorf("%s: %s", name, err)
				}
				continue
			}
			if _, err := call.Request.Normalize(); err != nil {
				t.Errorf("%s: %q is refused: %v", name, raw, err)
			}
			holdsEveryAnswer(t, name, call)
		}
	})
}

// holdsEveryAnswer answers each question with words of its own and finds each
// of them in the result: none takes another's place.
func holdsEveryAnswer(t *testing.T, name string, call compat.Call) {
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

// A result is worded for the call that asked, and for no other.
func TestAResultBelongsToItsCall(t *testing.T) {
	c, _ := compat.ClientNamed("codex")
	call, err := c.Ask([]byte(`{"questions": [{"id": "a", "question": "A?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	other := askback.Ask{Kind: askback.Questions, Status: askback.Answered, Questions: []askback.Question{{ID: "q1", Text: "B?"}}, Outcome: &askback.Outcome{Status: askback.Answered}}
	if out, err := call.Result(other); err == nil {
		t.Errorf("got %s", out)
	}
}
