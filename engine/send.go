package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// A Channel carries messages about asks to programs or people.
type Channel interface {
	// Send sends a delivery about an ask to an address. The error may be an
	// [askback.SendError]. After a crash Send is called again with the same delivery,
	// although it may have succeeded; the receiver recognizes its ID.
	Send(ctx context.Context, d askback.Delivery, about askback.Ask, address string) error
}

// kindSend is the kind of the effects that send a delivery. The id of the effect is that of
// the delivery.
const kindSend = "send"

// channelWebhook is the name of the channel to the callback of an ask.
const channelWebhook = "webhook"

// sendPauses are the pauses after failed attempts to send a delivery. Together they last
// longer than three days, so that a receiver may fail for a weekend.
var sendPauses = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	14 * time.Hour, 20 * time.Hour, maxSendPause,
}

// maxSendPause is the longest pause between two attempts, also if the receiver asks for a
// longer one.
const maxSendPause = 24 * time.Hour

// send makes one attempt to send a delivery, or postpones it if its receiver is busy. A
// delivery that is not queued any more needs none.
func (w *worker) send(ctx context.Context, f store.Effect) attempt {
	e := w.engine
	a, err := e.read(ctx, f.Subject)
	if err != nil {
		return attempt{failed: err, retry: e.clock().Add(performBackOff(f.Attempts))}
	}
	d, ok := a.state.Delivery(f.ID)
	if !ok || d.Status != askback.DeliveryQueued {
		return attempt{}
	}
	begun := e.clock()
	if postponed := w.receivers.begin(d.Target, begun); !postponed.IsZero() {
		return attempt{retry: postponed}
	}
	if postponed := w.owners.begin(a.state.Owner, begun); !postponed.IsZero() {
		w.receivers.release(d.Target)
		return attempt{retry: postponed}
	}
	channel := e.channels[d.Channel]
	if channel == nil {
		err = fmt.Errorf("this server has no channel %q", d.Channel)
	} else {
		err = channel.Send(ctx, d, e.withPageURL(a.state.Ask.Clone()), a.state.Callback)
	}
	now := e.clock()
	w.receivers.end(d.Target, now.Sub(begun))
	w.owners.end(a.state.Owner, now.Sub(begun))
	switch {
	case err == nil:
		return attempt{in: lifecycle.Sent{ID: f.ID, At: now}}
	case ctx.Err() != nil: // this process stops; the next one sends it
		return attempt{failed: err, retry: now}
	}
	r := attempt{failed: err, retry: nextAttempt(now, d.Attempts+1, err)}
	r.in = lifecycle.SendFailed{ID: f.ID, Error: err.Error(), Retry: r.retry, At: now}
	return r
}

// nextAttempt returns the time of the next attempt after the n-th failed one, or zero if the
// delivery is given up. It adds up to a tenth of the pause, so that receivers that failed at
// once are not called at once again.
func nextAttempt(now time.Time, n int, err error) time.Time {
	var sending *askback.SendError
	if errors.As(err, &sending) && sending.Final || n > len(sendPauses) {
		return time.Time{}
	}
	pause := sendPauses[n-1]
	if sending != nil {
		pause = max(pause, min(sending.RetryAfter, maxSendPause))
	}
	return now.Add(pause + rand.N(pause/10)).Truncate(time.Millisecond)
}

// checkCallback returns an error if an ask has a callback and the engine cannot send to it.
func (e *Engine) checkCallback(address string) error {
	if address == "" || e.channels[channelWebhook] != nil {
		return nil
	}
	return askback.Invalid{{
		Pointer: "/callback_url", Detail: "this server sends no webhooks", Fix: "set channels.webhook in its settings, or wait for the ask",
	}}
}

// callback returns the address that receives the events of asks that name none, or "".
func (e *Engine) callback() string {
	if e.channels[channelWebhook] == nil {
		return ""
	}
	return e.settings.Load().CallbackURL
}
