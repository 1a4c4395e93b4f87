package terminal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
	"github.com/askback/askback/test/kit/racedetector"
)

// asksWithText returns three asks with the results of word in every field that an agent or a
// person fills. Most lists have the given number of elements.
func asksWithText(several int, word func() string) (questions, confirmation, settled askback.Ask) {
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
			q.Options = append(q.Options,
				askback.Option{Label: fmt.Sprint("choice ", i) + word(), Description: word(), Preview: word()})
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
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
		Channel: askback.ChannelWeb, At: noon, Comment: word(), Reason: word(),
		Input: confirmation.Confirmation.Input,
	}
	for range several + 1 { // a single answer could be on the row of the outcome
		settled.Outcome.Answers = append(settled.Outcome.Answers,
			askback.QuestionAnswer{Question: word(), Selected: []string{word()}, Other: word(), Notes: word()})
	}
	return questions, confirmation, settled
}

// quoted returns a JSON string with as few escapes as possible.
func quoted(s string) json.RawMessage {
	return json.RawMessage(`"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`).Replace(s) + `"`)
}

// drawAsk returns the drawing of an open ask by Ask, or of a settled ask by Show and Settled.
func drawAsk(t testingT, v view.Ask, width int) string {
	options := &terminal.Options{Human: true, Style: true, Width: func() int { return width }, Zone: time.UTC}
	var out bytes.Buffer
	p := terminal.New(&echoTypist{":skip\n:decline\n", &out}, &out, options)
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

type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ownSequences removes the control sequences of Askback.
var ownSequences = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[4m", "", "\r\x1b[K", "")

// checkFrame draws asks with the results of word, and the same asks with harmless text. The text of Askback
// must be the same in both (T8, T10). No control sequence may be drawn except the control sequences of
// Askback. For the kinds that emulate selects, it also uses a terminal emulator.
func checkFrame(t testingT, width, several int, emulate func(kind int) bool, word func() string) {
	t.Helper()
	q, c, s := asksWithText(several, word)
	for kind, a := range []askback.Ask{q, c, s} {
		hostile := view.Of(a)
		drawn := drawAsk(t, hostile, width)
		plain := ownSequences.Replace(drawn)
		if i := strings.IndexFunc(plain, isControl); i >= 0 || !utf8.ValidString(plain) {
			t.Fatalf("control character at %d of %q", i, plain)
		}
		checkUnchanged(t, laidOut(plain, width),
			reference{kind: kind, width: width, several: several, hidden: hostile.Hidden})
		if !emulate(kind) {
			continue
		}
		got := emulated(drawn, width)
		if got.vt.Title() != title || got.replies.Len() > 0 {
			t.Fatalf("the title is %q, and the terminal sent %q", got.vt.Title(), got.replies.String())
		}
		checkUnchanged(t, got,
			reference{kind: kind, width: width, several: several, hidden: hostile.Hidden, emulated: true})
	}
}

func allKinds(int) bool { return true }

func isControl(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r <= 0x9f) }

func checkUnchanged(t testingT, got *console, want reference) {
	own := got.askbackText()
	if slices.Equal(want.askbackText(t, 40), own) || slices.Equal(want.askbackText(t, 0), own) {
		return
	}
	t.Fatalf("%d columns: the text of Askback changed (-want +got):\n%s\n%s", want.width,
		cmp.Diff(want.askbackText(t, 40), own), cmp.Diff(want.askbackText(t, 0), own))
}

// reference identifies a drawing with harmless text.
type reference struct {
	kind, width, several int
	hidden, emulated     bool
}

var referenceCache sync.Map // maps a reference and a number of words to the text of Askback

// askbackText returns the text of Askback in the drawing. words is added to the length of each
// text of the agent, because the tool is drawn again below a long call.
func (h reference) askbackText(t testingT, words int) []string {
	key := fmt.Sprint(h, words)
	if known, ok := referenceCache.Load(key); ok {
		return known.([]string)
	}
	text := "x" + strings.Repeat(" harmless", words)
	if h.hidden {
		text += "\a"
	}
	q, c, s := asksWithText(h.several, func() string { return text })
	drawn := drawAsk(t, view.Of([]askback.Ask{q, c, s}[h.kind]), h.width)
	on := laidOut(ownSequences.Replace(drawn), h.width)
	if h.emulated {
		on = emulated(drawn, h.width)
	}
	referenceCache.Store(key, on.askbackText())
	return on.askbackText()
}

var widths = []int{80, 50, 24, 16}

// No code point changes the text of Askback, in any field. Each batch has one of several widths. Surrogates
// are encoded as CESU-8. Beyond U+3000, the emulator draws only one kind of ask. See isOmitted for the
// batches that are tested (T8, T10, D1, F7).
func TestCodePointsStayInFrame(t *testing.T) {
	racedetector.Omit(t)
	const batch, parts = 2048, 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for n := part; n < (unicode.MaxRune+1)/batch; n += parts {
				if isOmitted(rune(n*batch), batch, n) {
					continue
				}
				text := codePoints(rune(n*batch), batch)
				emulate := func(kind int) bool { return n*batch < 0x3000 || n%3 == kind }
				checkFrame(t, widths[n/parts%len(widths)], 1, emulate, func() string { return text })
			}
		})
	}
}

// isOmitted reports whether a batch of code points is not tested. Many batches have code points of the same
// kinds as the neighboring batches, such as only ideographs or only unassigned code points. Only one such
// batch in 17 is tested. With ASKBACK_LONG, as in make prove, all batches are tested.
func isOmitted(first rune, size, n int) bool {
	if os.Getenv("ASKBACK_LONG") != "" || n%17 == 0 { // 17, because widths and keys alternate with n
		return false
	}
	kinds := codePointKinds(first, size)
	return maps.Equal(kinds, codePointKinds(first-rune(size), size)) &&
		maps.Equal(kinds, codePointKinds(first+rune(size), size))
}

// codePointKinds returns the kinds of code points in a batch: their categories and scripts, and
// their widths.
func codePointKinds(first rune, size int) map[string]bool {
	kinds := map[string]bool{}
	for r := max(first, 0); r < first+rune(size); r++ {
		kinds[fmt.Sprint(cellWidth(min(r, unicode.MaxRune)))] = true
	}
	last := first + rune(size) - 1
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		for name, table := range tables {
			if overlaps(table, first, last) {
				kinds[name] = true
			}
		}
	}
	return kinds
}

// overlaps reports whether a table has a code point from first to last.
func overlaps(table *unicode.RangeTable, first, last rune) bool {
	for _, r := range table.R16 {
		if rune(r.Lo) <= last && rune(r.Hi) >= first {
			return true
		}
	}
	for _, r := range table.R32 {
		if rune(r.Lo) <= last && rune(r.Hi) >= first {
			return true
		}
	}
	return false
}

func codePoints(first rune, size int) string {
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

// An approval shows when the agent used it, or that the agent has not used it (F7).
func TestShowPrintsTheTimeOfUse(t *testing.T) {
	a := callAsk()
	for _, decision := range []askback.Decision{askback.Approve, askback.Deny} {
		a.Outcome = &askback.Outcome{
			Status: askback.Answered, Decision: decision, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"},
			At: noon,
		}
		for _, used := range []time.Time{{}, noon.Add(2 * time.Hour)} {
			if a.ConsumedAt = used; decision == askback.Deny && !used.IsZero() {
				continue
			}
			var out bytes.Buffer
			if err := terminal.Show(&out, view.Of(a), &terminal.Options{Zone: time.UTC}); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(out.String(), "Not used by the agent yet."), decision == askback.Approve &&
				used.IsZero(); got != want {
				t.Errorf("%s, used at %v: got\n%s", decision, used, out.String())
			}
			if got := strings.Contains(out.String(),
				"Used by the agent: 2 March 2026, 14:00 UTC."); got == used.IsZero() {
				t.Errorf("%s, used at %v: got\n%s", decision, used, out.String())
			}
		}
	}
}

// A settled ask shows when the agent received the outcome, if the agent has received it (F6).
func TestShowPrintsTheTimeOfTheAck(t *testing.T) {
	a := questionAsk(askback.Question{})
	a.Outcome = &askback.Outcome{
		Status: askback.Answered, Actor: askback.Actor{Kind: askback.ActorPerson, Name: "ana"}, At: noon,
		Answers: []askback.QuestionAnswer{{Other: "yes"}},
	}
	for _, acked := range []time.Time{{}, noon.Add(2 * time.Hour)} {
		a.AckedAt = acked
		var out bytes.Buffer
		if err := terminal.Show(&out, view.Of(a), &terminal.Options{Zone: time.UTC}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "Delivered to the agent: "); got == acked.IsZero() {
			t.Errorf("acknowledged at %v: got\n%s", acked, out.String())
		}
	}
}
