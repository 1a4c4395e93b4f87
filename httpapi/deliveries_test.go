package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// refusing is a channel whose receiver rejects every message. If the address contains "gone", the error also
// reports that the receiver is gone.
type refusing struct{ attempts atomic.Int64 }

func (r *refusing) Send(_ context.Context, n askback.Notification) (string, error) {
	r.attempts.Add(1)
	return "", &askback.SendError{
		Err: errors.New("the reply was 410 Gone"), Final: true, Gone: strings.Contains(n.Address, "gone"),
	}
}

func (r *refusing) SendTest(context.Context, string, string, string, []string) (int, error) {
	return http.StatusGone, errors.New("the reply was 410 Gone")
}

// sendAll runs the engine until the channel has been called at least once.
func (r *refusing) sendAll(t *testing.T, e *engine.Engine) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	before, done := r.attempts.Load(), make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	for r.attempts.Load() == before && ctx.Err() == nil {
		runtime.Gosched()
	}
	stop()
	if err := <-done; err != nil || r.attempts.Load() == before {
		t.Fatalf("run: %v, %d attempts", err, r.attempts.Load()-before)
	}
}
