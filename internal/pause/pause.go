// Package pause waits between two attempts.
package pause

import (
	"context"
	"time"
)

// For waits for the duration d. If ctx ends first, For returns context.Cause(ctx).
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// A Backoff is a series of pauses. It begins with First, and each further pause is twice as long, up to Max.
type Backoff struct {
	First, Max time.Duration

	next time.Duration // 0 at the beginning of the series
}

// Next returns the next pause.
func (b *Backoff) Next() time.Duration {
	d := max(b.First, b.next)
	b.next = min(2*d, b.Max)
	return d
}

// Reset begins the series again, after an attempt that succeeded.
func (b *Backoff) Reset() { b.next = 0 }

// Wait waits for the next pause. If ctx ends first, Wait returns context.Cause(ctx).
func (b *Backoff) Wait(ctx context.Context) error { return For(ctx, b.Next()) }
