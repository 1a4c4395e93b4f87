package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// everywhere puts text into every field of an ask that an agent fills, and into every one
// that a person does, so often where there can be several. Each field may have its own.
func everywhere(several int, word func() string) (questions, confirmation, settled askback.Ask) {
	words := func() (all []string) {
		for range several {
			all = append(all, word())
		}
		return all
	}
	base := askback.Ask{
		ID: "ask_1", Agent: word(), Owner: "token " + word(), Path: words(), To: words(), Tags: words(), Title: word(),
		Context: quoted(word()), Deadline: noon, OnTimeout: askback.OnTimeoutDecline,
		Warnings: []askback.Problem{{Pointer: word(), Detail: word(), Fix: word()}},
	}
	questions, confirmation = base, base
	for range several {
		q := askback.Question{Text: word(), Header: word(), Default: []string{word()}, Optional: true}
		for i := range several {
			q.Options = append(q.Options, askback.Option{Label: fmt.Sprint("choice ", i) + word(), Description: word(), Preview: word()})
		}
		questions.Questions = append(questions.Questions, q)
	}
	key, _ := json.Marshal(word())
	confirmation.Context = json.RawMessage(fmt.Sprintf(`{%s:%s}`, key, quoted(word())))
	confirmation.Confirmation = &askback.Confirmation{
		ToolName: word(), Server: word(), Description: word(), InputPreview: word(), Context: word(),
		Input: json.RawMessage(fmt.Sprintf(`{%s:%s,"n":[%s]}`, key, quoted(word()), quoted(word()))),
	}
	settled = askback.Ask{ID: "ask_2", Agent: "bot", Questions: []askback.Question{{Text: "What?"}}}
	settled.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, Channel: askback.ChannelWeb, At: noon, Comment: word(), Reason: word(), Input: confirmation.Confirmation.Input,
	}
	for range several + 1 { // one alone may stand beside our sentence, on its row
		settled.Outcome.Answers = append(settled.Outcome.Answers, askback.QuestionAnswer{Question: word(), Selected: []string{word()}, Other: word(), Notes: word()})
	}
	return questions, confirmation, settled
}

// quoted is a JSON string in which every character stands as it is, where it can.
func quoted(s string) json.RawMessage {
	return json.RawMessage(`"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`).Replace(s) + `"`)
}

// everything draws all that this door would draw of an ask.
func everything(t failer, v view.Ask, width int) string {
	options := &terminal.Options{Human: true, Style: true, Width: func() int { return width }, Zone: time.UTC}
	var out bytes.Buffer
	p := terminal.New(&typist{":skip\n:decline\n", &out}, &out, options)
	if v.Outcome != nil {
		if err := errors.Join(terminal.Show(&out, v, options), p.Settled(v)); err != nil {
			t.Fatalf("show: %v", err)
		}
		return out.String()
	}
	if _, err := p.Ask(context.Background(), v); err != nil {
		t.Fatalf("ask: %v", err)
	}
	return out.String()
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ourBytes are all that this door writes beside characters.
var ourBytes = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[4m", "", "\r\x1b[K", "")

// staysInside draws an ask with text of an agent and one with harmless text of the same
// kind, on a terminal as wide: all that is not the agent's must be the same (T8, T10). No
// byte is drawn that a terminal obeys, but ours. So a plain grid shows what every terminal
// does; an emulator that obeys all it is told must come to the same, for the kinds given.
func staysInside(t failer, width, several int, emulate func(kind int) bool, word func() string) {
	t.Helper()
	q, c, s := everywhere(several, word)
	for kind, a := range []askback.Ask{q, c, s} {
		hostile := view.Of(a)
		drawn := everything(t, hostile, width)
		naked := ourBytes.Replace(drawn)
		if i := strings.IndexFunc(naked, isControl); i >= 0 || !utf8.ValidString(naked) {
			t.Fatalf("a control was drawn at %d of %q", i, naked)
		}
		unchanged(t, typeset(naked, width), harmless{kind, width, several, hostile.Hidden, false})
		if !emulate(kind) {
			continue
		}
		got := show(drawn, width)
		if got.vt.Title() != title || got.asked.Len() > 0 {
			t.Fatalf("the title is %q, and the terminal was made to say %q", got.vt.Title(), got.asked.String())
		}
		unchanged(t, got, harmless{kind, width, several, hostile.Hidden, true})
	}
}

func always(int) bool { return true }

func isControl(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r <= 0x9f) }

func unchanged(t failer, got *console, want harmless) {
	ours := got.ours()
	if slices.Equal(want.ours(t, 40), ours) || slices.Equal(want.ours(t, 0), ours) {
		return
	}
	t.Fatalf("%d columns: what is ours was changed (-want +got):\n%s\n%s", want.width, cmp.Diff(want.ours(t, 40), ours), cmp.Diff(want.ours(t, 0), ours))
}

// harmless is a drawing to compare with.
type harmless struct {
	kind, width, several int
	hidden, emulated     bool
}

var quiet sync.Map // the harmless drawings are always the same

// ours is what is ours of it, with so many words more: below a long call the tool is named
// again.
func (h harmless) ours(t failer, words int) []string {
	key := fmt.Sprint(h, words)
	if known, ok := quiet.Load(key); ok {
		return known.([]string)
	}
	text := "x" + strings.Repeat(" harmless", words)
	if h.hidden {
		text += "\a"
	}
	q, c, s := everywhere(h.several, func() string { return text })
	drawn := everything(t, view.Of([]askback.Ask{q, c, s}[h.kind]), h.width)
	on := typeset(ourBytes.Replace(drawn), h.width)
	if h.emulated {
		on = show(drawn, h.width)
	}
	quiet.Store(key, on.ours())
	return on.ours()
}

var widths = []int{80, 50, 24, 16}

// T8, T10, D1, F7: each of the 1 114 112 code points, surrogates as the bytes that some
// programs write for them, in every field, on a terminal that is narrow or wide by turns.
// The emulator sees each of them too, above the letters only in one kind of ask. In short
// mode, as under the race detector, each sixty-fourth batch stands for the others.
func TestNoCodePointLeavesTheFrame(t *testing.T) {
	const batch, parts = 2048, 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for n := part; n < (unicode.MaxRune+1)/batch; n += parts {
				if testing.Short() && n/parts%64 != 0 {
					continue
				}
				text := batchOf(rune(n*batch), batch)
				emulate := func(kind int) bool { return n*batch < 0x3000 || n%3 == kind }
				staysInside(t, widths[n/parts%len(widths)], 1, emulate, func() string { return text })
			}
		})
	}
}

func batchOf(first rune, size int) string {
	var b strings.Builder
	for r := first; r < first+rune(size); r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			b.Write([]byte{0xED, 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Whoever looks later sees that the answer does not only wait (F6).
func TestShowSaysThatTheAgentHasIt(t *testing.T) {
	a := one(askback.Question{})
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: noon,
		Answers: []askback.QuestionAnswer{{Other: "yes"}},
	}
	for _, received := range []time.Time{{}, noon.Add(2 * time.Hour)} {
		a.AckedAt = received
		var out bytes.Buffer
		if err := terminal.Show(&out, view.Of(a), &terminal.Options{Zone: time.UTC}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "The agent has it since "); got == received.IsZero() {
			t.Errorf("received at %v: got\n%s", received, out.String())
		}
	}
}
