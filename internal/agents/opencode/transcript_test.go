package opencode_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/opencode"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/golden"
)

// Each file in testdata has transcripts: an event of OpenCode, the actions of people, "----",
// and the ask and the replies (F9).
func TestRepliesMatchTranscripts(t *testing.T) {
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
	ev  opencode.Event
	ask askback.Ask
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func (p *player) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "event":
		return p.event(rest)
	case "other": // the reply to another event, with the same outcome
		ev, err := opencode.Read([]byte(rest))
		if err != nil {
			p.t.Fatal(err)
		}
		return format(opencode.Decide(ev, p.ask))
	case "pending":
		return format(opencode.Decide(p.ev, p.ask))
	case "granted":
		o.Status, o.Decision, o.Actor = askback.Answered, askback.Approve, askback.Actor{Kind: askback.ActorPolicy}
	case "answer":
		a, err := decode.Answer([]byte(rest))
		if err == nil {
			a, err = a.Normalize(p.ask)
		}
		if err != nil {
			return "rejected: " + err.Error() + "\n"
		}
		o.Status, o.Answers, o.Comment, o.Decision, o.Input, o.Reason = askback.Answered, a.Answers, a.Comment,
			a.Decision, a.Input, a.Reason
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "local"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	default:
		p.t.Fatalf("unknown command %q", line)
	}
	p.ask.Outcome, p.ask.Status = &o, o.Status
	return format(opencode.Decide(p.ev, p.ask))
}

func (p *player) event(raw string) string {
	ev, err := opencode.Read([]byte(raw))
	if err != nil {
		return "rejected: " + err.Error() + "\n"
	}
	call, err := opencode.Call(ev)
	if err != nil {
		return "no request: " + err.Error() + "\n"
	}
	r := call.Request
	p.ev, p.ask = ev, pending(r)
	var content any = r.Questions
	if r.Confirmation != nil {
		content = r.Confirmation
	}
	b, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%s asks %s\nin session %s, context %s\n", r.Agent, b, r.SessionKey, r.Context)
}

// pending returns the ask of a request, as the engine would store it.
func pending(r askback.Request) askback.Ask {
	a := askback.Ask{
		ID: "ask_1", Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions,
		Confirmation: r.Confirmation, Context: r.Context, Status: askback.Pending, CreatedAt: nine,
	}
	if r.Confirmation != nil {
		a.Kind = askback.Confirm
	}
	return a
}

func format(r opencode.Reply, ok bool) string {
	if !ok {
		return "no reply\n"
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err.Error() + "\n"
	}
	return string(b) + "\n"
}
