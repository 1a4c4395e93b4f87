package hook

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// ErrDetached is the cause of a context that ends because the answer cannot be delivered at present. [Race]
// then leaves the ask open, because the same request will be made again. If the request is not made again,
// the [Sweeper] withdraws the ask.
var ErrDetached = errors.New("not connected to the agent")

// A Reason is the reason, for people, why an ask was withdrawn. It is the cause of the context of a [Race]
// that ended because the dialog ended.
type Reason string

// Error returns the reason.
func (r Reason) Error() string { return string(r) }

const (
	// firstRetry and lastRetry bound the time between two attempts to ask.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Race asks people about a request that the agent's own dialog shows at the same time, and returns the
// settled ask. An approval has been consumed already. The key of the request r must identify one dialog.
//
// ctx must end when the dialog was answered. Race then withdraws the ask. The cause of ctx is the reason that
// people see. While Askback cannot be reached, Race retries and calls failed with the first error.
//
// If the same dialog was asked about before, for example by a process that was killed, Race returns the
// answer to the earlier ask. It asks anew if the earlier ask was withdrawn. It also asks anew if the approval
// of the earlier ask was consumed but apparently not delivered.
func Race(ctx context.Context, client Client, r askback.Request, failed func(error)) (askback.Ask, error) {
	open := "" // the id of an ask that may be open
	defer func() { withdrawLost(ctx, client, open) }()
	reported := false
	for pauses := (pause.Backoff{First: firstRetry, Max: lastRetry}); ; {
		ask, err := raceOnce(ctx, client, r)
		switch {
		case ask.Settled():
			open = ""
		case ask.ID != "":
			open = ask.ID
		}
		if err == nil || ctx.Err() != nil || isRefusal(err) {
			return ask, err
		}
		if !reported {
			reported = true
			failed(err)
		}
		if err := pauses.Wait(ctx); err != nil {
			return askback.Ask{}, err
		}
	}
}

// isRefusal reports whether asking again after err would not help.
func isRefusal(err error) bool {
	_, invalid := errors.AsType[askback.Invalid](err)
	return invalid || errors.Is(err, askback.ErrKeyReused) || errors.Is(err, askback.ErrEnded) ||
		errors.Is(err, errNotConsumed) || errors.Is(err, errTooOften)
}

var errNotConsumed = errors.New("the approval could not be consumed")

// raceOnce asks, waits for the outcome, and consumes an approval. If waiting fails, it returns the ask as it
// was before the wait.
func raceOnce(ctx context.Context, client Client, r askback.Request) (askback.Ask, error) {
	for {
		asked, err := findDialog(ctx, client, r)
		if err != nil {
			return asked, err
		}
		ask, err := client.Wait(ctx, asked.ID)
		if err != nil {
			return asked, err
		}
		if ctx.Err() != nil {
			return ask, context.Cause(ctx) // the answer came too late
		}
		if withdrawnAsGone(ask) {
			continue
		}
		if o := ask.Outcome; o.Approved() {
			if _, err := client.Consume(ctx, ask.ID, o.Digest); err != nil {
				return ask, errors.Join(errNotConsumed, err)
			}
		}
		return ask, nil
	}
}

// findDialog returns the ask about a dialog. It makes a new ask if each earlier ask was withdrawn, or its
// approval was consumed.
func findDialog(ctx context.Context, client Client, r askback.Request) (askback.Ask, error) {
	first := r.Key
	for n := range maxRepeats {
		if n > 0 {
			r.Key = first + "#" + strconv.Itoa(n+1)
		}
		ask, err := askAgain(ctx, client, r)
		if err != nil || !ask.Repeated || !ask.Withdrawn() && ask.ConsumedAt.IsZero() {
			return ask, err
		}
	}
	return askback.Ask{}, errTooOften
}

// withdrawLost withdraws an ask whose race has ended, unless id is "". It does nothing if ctx has
// not ended, or ended with [ErrDetached].
func withdrawLost(ctx context.Context, client Client, id string) {
	cause := context.Cause(ctx)
	if id == "" || cause == nil || errors.Is(cause, ErrDetached) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), WithdrawTime)
	defer cancel()
	_ = withdraw(ctx, client, []string{id}, cause.Error()) // otherwise, the Sweeper withdraws it
}

// Delivered acknowledges the outcome of an ask, after the agent has received it. An approval
// was consumed instead.
func Delivered(ctx context.Context, client Client, ask askback.Ask) {
	if ask.AckedAt.IsZero() && !ask.Outcome.Approved() {
		Reply{client: client, askID: ask.ID}.Ack(ctx)
	}
}
