package terminal_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// sentences are typed by a person who does not look at the panel.
var sentences = []string{
	"say it again, please add a day and 1 2 3\n",
	"a day later, yes\n",
	"yes, and delete it\n",
	"d\n1\ny\n",
	"   \x7f\x7f\x7fapprove\n",
}

// gaps are the times between two keys, of people who type fast and of people who type slowly.
var gaps = []time.Duration{0, 20, 60, 125, 300, 450, 700, 1000, 1500}

// A text that a person began before a panel appeared decides nothing, at any speed of typing. The panel
// explains this in one sentence, and works after a pause (C3, C5, F7).
func TestTextBegunBeforeAPanelDecidesNothing(t *testing.T) {
	asks := map[string]askback.Ask{
		"question": databaseAsk(), "text": questionAsk(askback.Question{}), "call": harmlessCall(),
		"danger": deletionCall(),
		"many": questionAsk(askback.Question{
			Options: askback.Options("alpha", "beta", "day", "gamma", "please", "yes"),
		}),
	}
	for name, ask := range asks {
		for _, gap := range gaps {
			for _, text := range sentences {
				t.Run(fmt.Sprint(name, gap*time.Millisecond, text[:3]), func(t *testing.T) {
					p := terminal.OpenTestPanelAfter(view.Of(ask), terminal.Options{Human: true, Style: true}, true)
					p.Pass(gap * time.Millisecond)
					p.Type(gap*time.Millisecond, text)
					if r := p.Result(); r != nil {
						t.Fatalf("got %+v", r)
					}
					screen := screenText(p.Drawn(), 80, 60)
					if n := strings.Count(screen, "ignored"); n != 1 {
						t.Errorf("the panel says %d times that keys were ignored:\n%s", n, screen)
					}
				})
			}
		}
	}
}

// The note on discarded text is still there when the panel is gone. Without discarded text there is no note.
func TestNoteOnDiscardedTextStays(t *testing.T) {
	for _, typedAhead := range []bool{true, false} {
		p := terminal.OpenTestPanelAfter(view.Of(databaseAsk()), terminal.Options{Human: true, Style: true}, typedAhead)
		p.Pass(time.Minute)
		p.Press("1", "enter")
		if _, err := p.Finish(); err != nil {
			t.Fatal(err)
		}
		screen := screenText(p.Drawn(), 80, 60)
		if got := strings.Contains(screen, "was discarded."); got != typedAhead ||
			!strings.Contains(screen, "PostgreSQL") || strings.Contains(screen, "Askback · question") {
			t.Errorf("typed ahead %v: got\n%s", typedAhead, screen)
		}
	}
}

// If a person types fast, a text decides nothing, even if it begins when a call can be decided. A slow text
// decides nothing if its first letter has no meaning.
func TestTextDecidesNoCallOnTheScreen(t *testing.T) {
	for _, gap := range gaps {
		for _, text := range sentences {
			if gap >= 300 && strings.HasPrefix(text, "d\n") || gap >= 200 && text[0] != 's' && text[0] != ' ' {
				continue // the first key is a decision
			}
			p := armedPanel(harmlessCall())
			p.Type(gap*time.Millisecond, text)
			if r := p.Result(); r != nil {
				t.Errorf("%q, a key each %d ms: got %+v", text, gap, r)
			}
		}
	}
}

// After a pause, one key decides. A single letter waits only for a moment.
func TestPanelAcceptsKeysAfterAPause(t *testing.T) {
	for name, before := range map[string]struct {
		ahead bool
		keys  string
		pause time.Duration
	}{
		"nothing":      {false, "", 500 * time.Millisecond},
		"one key":      {false, "a", 500 * time.Millisecond},
		"typed before": {true, "", typingTime},
		"a text":       {false, "please", typingTime},
	} {
		t.Run(name, func(t *testing.T) {
			p := terminal.OpenTestPanelAfter(view.Of(harmlessCall()), terminal.Options{Human: true, Style: true},
				before.ahead)
			p.Type(0, before.keys)
			p.Pass(before.pause - time.Millisecond)
			p.Type(time.Millisecond, "a")
			if p.Pass(300 * time.Millisecond); p.Result() != nil {
				t.Fatalf("decided %s too early", time.Millisecond)
			}
			p.Pass(typingTime)
			p.Type(0, "a")
			if p.Result() != nil {
				t.Fatal("the letter did not wait for another one")
			}
			if p.Pass(200 * time.Millisecond); p.Result() == nil {
				t.Errorf("not decided:\n%s", screenText(p.Drawn(), 80, 60))
			}
		})
	}
}

// A panel whose size changed shows other content, so keys are ignored until there is a pause.
func TestKeysAreIgnoredAfterAResize(t *testing.T) {
	p := armedPanel(harmlessCall())
	p.Resize(60, 50)
	p.Type(300*time.Millisecond, "a")
	if r := p.Result(); r != nil {
		t.Errorf("got %+v", r)
	}
}

// If a person continues to type own words after sending them, the text decides nothing for the next ask of
// the inbox.
func TestTypingAfterSendDoesNotDecideTheNextAsk(t *testing.T) {
	for _, width := range inboxWidths {
		for _, gap := range gaps {
			f := newInboxFixture(t)
			first := f.ask("a", questionRequest("First?"))
			second, third := f.ask("a", callRequest("one", `{}`, false)), f.ask("a", callRequest("two", `{}`, false))
			f.open(f.ana, width)
			f.press("enter")
			f.pass(typingTime)
			for _, r := range "looks good\nand yes please add a day\n" {
				f.Type(r)
				f.pass(gap * time.Millisecond)
				if gap >= 200 {
					f.Decide()
				}
			}
			if got := f.outcome(first); got != "looks good" {
				t.Errorf("%d columns, %d ms: the first is %s", width, gap, got)
			}
			if a, b := f.outcome(second), f.outcome(third); a != "open" || b != "open" {
				t.Errorf("%d columns, a key each %d ms: got %s and %s", width, gap, a, b)
			}
		}
	}
}

// Esc loses no text: opening the field again shows the text, which was not sent.
func TestEscKeepsTypedText(t *testing.T) {
	const words = "forty characters that must not be lost now"
	for name, keys := range map[string][2]string{
		"own words": {"3 enter", "3 enter"}, "note": {"ctrl+n", "ctrl+n"}, "comment": {"ctrl+r", "ctrl+r"},
		"declining": {"ctrl+x", "ctrl+x"},
	} {
		t.Run(name, func(t *testing.T) {
			p := armedPanel(databaseAsk())
			p.Press(strings.Fields(keys[0])...)
			p.Press(words, "esc")
			if screen := screenText(p.Drawn(), 80, 60); !strings.Contains(screen, "Your text is kept") {
				t.Errorf("got\n%s", screen)
			}
			p.Press(strings.Fields(keys[1])...)
			if screen := screenText(p.Drawn(), 80, 60); !matches("│ "+words, screen) {
				t.Errorf("the text is lost:\n%s", screen)
			}
			p.Press("esc", "1", "enter")
			got := answerOf(t, p)
			if got.String() != "PostgreSQL" || got.Notes != "" || got.Other != "" {
				t.Errorf("got %+v, want only the option", got)
			}
		})
	}
}

// The arrow keys continue at the other end of the list. If there are five options or more, letters filter the
// options. A key of another keyboard layout has no effect, and the panel shows that the arrow keys and Enter
// reach everything.
func TestArrowsReachEveryOptionOnAnyKeyboard(t *testing.T) {
	three, many := askback.Question{Options: askback.Options("eu", "us", "ap"), NoOther: true}, askback.Question{
		Options: askback.Options("north", "south", "east", "west", "centre"), NoOther: true,
	}
	for keys, want := range map[string]struct {
		q askback.Question
		a string
	}{
		"up enter":                {three, "ap"},
		"down down down enter":    {three, "eu"},
		"k enter":                 {three, "ap"},
		"s o u enter":             {many, "south"},
		"n enter":                 {many, "north"},
		"c e x backspace n enter": {many, "centre"},
		"w esc 2 enter":           {many, "south"},
		"ctrl+n x enter 4 enter":  {many, "west"},
	} {
		p := armedPanel(questionAsk(want.q))
		p.Press(strings.Fields(keys)...)
		given, ok := p.Result().(terminal.Answered)
		if !ok || given.Answer.Answers[0].String() != want.a {
			t.Errorf("%s: got %+v, want %s", keys, p.Result(), want.a)
		}
	}
	for _, key := range []string{"ф", "н", "в", "&", "é", "\"", "１"} {
		p := armedPanel(harmlessCall())
		p.Press(key)
		if screen := screenText(p.Drawn(), 80, 60); p.Result() != nil || !strings.Contains(
			strings.Join(strings.Fields(screen), " "),
			"With any keyboard layout, ↑ ↓ and Enter reach everything",
		) {
			t.Errorf("%s: got %v on\n%s", key, p.Result(), screen)
		}
	}
	for keys, want := range map[string]askback.Answer{
		"down down enter":                      askback.Decide(askback.Deny, ""),
		"down down down enter":                 askback.Decide(askback.Approve, ""),
		"down enter o k enter down down enter": askback.Decide(askback.Deny, "ok"),
	} {
		p := armedPanel(harmlessCall())
		p.Press(strings.Fields(keys)...)
		given, ok := p.Result().(terminal.Answered)
		if r, _ := p.Finish(); !ok || given.Answer.Decision != want.Decision ||
			r.(terminal.Answered).Answer.Reason != want.Reason {
			t.Errorf("%s: got %+v, want %+v", keys, r, want)
		}
	}
}

// A panel rejects an answer that does not fit the format of its question, and keeps the text. A prompt with
// lines does the same.
func TestAnswerInTheWrongFormatIsRejected(t *testing.T) {
	q := askback.Question{Text: "How many?", Format: "integer 1..100"}
	p := armedPanel(questionAsk(q))
	p.Press("42abc", "enter")
	if screen := screenText(p.Drawn(), 80, 60); p.Result() != nil ||
		!strings.Contains(screen, "That is not a whole number from 1 to 100.") || !strings.Contains(screen, "│ 42abc") {
		t.Errorf("got %v on\n%s", p.Result(), screen)
	}
	p.Press("backspace", "backspace", "backspace", "enter")
	if got := answerOf(t, p); got.Other != "42" {
		t.Errorf("got %+v", got)
	}
	r, err := terminal.New(strings.NewReader("101\n7\n"), io.Discard, nil).Ask(t.Context(), view.Of(questionAsk(q)))
	if given, ok := r.(terminal.Answered); err != nil || !ok || given.Answer.Answers[0].Other != "7" {
		t.Errorf("a prompt: got %+v, %v", r, err)
	}
}
