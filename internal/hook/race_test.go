package hook_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook"
)

// A raceClient has an ask for each key, with a state that a test sets. asked are the times at which it
// was asked.
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
	return askback.Ask{Status: askback.Answered, Outcome: &askback.Outcome{Status: askback.Answered, Decision: askback.Approve}}, nil
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
			_, err := hook.Race(ctx, &c.client, askback.Request{Key: "k"}, func(err error) { t.Errorf("%s: it is tried again after %v", name, err) })
			if err == nil || errors.Is(err, context.DeadlineExceeded) || len(c.client.asked) != c.asked {
				t.Errorf("%s: got %v after %d attempts, want an error after %d", name, err, len(c.client.asked), c.asked)
			}
		})
	}
}
