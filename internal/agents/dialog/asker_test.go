package dialog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// A server is a client whose Ack records the ids of asks, and then fails or blocks.
type server struct {
	hooktest.Client
	mu    sync.Mutex
	err   error // the error of Ack; if nil, Ack blocks until its context ends
	acked []string
}

func (s *server) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *server) Ack(ctx context.Context, id string) (askback.Ask, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = append(s.acked, id)
	if s.err == nil {
		<-ctx.Done()
		return askback.Ask{}, ctx.Err()
	}
	return askback.Ask{}, fmt.Errorf("ack: %w", s.err)
}

var errAway = errors.New("no connection")

// newAsker returns an asker with its server. Each call of notes returns the notes since the last call.
func newAsker(t *testing.T, err error) (a *dialog.Asker, s *server, notes func() []string) {
	t.Helper()
	s = &server{err: err}
	var all []string
	var mu sync.Mutex
	a = &dialog.Asker{Client: s, Otherwise: "only the terminal asks", Notify: func(text string) {
		if !mu.TryLock() {
			t.Error("two notes overlap")
			return
		}
		defer mu.Unlock()
		all = append(all, text)
	}}
	return a, s, func() []string {
		defer func() { all = nil }()
		return all
	}
}

const (
	away   = "Askback cannot be reached, so only the terminal asks: ack: no connection"
	silent = "Askback cannot be reached, so only the terminal asks: it does not reply"
	back   = "Askback can be reached again."
)

// checked waits until the next check of the connection has ended.
func checked() {
	<-time.After(41 * time.Second)
	synctest.Wait()
}

// The user gets one note each time the connection is lost or restored.
func TestEachChangeOfTheConnectionIsNoted(t *testing.T) {
	t.Parallel()
	for name, watch := range map[string]func(context.Context, *dialog.Asker){
		"Watch": func(ctx context.Context, a *dialog.Asker) { a.Watch(ctx) },
		"Run": func(ctx context.Context, a *dialog.Asker) {
			_ = a.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, s, notes := newAsker(t, askback.ErrNotFound)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go watch(ctx, a)
			for _, c := range []struct {
				err  error
				want []string
			}{
				{askback.ErrNotFound, nil},
				{errAway, []string{away}},
				{errAway, nil},
				{nil, nil},
				{askback.ErrNotFound, []string{back}},
				{askback.ErrNotFound, nil},
				{nil, []string{silent}},
			} {
				s.set(c.err)
				checked()
				if got := notes(); !slices.Equal(got, c.want) {
					t.Errorf("%s: after %v, got the notes %q, want %q", name, c.err, got, c.want)
				}
			}
			a.NoteAttached("Codex", "All is well.")
			s.set(askback.ErrNotFound)
			checked()
			a.NoteAttached("Codex", "All is well.")
			if got, want := notes(), []string{
				"Attached to Codex.", back, "Attached to Codex. All is well.",
			}; !slices.Equal(got, want) {
				t.Errorf("%s: got the notes %q, want %q", name, got, want)
			}
			s.set(nil)
			<-time.After(31 * time.Second) // a check waits for its reply
			cancel()
			synctest.Wait()
			if got := notes(); got != nil {
				t.Errorf("%s: after the end, got the notes %q", name, got)
			}
		})
	}
}

// Before a program is followed, the user gets the note that Askback cannot be reached.
func TestConnectionIsCheckedBeforeFollowing(t *testing.T) {
	t.Parallel()
	a, _, notes := newAsker(t, errAway)
	want := errors.New("of follow")
	err := a.Run(t.Context(), func(context.Context) error {
		if got := notes(); !slices.Equal(got, []string{away}) {
			t.Errorf("got the notes %q", got)
		}
		return want
	})
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestRejectedTokenEndsRun(t *testing.T) {
	t.Parallel()
	for _, rejected := range []error{askback.ErrUnauthorized, askback.ErrForbidden} {
		synctest.Test(t, func(t *testing.T) {
			a, s, _ := newAsker(t, rejected)
			if err := a.Run(t.Context(),
				func(context.Context) error { t.Error("followed"); return nil }); !errors.Is(err, rejected) {
				t.Errorf("at the start, got %v, want %v", err, rejected)
			}
			s.set(askback.ErrNotFound)
			err := a.Run(t.Context(), func(ctx context.Context) error {
				s.set(rejected)
				<-ctx.Done()
				return nil
			})
			if !errors.Is(err, rejected) {
				t.Errorf("later, got %v, want %v", err, rejected)
			}
		})
	}
}

// An outcome is acknowledged only if it was delivered to the program.
func TestOnlyDeliveredOutcomesAreAcked(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{true, false} {
		a, s, notes := newAsker(t, askback.ErrNotFound)
		s.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Deny}
		calls := 0
		a.Ask(t.Context(), askback.Request{Key: "key"}, func(ask askback.Ask) bool {
			calls++
			return delivered && ask.Outcome.Decision == askback.Deny
		})
		if want := map[bool][]string{true: {"key"}}[delivered]; calls != 1 ||
			!slices.Equal(s.acked, want) || notes() != nil {
			t.Errorf("delivered %t: %d calls, acked %q, want %q", delivered, calls, s.acked, want)
		}
	}
}

func TestFailedAskIsNoted(t *testing.T) {
	t.Parallel()
	a, s, notes := newAsker(t, askback.ErrNotFound)
	// an approval that cannot be consumed
	s.Outcome = askback.Outcome{Status: askback.Answered, Decision: askback.Approve}
	deliver := func(askback.Ask) bool { t.Error("delivered"); return false }
	a.Ask(t.Context(), askback.Request{Key: "key"}, deliver)
	if got := notes(); len(got) != 1 ||
		!strings.HasPrefix(got[0], "Askback cannot ask about one request, so only the terminal asks: ") {
		t.Errorf("got the notes %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Ask(ctx, askback.Request{Key: "key"}, deliver)
	if got := notes(); got != nil {
		t.Errorf("for a dialog that has ended, got the notes %q", got)
	}
}
