package codex_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/golden"
)

// Each file in testdata has transcripts: an event of Codex, the actions of people, "----",
// and the ask and the output of the hook (F9).
func TestHooksMatchTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			p := &player{t: t}
			golden.Transcript(t, path, golden.Lines(p.play))
		})
	}
}

// A player runs the commands of a transcript.
type player struct {
	t   *testing.T
	ev  codex.Event
	ask askback.Ask
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func (p *player) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "event":
		return p.event(rest)
	case "older": // the ask has the context of an older version
		p.ask.Context = json.RawMessage(rest)
		return ""
	case "output":
		return p.output()
	case "ends":
		ev, err := codex.Read([]byte(rest))
		if err != nil {
			return "rejected: " + err.Error() + "\n"
		}
		return fmt.Sprintln(codex.EndsAsk(ev, p.ask))
	case "granted":
		o.Status, o.Decision, o.Actor = askback.Answered, askback.Approve, askback.Actor{Kind: askback.ActorPolicy}
	case "answer":
		given, err := p.answer(o, rest)
		if err != nil {
			return "rejected: " + err.Error() + "\n"
		}
		o = given
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "codex"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	default:
		p.t.Fatalf("unknown command %q", line)
	}
	p.ask.Outcome, p.ask.Status = &o, o.Status
	return p.output()
}

func (p *player) event(raw string) string {
	ev, err := codex.Read([]byte(raw))
	if err != nil {
		return "rejected: " + err.Error() + "\n"
	}
	p.ev = ev
	without, with := codex.Asks(ev, false), codex.Asks(ev, true)
	r, ok := requestOf(ev)
	if !ok {
		return fmt.Sprintf("asks %t, as a gate %t; no request\n", without, with)
	}
	p.ask = askOf(r)
	var content any = r.Questions
	if r.Confirmation != nil {
		content = r.Confirmation
	}
	b, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("asks %t, as a gate %t: %s %s\nin session %s, context %s\n", without, with, r.Agent, b,
		r.SessionKey, r.Context)
}

// askOf returns the ask that the engine would create for a request.
func askOf(r askback.Request) askback.Ask {
	ask := askback.Ask{
		ID: "ask_1", Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions,
		Confirmation: r.Confirmation, Context: r.Context, Status: askback.Pending, CreatedAt: nine,
	}
	if r.Confirmation != nil {
		ask.Kind = askback.Confirm
	}
	return ask
}

// answer returns the outcome with the answer of a person, as the engine would store it.
func (p *player) answer(o askback.Outcome, body string) (askback.Outcome, error) {
	a, err := decode.Answer([]byte(body))
	if err == nil {
		a, err = a.Normalize(p.ask)
	}
	if err != nil {
		return o, err
	}
	o.Status, o.Answers, o.Comment, o.Decision, o.Input, o.Reason = askback.Answered, a.Answers, a.Comment, a.Decision,
		a.Input, a.Reason
	return o, nil
}

func (p *player) output() string {
	out, ok := decisionOf(p.ev, p.ask)
	if !ok {
		return "no decision\n"
	}
	return string(out) + "\n"
}
