package hook_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/agents/hook/hooktest"
)

// A raceClient is a client whose Ask records the time of the call in asked, and then calls the function ask.
// Consume returns the error consume.
type raceClient struct {
	hook.Client
	ask     func(r askback.Request) (askback.Ask, error)
	consume error
	asked   []time.Duration
	begun   time.Time
}

func (c *raceClient) Ask(_ context.Context, r askback.Request) (askback.Ask, error) {
	c.asked = append(c.asked, time.Since(c.begun))
	return c.ask(r)
}

// Wait returns an approval.
func (c *raceClient) Wait(context.Context, string) (askback.Ask, error) {
	return askback.Ask{
		Status: askback.Answered, Outcome: &askback.Outcome{Status: askback.Answered, Decision: askback.Approve},
	}, nil
}

func (c *raceClient) Consume(context.Context, string, string) (askback.Ask, error) {
	return askback.Ask{}, c.consume
}

func (*raceClient) List(context.Context, askback.Query) (askback.Page, error) {
	return askback.Page{}, nil
}

// A race ends with an error if asking again would not help.
func TestRaceEndsAfterRefusal(t *testing.T) {
	fails := func(err error) func(askback.Request) (askback.Ask, error) {
		return func(askback.Request) (askback.Ask, error) { return askback.Ask{}, err }
	}
	for name, c := range map[string]struct {
		client raceClient
		asked  int
	}{
		"an invalid request":            {raceClient{ask: fails(askback.Invalid{{Detail: "no"}})}, 1},
		"another request under its key": {raceClient{ask: fails(askback.ErrKeyReused)}, 1},
		"a session that has ended":      {raceClient{ask: fails(askback.ErrEnded)}, 1},
		"an approval that is consumed":  {raceClient{ask: fails(nil), consume: askback.ErrConsumed}, 1},
		"a dialog that was asked about too often": {raceClient{ask: func(askback.Request) (askback.Ask, error) {
			return askback.Ask{Repeated: true, ConsumedAt: time.Now()}, nil
		}}, 50},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			c.client.begun = time.Now()
			_, err := hook.Race(ctx, &c.client, askback.Request{Key: "k"},
				func(err error) { t.Errorf("%s: it is tried again after %v", name, err) })
			if err == nil || errors.Is(err, context.DeadlineExceeded) || len(c.client.asked) != c.asked {
				t.Errorf("%s: got %v after %d attempts, want an error after %d", name, err, len(c.client.asked),
					c.asked)
			}
		})
	}
}

// While Askback cannot be reached, a race retries after pauses that grow to half a minute. It reports only
// the first error.
func TestRaceRetriesWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := raceClient{begun: time.Now()}
		c.ask = func(askback.Request) (askback.Ask, error) {
			if len(c.asked) < 8 {
				return askback.Ask{}, askback.ErrUnreachable
			}
			return askback.Ask{}, nil
		}
		var reported []error
		got, err := hook.Race(t.Context(), &c, askback.Request{Key: "k"},
			func(err error) { reported = append(reported, err) })
		if err != nil || !got.Outcome.Approved() || len(reported) != 1 ||
			!errors.Is(reported[0], askback.ErrUnreachable) {
			t.Errorf("got %+v, %v, reported %v; want the approval, and one error", got, err, reported)
		}
		var want []time.Duration
		for _, seconds := range []time.Duration{0, 1, 3, 7, 15, 31, 61, 91} {
			want = append(want, seconds*time.Second)
		}
		if !slices.Equal(c.asked, want) {
			t.Errorf("asked after %v, want %v", c.asked, want)
		}
	})
}

// A lostClient is a client with one open ask, whose Wait returns an error without the ask. If atOnce is true,
// Wait returns immediately, otherwise after its context has ended.
type lostClient struct {
	hook.Client
	atOnce    bool
	withdrawn []string // the id and the reason of each call of Cancel
}

func (*lostClient) Ask(context.Context, askback.Request) (askback.Ask, error) {
	return askback.Ask{ID: "ask_1", Status: askback.Pending}, nil
}

func (c *lostClient) Wait(ctx context.Context, _ string) (askback.Ask, error) {
	if !c.atOnce {
		<-ctx.Done()
	}
	return askback.Ask{}, askback.ErrUnreachable
}

func (c *lostClient) Cancel(_ context.Context, id, reason string) (askback.Ask, error) {
	c.withdrawn = append(c.withdrawn, id+": "+reason)
	return askback.Ask{}, nil
}

// If the dialog ends while the server cannot be reached, the ask of its race is withdrawn.
func TestAskIsWithdrawnAfterTheServerWasUnreachable(t *testing.T) {
	for name, c := range map[string]*lostClient{
		"the call that waits ends with the dialog": {},
		"the call that waits fails before":         {atOnce: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { end(hook.Reason("decided in the dialog")) })
			if _, err := hook.Race(ctx, c, askback.Request{Key: "k"}, func(error) {}); err == nil {
				t.Errorf("%s: got no error", name)
			}
			if want := []string{"ask_1: decided in the dialog"}; !slices.Equal(c.withdrawn, want) {
				t.Errorf("%s: withdrawn are %q, want %q", name, c.withdrawn, want)
			}
		})
	}
}

// A raceResult is the result of a race.
type raceResult struct {
	ask askback.Ask
	err error
}

// race starts a race about the call of newCall, and returns once the race waits.
func race(t *testing.T, f *hooktest.Fixture) (end context.CancelCauseFunc, ended <-chan raceResult) {
	ctx, cancel := context.WithCancelCause(t.Context())
	out := make(chan raceResult, 1)
	go func() {
		ask, err := hook.Race(ctx, f.Client(), newCall().Request,
			func(err error) { t.Errorf("it is tried again after %v", err) })
		out <- raceResult{ask, err}
	}()
	synctest.Wait()
	return cancel, out
}

// If the ask of a race was withdrawn because its hook seemed to have ended, the race asks again. An ask
// that was withdrawn for another reason ends the race.
func TestAskWithdrawnTooEarlyIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, blind := hooktest.NewFixture(t), true
		_, ended := race(t, f)
		if err := newSweeper(f, &blind).Withdraw(t.Context(), f.WantAsks("one waits", askback.Pending)[0]); err != nil {
			t.Fatal(err)
		}
		f.Answer(f.WantAsks("withdrawn", askback.Cancelled, askback.Pending)[1], askback.Decide(askback.Approve, ""))
		if got := <-ended; got.err != nil || !got.ask.Outcome.Approved() {
			t.Errorf("got %+v, want the approval of the second ask", got)
		}
		if asks := f.WantAsks("answered", askback.Cancelled, askback.Answered); asks[1].ConsumedAt.IsZero() {
			t.Error("the approval is not consumed")
		}

		_, ended = race(t, f)
		open := f.WantAsks("asked anew", askback.Cancelled, askback.Answered, askback.Pending)[2]
		if _, err := f.Client().Cancel(t.Context(), open.ID, "not needed"); err != nil {
			t.Fatal(err)
		}
		if got := <-ended; got.err != nil || got.ask.Status != askback.Cancelled {
			t.Errorf("got %+v, want the ask that was withdrawn", got)
		}
	})
}

// The ask of a race is withdrawn with the reason why its dialog ended. While the agent is not connected, the
// ask stays open, and the next race about the same dialog finds it.
func TestRaceEndsWithItsDialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hooktest.NewFixture(t)
		end, ended := race(t, f)
		end(hook.ErrDetached)
		if got := <-ended; !errors.Is(got.err, hook.ErrDetached) {
			t.Errorf("got %+v, want %v", got, hook.ErrDetached)
		}
		f.WantAsks("not connected", askback.Pending)
		end, ended = race(t, f)
		f.WantAsks("connected again", askback.Pending)
		answered := hook.Reason("It was answered in Codex")
		end(answered)
		if got := <-ended; !errors.Is(got.err, answered) {
			t.Errorf("got %+v, want %v", got, answered)
		}
		if ask := f.WantAsks("the dialog has ended", askback.Cancelled)[0]; ask.Outcome.Reason != string(answered) {
			t.Errorf("got %+v, want the reason %q", ask.Outcome, answered)
		}
	})
}
