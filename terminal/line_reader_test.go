package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/terminal"
)

// fakeKeyboard is an input of single bytes. It reports when a reader waits for a byte.
type fakeKeyboard struct {
	bytes     chan byte
	waits     chan struct{}
	discarded int
	onDiscard func() // may be nil
}

func newFakeKeyboard() *fakeKeyboard {
	return &fakeKeyboard{bytes: make(chan byte), waits: make(chan struct{}, 100)}
}

func (k *fakeKeyboard) Read(p []byte) (int, error) {
	k.waits <- struct{}{}
	b, ok := <-k.bytes
	if !ok {
		return 0, io.EOF
	}
	p[0] = b
	return 1, nil
}

func (k *fakeKeyboard) Discard() error {
	if k.discarded++; k.onDiscard != nil {
		k.onDiscard()
	}
	return nil
}

// typeKeys types bytes, and returns when the last byte was read.
func (k *fakeKeyboard) typeKeys(t *testing.T, s string) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for _, b := range []byte(s) {
		select {
		case k.bytes <- b:
		case <-limit:
			t.Fatal("no reader")
		}
	}
}

// awaitReads waits until n calls of Read have begun.
func (k *fakeKeyboard) awaitReads(t *testing.T, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for range n {
		select {
		case <-k.waits:
		case <-limit:
			t.Fatal("no reader")
		}
	}
}

// fakeScreen is an output that sends everything that is written to a channel.
type fakeScreen chan string

func (s fakeScreen) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

func (s fakeScreen) waitFor(t *testing.T, want string) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case got := <-s:
			if strings.Contains(got, want) {
				return
			}
		case <-limit:
			t.Fatalf("%q was not drawn", want)
		}
	}
}

type askResult struct {
	result terminal.Result
	err    error
}

func startAsk(ctx context.Context, p *terminal.Prompt, a askback.Ask) chan askResult {
	c := make(chan askResult, 1)
	go func() {
		r, err := p.Ask(ctx, view.Of(a))
		c <- askResult{r, err}
	}()
	return c
}

func await(t *testing.T, c chan askResult) askResult {
	t.Helper()
	select {
	case e := <-c:
		return e
	case <-time.After(2 * time.Minute):
		t.Fatal("the ask did not end")
		return askResult{}
	}
}

func ownText(e askResult) string {
	given, ok := e.result.(terminal.Answered)
	if !ok {
		return ""
	}
	return given.Answer.Answers[0].Other
}

// An ask that is settled elsewhere ends immediately, although Read is blocked. The next ask reuses the
// blocked reader and loses no input.
func TestNextAskReusesReader(t *testing.T) {
	k, shown := newFakeKeyboard(), make(fakeScreen, 100)
	p := terminal.New(k, shown, nil)
	ctx, cancel := context.WithCancel(context.Background())
	first := startAsk(ctx, p, questionAsk(askback.Question{}))
	k.awaitReads(t, 1)
	shown.waitFor(t, "> ")
	cancel()
	if e := await(t, first); !errors.Is(e.err, context.Canceled) || e.result != nil {
		t.Fatalf("got %v, %v", e.result, e.err)
	}
	second := startAsk(context.Background(), p, questionAsk(askback.Question{}))
	shown.waitFor(t, "> ")
	k.typeKeys(t, "second\n")
	if e := await(t, second); ownText(e) != "second" {
		t.Errorf("got %v, %v", e.result, e.err)
	}
	if k.discarded != 1 {
		t.Errorf("typed-ahead input was discarded %d times, want once: after the ask that ended elsewhere", k.discarded)
	}
}

// A line that was started for an ask is not the answer to the next ask.
func TestLineOfEarlierAskIsDiscarded(t *testing.T) {
	for typed, rest := range map[string]string{"fi": "rst\n", "first\n": ""} {
		k := newFakeKeyboard()
		p := terminal.New(k, io.Discard, nil)
		ctx, cancel := context.WithCancel(context.Background())
		first := startAsk(ctx, p, questionAsk(askback.Question{Options: askback.Options("a", "b"), NoOther: true}))
		k.awaitReads(t, 1)
		cancel()
		if e := await(t, first); e.result != nil {
			t.Fatalf("got %v", e.result)
		}
		k.typeKeys(t, typed)
		if rest != "" {
			k.awaitReads(t, len(typed))
		}
		second := startAsk(context.Background(), p, questionAsk(askback.Question{}))
		k.typeKeys(t, rest+"second\n")
		if e := await(t, second); ownText(e) != "second" {
			t.Errorf("%q before: got %v, %v", typed, e.result, e.err)
		}
	}
}

// A line for an ask that ended elsewhere does not approve the next one if it is finished while earlier text is
// discarded.
func TestLineFinishedDuringDiscardDecidesNothing(t *testing.T) {
	k := newFakeKeyboard()
	p := terminal.New(k, io.Discard, &terminal.Options{Human: true})
	ctx, cancel := context.WithCancel(context.Background())
	first := startAsk(ctx, p, questionAsk(askback.Question{}))
	k.awaitReads(t, 1)
	cancel()
	await(t, first)
	k.onDiscard = func() { k.typeKeys(t, "y\n") }
	second := startAsk(context.Background(), p, callAsk())
	k.awaitReads(t, 1) // after y
	select {
	case <-k.waits: // for another line
	case e := <-second:
		t.Fatalf("the line decided: %v, %v", e.result, e.err)
	}
	k.typeKeys(t, "n\n")
	if r, ok := await(t, second).result.(terminal.Answered); !ok || r.Answer.Decision != askback.Deny {
		t.Errorf("got %v, want a denial", r)
	}
}

// Text that a person typed before the call was shown is discarded, so that an earlier y does not approve it.
// Input from a pipe is not discarded.
func TestInputBeforeConfirmationIsDiscarded(t *testing.T) {
	for human, want := range map[bool]int{true: 1, false: 0} {
		k := newFakeKeyboard()
		p := terminal.New(k, io.Discard, &terminal.Options{Human: human})
		c := startAsk(context.Background(), p, callAsk())
		k.typeKeys(t, "n\n")
		await(t, c)
		if k.discarded != want {
			t.Errorf("human %v: discarded %d times, want %d", human, k.discarded, want)
		}
	}
}

func TestAskWithCancelledContextReadsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := strings.NewReader("1\n")
	r, err := terminal.New(in, io.Discard, nil).Ask(ctx, view.Of(databaseAsk()))
	if r != nil || !errors.Is(err, context.Canceled) || in.Len() != 2 {
		t.Errorf("got %v, %v, %d bytes left", r, err, in.Len())
	}
}

// In printf '1\n2\n' | (askback ask …; askback ask …), each askback reads only its line.
func TestPipeIsNotReadAhead(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString("first\nsecond\n"); err != nil {
		t.Fatal(err)
	}
	out.Close()
	for _, want := range []string{"first", "second", ""} {
		r, err := terminal.New(in, io.Discard, nil).Ask(context.Background(), view.Of(questionAsk(askback.Question{})))
		if got := ownText(askResult{r, err}); got != want || want == "" && !errors.Is(err, terminal.ErrNoInput) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// A stuckReader returns neither bytes nor errors.
type stuckReader struct{}

func (stuckReader) Read([]byte) (int, error) { return 0, nil }

// A reader that returns neither bytes nor errors is treated like the end of input.
func TestReaderWithoutProgressEndsAsk(t *testing.T) {
	r, err := terminal.New(stuckReader{}, io.Discard, nil).Ask(context.Background(), view.Of(callAsk()))
	if r != nil || !errors.Is(err, terminal.ErrNoInput) {
		t.Errorf("got %v, %v", r, err)
	}
}

// Settled erases the open prompt before it shows the outcome. Without styles, it starts a new row instead. A
// second call finds no open prompt.
func TestSettledReplacesPrompt(t *testing.T) {
	for style, before := range map[bool]string{true: "\r\x1b[K", false: "\n"} {
		var out bytes.Buffer
		k := newFakeKeyboard()
		p := terminal.New(k, &out, &terminal.Options{Human: true, Style: style})
		ctx, cancel := context.WithCancel(context.Background())
		c := startAsk(ctx, p, questionAsk(askback.Question{}))
		k.awaitReads(t, 1)
		cancel()
		await(t, c)
		out.Reset()
		a := questionAsk(askback.Question{})
		a.Outcome = &outcomes()[0]
		for range 2 {
			if err := p.Settled(view.Of(a)); err != nil {
				t.Fatal(err)
			}
		}
		got := out.String()
		first, second, _ := strings.Cut(got, "SQLite")
		if !strings.HasPrefix(first, before+"Settled: answered by ana in the browser") ||
			strings.Contains(second, before+"Settled") != !style {
			t.Errorf("style %v: got %q", style, got)
		}
	}
}

// After :decline, there is no open prompt that Settled could replace.
func TestSettledErasesNothingAfterDecline(t *testing.T) {
	var out bytes.Buffer
	p := terminal.New(strings.NewReader(":decline\n"), &out, &terminal.Options{Human: true, Style: true})
	a := questionAsk(askback.Question{})
	if _, err := p.Ask(t.Context(), view.Of(a)); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	a.Outcome = &outcomes()[0]
	if err := p.Settled(view.Of(a)); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "Settled: answered by ana") {
		t.Errorf("got %q, want no erased row", got)
	}
}
