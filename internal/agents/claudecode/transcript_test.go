package claudecode_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/golden"
)

// Each file in testdata has transcripts: an event of Claude Code, the actions of people,
// "----", and the ask and the output of the hook (F4, F7, F9).
func TestHooksMatchTranscripts(t *testing.T) {
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
	p := &player{t: t}
	golden.Transcript(t, path, golden.Lines(p.play))
}

// A player runs the commands of a transcript.
type player struct {
	t   *testing.T
	ev  claudecode.Event
	ask askback.Ask
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func (p *player) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "event", "headless":
		return p.event(rest, "", word == "headless")
	case "started": // started as sdk-cli EVENT
		_, as, _ := strings.Cut(rest, " ")
		entrypoint, raw, _ := strings.Cut(as, " ")
		return p.event(raw, entrypoint, claudecode.IsHeadless(entrypoint))
	case "other":
		return format(decisionOf(p.read(rest), p.ask))
	case "output":
		return p.output()
	case "defer":
		return format(deferredBy(p.ev))
	case "ends":
		return fmt.Sprintln(claudecode.EndsAsk(p.read(rest), p.ask))
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
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "claude"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	case "default":
		o.Status, o.Actor, o.Defaulted, o.Answers = askback.Expired, askback.Actor{
			Kind: askback.ActorTimer,
		}, true, p.ask.Defaults()
	default:
		p.t.Fatalf("unknown command %q", line)
	}
	p.ask.Outcome, p.ask.Status = &o, o.Status
	return p.output()
}

func (p *player) read(raw string) claudecode.Event {
	ev, err := claudecode.Read([]byte(raw), "")
	if err != nil {
		p.t.Fatalf("%s: %v", raw, err)
	}
	return ev
}

func (p *player) event(raw, entrypoint string, headless bool) string {
	ev, err := claudecode.Read([]byte(raw), entrypoint)
	if err != nil {
		return "rejected: " + err.Error() + "\n"
	}
	ev.Headless = headless
	p.ev = ev
	r, ok := requestOf(ev)
	if !ok {
		return "no request\n"
	}
	p.ask = askback.Ask{
		ID: "ask_1", Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions,
		Confirmation: r.Confirmation, Context: r.Context, Status: askback.Pending, CreatedAt: nine,
	}
	var content any = r.Questions
	if r.Confirmation != nil {
		p.ask.Kind = askback.Confirm
		content = r.Confirmation
	}
	b, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	label := ""
	if r.Agent != claudecode.Name {
		label = r.Agent + " "
	}
	return fmt.Sprintf("%sasks %s\nin session %s, %q, context %s\n", label, b, r.SessionKey, r.Title, r.Context)
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

func (p *player) output() string { return format(decisionOf(p.ev, p.ask)) }

func format(out []byte, ok bool) string {
	if !ok {
		return "no decision\n"
	}
	return string(out) + "\n"
}
