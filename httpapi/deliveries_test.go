package httpapi_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
)

// refusing is a channel whose receiver wants nothing.
type refusing struct{ attempts atomic.Int64 }

func (r *refusing) Send(context.Context, askback.Delivery, askback.Ask, string) error {
	r.attempts.Add(1)
	return &askback.SendError{Err: errors.New("the reply was 410 Gone"), Final: true}
}

// sendAll runs the engine until the channel was called once more.
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
