package claudehook_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/decode"
)

var update = flag.Bool("update", false, "rewrite the dialogues with what happens now")

// Each file in testdata is a dialogue: an event of Claude Code, what people do,
// "----", and what the hook asks and prints (F4, F7, F9).
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
	d := &desk{t: t}
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

// desk is where people answer what one event asks.
type desk struct {
	t   *testing.T
	ev  claudehook.Event
	ask askback.Ask
}

var nine = time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)

func (d *desk) play(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	o := askback.Outcome{Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: nine.Add(time.Hour)}
	switch word {
	case "event", "headless":
		return d.event(rest, "", word == "headless")
	case "started": // started as sdk-cli EVENT
		_, as, _ := strings.Cut(rest, " ")
		entrypoint, raw, _ := strings.Cut(as, " ")
		return d.event(raw, entrypoint, claudehook.Headless(entrypoint))
	case "other":
		return said(claudehook.Decision(d.read(rest), d.ask))
	case "output":
		return d.output()
	case "defer":
		return said(claudehook.Defer(d.ev))
	case "retires":
		return fmt.Sprintln(claudehook.Retires(d.read(rest), d.ask))
	case "granted":
		o.Status, o.Decision, o.Actor = askback.Answered, askback.Approve, askback.Actor{Kind: askback.ActorPolicy}
	case "answer":
		given, err := d.answer(o, rest)
		if err != nil {
			return "refused: " + err.Error() + "\n"
		}
		o = given
	case "decline":
		o.Status, o.Reason = askback.Declined, rest
	case "cancel":
		o.Status, o.Actor = askback.Cancelled, askback.Actor{Kind: askback.ActorAgent, Name: "claude"}
	case "expire":
		o.Status, o.Actor = askback.Expired, askback.Actor{Kind: askback.ActorTimer}
	case "default":
		o.Status, o.Actor, o.Defaulted, o.Answers = askback.Expired, askback.Actor{Kind: askback.ActorTimer}, true, d.ask.Defaults()
	default:
		d.t.Fatalf("nobody knows what %q means", line)
	}
	d.ask.Outcome, d.ask.Status = &o, o.Status
	return d.output()
}

func (d *desk) read(raw string) claudehook.Event {
	ev, err := claudehook.Read([]byte(raw), "")
	if err != nil {
		d.t.Fatalf("%s: %v", raw, err)
	}
	return ev
}

func (d *desk) event(raw, entrypoint string, headless bool) string {
	ev, err := claudehook.Read([]byte(raw), entrypoint)
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	ev.Headless = headless
	d.ev = ev
	r, ok := claudehook.Request(ev)
	if !ok {
		return "asks nothing\n"
	}
	d.ask = askback.Ask{
		ID: "ask_1", Agent: r.Agent, Kind: askback.Questions, Title: r.Title, Questions: r.Questions, Confirmation: r.Confirmation,
		Context: r.Context, Status: askback.Pending, CreatedAt: nine,
	}
	var what any = r.Questions
	if r.Confirmation != nil {
		d.ask.Kind = askback.Confirm
		what = r.Confirmation
	}
	b, err := json.Marshal(what)
	if err != nil {
		d.t.Fatal(err)
	}
	by := ""
	if r.Agent != claudehook.ClaudeCode {
		by = r.Agent + " "
	}
	return fmt.Sprintf("%sasks %s\nin session %s, %q, beside it %s\n", by, b, r.SessionKey, r.Title, r.Context)
}

// answer is what a person gives, as the engine would keep it.
func (d *desk) answer(o askback.Outcome, body string) (askback.Outcome, error) {
	a, err := decode.Answer([]byte(body))
	if err == nil {
		a, err = a.Normalize(d.ask)
	}
	if err != nil {
		return o, err
	}
	o.Status, o.Answers, o.Comment, o.Decision, o.Input, o.Reason = askback.Answered, a.Answers, a.Comment, a.Decision, a.Input, a.Reason
	return o, nil
}

func (d *desk) output() string { return said(claudehook.Decision(d.ev, d.ask)) }

func said(out []byte, ok bool) string {
	if !ok {
		return "no decision\n"
	}
	return string(out) + "\n"
}
