package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/askback/askback/internal/pause"
)

func TestForWaitsOrReturnsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := pause.For(t.Context(), time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("got %v after %s, want nil after a minute", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("stopped")
		time.AfterFunc(time.Second, func() { cancel(why) })
		begun = time.Now()
		if err := pause.For(ctx, time.Minute); !errors.Is(err, why) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %s, want %v after a second", err, time.Since(begun), why)
		}
	})
}

// Pauses double up to the maximum. After a reset the pauses begin again with the first pause.
func TestBackoffDoublesUpToItsMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pause.Backoff{First: time.Second, Max: 5 * time.Second}
		for _, want := range []time.Duration{1, 2, 4, 5, 5} {
			begun := time.Now()
			if err := b.Wait(t.Context()); err != nil || time.Since(begun) != want*time.Second {
				t.Errorf("got %v after %s, want nil after %d s", err, time.Since(begun), want)
			}
		}
		if b.Reset(); b.Next() != time.Second || b.Next() != 2*time.Second {
			t.Error("after a reset, the pauses do not begin again")
		}
	})
}
