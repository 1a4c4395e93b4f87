package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interrupts receives the signals by which the user ends a turn, and then the command. Otherwise main would
// end the command at the first signal.
type interrupts chan os.Signal

// notifyInterrupts returns a channel that receives the signals of the user until stop is called.
func notifyInterrupts() interrupts {
	c := make(interrupts, 4)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c
}

func (c interrupts) stop() { signal.Stop(c) }

// contextOf returns a context that ends with ctx, but not because of a signal.
func (c interrupts) contextOf(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == context.Canceled { // if a signal ended ctx, the cause is another error
			cancel()
		}
	})
	return out, func() { stop(); cancel() }
}
