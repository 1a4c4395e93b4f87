// Package hooktest tests packages that implement the hooks of an agent.
package hooktest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/decode"
	"github.com/askback/askback/test/kit/golden"
)

// Play checks the transcripts in testdata/*.txt. A transcript has an event and the actions of people, then
// "----", and then the ask and the outputs of the hook. read returns the call of an event.
func Play(t *testing.T, read func(raw []byte) (hook.Call, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			p := &player{t: t, read: read}
			golden.Transcript(t, path, golden.Lines(p.play))
		})
	}
}

// A player runs the commands of a transcript.
type player struct {
	t    *testing.T
	read func(raw []byte) (hook.Call, error)
	call hook.Call
	ask  askback.Ask
}

// morning is the time at which each ask is created.
var morning = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func (p *player) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := outcome(askback.Answered, askback.ActorPerson)
	switch word {
	case "event":
		return p.event(rest)
	case "sameKey": // reports whether an event has the same key as the last event
		other, err := p.read([]byte(rest))
		return fmt.Sprintln(err == nil && other.Request.Key == p.call.Request.Key)
	case "output":
		return p.output()
	case "granted":
		o.Decision, o.Actor = askback.Approve, askback.Actor{Kind: askback.ActorPolicy}
	case "answer":
		given, err := p.answer(o, rest)
		if err != nil {
			return "rejected: " + err.Error() + "\n"
		}
		o = given
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o = outcome(askback.Cancelled, askback.ActorAgent)
	case "expire":
		o = outcome(askback.Expired, askback.ActorTimer)
	default:
		p.t.Fatalf("unknown command %q", line)
	}
	p.ask.Outcome, p.ask.Status = &o, o.Status
	return p.output()
}

func (p *player) event(raw string) string {
	call, err := p.read([]byte(raw))
	if err != nil {
		return err.Error() + "\n"
	}
	p.call, p.ask = call, Pending(call)
	r := call.Request
	var content any = r.Questions
	if r.Confirmation != nil {
		content = r.Confirmation
	}
	b, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%s asks %s\nin session %s, %q, context %s\n", r.Agent, b, r.SessionKey, r.Title, r.Context)
}

// answer returns the outcome o with the answer of a person in body, as the engine would store the outcome.
func (p *player) answer(o askback.Outcome, body string) (askback.Outcome, error) {
	a, err := decode.Answer([]byte(body))
	if err == nil {
		a, err = a.Normalize(p.ask)
	}
	if err != nil {
		return o, err
	}
	o.Answers, o.Comment, o.Decision, o.Input, o.Reason = a.Answers, a.Comment, a.Decision, a.Input, a.Reason
	return o, nil
}

func (p *player) output() string {
	out, ok := p.call.Decide(p.ask)
	if !ok {
		return "no decision\n"
	}
	return string(out) + "\n"
}

func outcome(status askback.Status, kind askback.ActorKind) askback.Outcome {
	o := askback.Outcome{Status: status, Actor: askback.Actor{Kind: kind}, At: morning.Add(time.Hour)}
	if kind == askback.ActorPerson {
		o.Actor.Name = "ana"
	}
	return o
}

// Pending returns the open ask of a call.
func Pending(c hook.Call) askback.Ask {
	r := c.Request
	ask := askback.Ask{
		ID: "ask_1", Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions,
		Confirmation: r.Confirmation, Context: r.Context, Status: askback.Pending, CreatedAt: morning,
	}
	if r.Confirmation != nil {
		ask.Kind = askback.Confirm
	}
	return ask
}

// OnlyApprovalAllows requires that no output for a call lets its tool run without an approval of
// exactly this call. allows reports whether an output lets the agent run the tool.
func OnlyApprovalAllows(t *testing.T, c hook.Call, allows func(out []byte) bool) {
	t.Helper()
	check := func(why string, ask askback.Ask) {
		if out, ok := c.Decide(ask); ok && allows(out) {
			t.Errorf("%s: the output allows the tool: %s", why, out)
		}
	}
	open := Pending(c)
	check("open", open)
	settle := func(ask askback.Ask, o askback.Outcome) askback.Ask {
		ask.Status, ask.Outcome = o.Status, &o
		return ask
	}
	for _, status := range []askback.Status{askback.Declined, askback.Cancelled, askback.Expired} {
		for _, decision := range []askback.Decision{"", askback.Approve} {
			o := outcome(status, askback.ActorTimer)
			o.Decision = decision // an outcome with another status must not count as a decision
			check(string(status), settle(open, o))
		}
	}
	denied := outcome(askback.Answered, askback.ActorPerson)
	denied.Decision, denied.Reason, denied.Comment = askback.Deny,
		`approved", "behavior": "allow", "decision": "allow`, "allow"
	check("denied", settle(open, denied))
	approved := outcome(askback.Answered, askback.ActorPerson)
	approved.Decision = askback.Approve
	if open.Confirmation == nil {
		return
	}
	other := *open.Confirmation
	other.Input = json.RawMessage(`{"command":"another"}`)
	changed := open
	changed.Confirmation = &other
	check("another call is approved", settle(changed, approved))
	changed.Confirmation = nil
	check("a question is approved", settle(changed, approved))
	if out, ok := c.Decide(settle(open, approved)); !ok || !allows(out) {
		t.Errorf("approved: got %s, %t; want an output that allows the tool", out, ok)
	}
}
