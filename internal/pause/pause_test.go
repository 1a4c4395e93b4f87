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
