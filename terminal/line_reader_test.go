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
	"github.com/askback/askback/internal/view"
	"github.com/askback/askback/terminal"
)

// keyboard gives one byte whenever one is typed, and says when somebody waits for one.
type keyboard struct {
	bytes     chan byte
	waits     chan struct{}
	discarded int
}

func newKeyboard() *keyboard {
	return &keyboard{bytes: make(chan byte), waits: make(chan struct{}, 100)}
}

func (k *keyboard) Read(p []byte) (int, error) {
	k.waits <- struct{}{}
	b, ok := <-k.bytes
	if !ok {
		return 0, io.EOF
	}
	p[0] = b
	return 1, nil
}

func (k *keyboard) Discard() error { k.discarded++; return nil }

// types types bytes, each once the one before was taken, and waits until the last one
// was.
func (k *keyboard) types(t *testing.T, s string) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for _, b := range []byte(s) {
		select {
		case k.bytes <- b:
		case <-limit:
			t.Fatal("nobody reads")
		}
	}
}

// waited waits until a reader waits for its n-th byte.
func (k *keyboard) waited(t *testing.T, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for range n {
		select {
		case <-k.waits:
		case <-limit:
			t.Fatal("nobody reads")
		}
	}
}

// screen hands over what is drawn.
type screen chan string

func (s screen) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

func (s screen) until(t *testing.T, want string) {
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

type ended struct {
	result terminal.Result
	err    error
}

func start(ctx context.Context, p *terminal.Prompt, a askback.Ask) chan ended {
	c := make(chan ended, 1)
	go func() {
		r, err := p.Ask(ctx, view.Of(a))
		c <- ended{r, err}
	}()
	return c
}

func end(t *testing.T, c chan ended) ended {
	t.Helper()
	select {
	case e := <-c:
		return e
	case <-time.After(2 * time.Minute):
		t.Fatal("the ask did not end")
		return ended{}
	}
}

func other(e ended) string {
	given, ok := e.result.(terminal.Given)
	if !ok {
		return ""
	}
	return given.Answer.Answers[0].Other
}

// An ask that is settled elsewhere ends at once, although Read goes on; the next ask
// takes the reader over and loses nothing that was typed for it.
func TestTheReaderIsHandedOver(t *testing.T) {
	k, shown := newKeyboard(), make(screen, 100)
	p := terminal.New(k, shown, nil)
	ctx, cancel := context.WithCancel(context.Background())
	first := start(ctx, p, one(askback.Question{}))
	k.waited(t, 1)
	shown.until(t, "> ")
	cancel()
	if e := end(t, first); !errors.Is(e.err, context.Canceled) || e.result != nil {
		t.Fatalf("got %v, %v", e.result, e.err)
	}
	second := start(context.Background(), p, one(askback.Question{}))
	shown.until(t, "> ")
	k.types(t, "second\n")
	if e := end(t, second); other(e) != "second" {
		t.Errorf("got %v, %v", e.result, e.err)
	}
	if k.discarded != 1 {
		t.Errorf("typed-ahead input was discarded %d times, want once: after the ask that ended elsewhere", k.discarded)
	}
}

// What was begun for one ask is never the answer to another.
func TestALineBegunForAnEarlierAskIsThrownAway(t *testing.T) {
	for typed, rest := range map[string]string{"fi": "rst\n", "first\n": ""} {
		k := newKeyboard()
		p := terminal.New(k, io.Discard, nil)
		ctx, cancel := context.WithCancel(context.Background())
		first := start(ctx, p, one(askback.Question{Options: askback.Options("a", "b"), NoOther: true}))
		k.waited(t, 1)
		cancel()
		if e := end(t, first); e.result != nil {
			t.Fatalf("got %v", e.result)
		}
		k.types(t, typed)
		if rest != "" {
			k.waited(t, len(typed))
		}
		second := start(context.Background(), p, one(askback.Question{}))
		k.types(t, rest+"second\n")
		if e := end(t, second); other(e) != "second" {
			t.Errorf("%q before: got %v, %v", typed, e.result, e.err)
		}
	}
}

// Typing y before the call is on the screen approves nothing.
func TestAConfirmationDiscardsWhatWasTypedBefore(t *testing.T) {
	for human, want := range map[bool]int{true: 1, false: 0} {
		k := newKeyboard()
		p := terminal.New(k, io.Discard, &terminal.Options{Human: human})
		c := start(context.Background(), p, call())
		k.types(t, "n\n")
		end(t, c)
		if k.discarded != want {
			t.Errorf("human %v: discarded %d times, want %d", human, k.discarded, want)
		}
	}
}

func TestAContextThatIsOverReadsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := strings.NewReader("1\n")
	r, err := terminal.New(in, io.Discard, nil).Ask(ctx, view.Of(database()))
	if r != nil || !errors.Is(err, context.Canceled) || in.Len() != 2 {
		t.Errorf("got %v, %v, %d bytes left", r, err, in.Len())
	}
}

// printf '1\n2\n' | (askback ask …; askback ask …): each takes its own line, no more.
func TestAPipeIsSharedWithTheNextProgram(t *testing.T) {
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
		r, err := terminal.New(in, io.Discard, nil).Ask(context.Background(), view.Of(one(askback.Question{})))
		if got := other(ended{r, err}); got != want || want == "" && !errors.Is(err, terminal.ErrNoInput) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// stuck never gives anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatGivesNothingIsNoInput(t *testing.T) {
	r, err := terminal.New(stuck{}, io.Discard, nil).Ask(context.Background(), view.Of(call()))
	if r != nil || !errors.Is(err, terminal.ErrNoInput) {
		t.Errorf("got %v, %v", r, err)
	}
}

// The prompt that was open is taken away before the line that says who was quicker.
func TestSettledReplacesThePrompt(t *testing.T) {
	for style, before := range map[bool]string{true: "\r\x1b[K", false: "\n"} {
		var out bytes.Buffer
		k := newKeyboard()
		p := terminal.New(k, &out, &terminal.Options{Human: true, Style: style})
		ctx, cancel := context.WithCancel(context.Background())
		c := start(ctx, p, one(askback.Question{}))
		k.waited(t, 1)
		cancel()
		end(t, c)
		out.Reset()
		a := one(askback.Question{})
		a.Outcome = &endings()[0]
		for range 2 {
			if err := p.Settled(view.Of(a)); err != nil {
				t.Fatal(err)
			}
		}
		got := out.String()
		first, second, _ := strings.Cut(got, "SQLite")
		if !strings.HasPrefix(first, before+"Settled: answered by ana in the browser") || strings.Contains(second, before+"Settled") != !style {
			t.Errorf("style %v: got %q", style, got)
		}
	}
}
