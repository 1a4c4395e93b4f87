package claudehook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/askback/askback"
)

// A Client is what a hook needs of one: to ask, and to see what it asked.
type Client interface {
	askback.Asker
	List(ctx context.Context, q askback.Query) (askback.Page, error)
}

// maxRepeats is how often the same call of one prompt is asked about.
const maxRepeats = 50

// withdrawTime is what is left for a last word when the hook itself is over.
const withdrawTime = 5 * time.Second

// receiptTime bounds the writing of a receipt.
const receiptTime = 5 * time.Second

// A Reply is what a hook says.
type Reply struct {
	Output []byte // what it prints; nil is no decision
	seat   Client
	told   string // the id of the ask whose outcome is told; "" has no receipt
}

// Delivered writes the receipt for what a reply tells. Call it once Claude Code took
// the output, and not before: until then the answer is not given.
func (r Reply) Delivered(ctx context.Context) {
	if r.told == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiptTime)
	defer cancel()
	_, _ = r.seat.Ack(ctx, r.told) // without the receipt the decision is the same
}

// Run is like [Waiting.Run] for a hook that waits alone.
func Run(ctx context.Context, seat Client, ev Event) (Reply, error) {
	return new(Waiting).Run(ctx, "", seat, ev)
}

// Run does what an event says: it asks and waits until ctx ends, or retires
// asks that were answered at the desk. Who names the owner of the seat. An error is
// for the log alone: with one there is never any output.
//
// When ctx ends first, a deferrable call is put off and its ask stays open. All
// other asks are withdrawn, and every ask that cannot be waited for, once nobody
// of w waits for them: nobody would hear their answers.
func (w *Waiting) Run(ctx context.Context, who string, seat Client, ev Event) (Reply, error) {
	p, ok := put(ev)
	switch {
	case !ok && gated(ev):
		return Reply{}, ErrUnaskable
	case !ok:
		return Reply{}, Retire(ctx, seat, ev)
	}
	call := who + "\n" + p.request.Key
	if err := w.enter(ctx, call); err != nil {
		return Reply{}, err
	}
	withdraw := func(ids []string) error { return abandon(ctx, seat, ids) }
	ask, id, err := askAndWait(ctx, seat, p.request, ev)
	if id == "" {
		return Reply{}, errors.Join(err, w.leave(call, "", over, withdraw))
	}
	if err == nil {
		_ = w.leave(call, id, over, withdraw) // of others, and no reason to say nothing
		return reply(ctx, seat, ev, ask)
	}
	if ctx.Err() == nil {
		return Reply{}, errors.Join(fmt.Errorf("wait for %s: %w", id, err), w.leave(call, id, abandoned, withdraw))
	}
	if out, ok := Defer(ev); ok {
		return Reply{Output: out}, w.leave(call, id, deferred, withdraw)
	}
	return Reply{}, w.leave(call, id, abandoned, withdraw)
}

// askAndWait asks and waits, and again if the ask was withdrawn because this hook seemed
// gone. Without an id there is no ask.
func askAndWait(ctx context.Context, seat Client, r askback.Request, ev Event) (a askback.Ask, id string, err error) {
	for {
		if a, err = open(ctx, seat, r, ev); err != nil {
			return a, "", err
		}
		id = a.ID
		if a, err = seat.Wait(ctx, id); err != nil || !takenForGone(a) {
			return a, id, err
		}
	}
}

// ErrUnaskable is for a tool whose call cannot be shown and approved as it is:
// too large, or with numbers that would change. It is told from having nothing
// to say, so that a gate can stay shut.
var ErrUnaskable = errors.New("this call cannot be put to a person as it is")

// reply is what an outcome says. An approval is spent first.
func reply(ctx context.Context, seat Client, ev Event, ask askback.Ask) (Reply, error) {
	if o := ask.Outcome; o.Approved() {
		if _, err := seat.Consume(ctx, ask.ID, o.Digest); err != nil {
			return Reply{}, fmt.Errorf("consume %s: %w", ask.ID, err)
		}
	}
	out, ok := Decision(ev, ask)
	r := Reply{Output: out, seat: seat}
	if ok && ask.AckedAt.IsZero() && !ask.Outcome.Approved() {
		r.told = ask.ID
	}
	return r, nil
}

// Unaskable says whether an event is about such a call.
func Unaskable(ev Event) bool {
	_, ok := put(ev)
	return !ok && gated(ev)
}

// gated says whether an event is about a tool that a person may approve.
func gated(ev Event) bool {
	return (ev.Name == PermissionRequest || ev.Name == PreToolUse) && ev.Tool != questionTool && !own(ev.Tool)
}

// open asks. The same words may be asked again later, and an old answer is no
// answer to that: a settled ask is passed over, unless the event itself says
// that it is the same call.
func open(ctx context.Context, seat Client, r askback.Request, ev Event) (askback.Ask, error) {
	first := r.Key
	for n := range maxRepeats {
		if n > 0 {
			r.Key = first + "#" + strconv.Itoa(n+1)
		}
		ask, err := seat.Ask(ctx, r)
		if errors.Is(err, askback.ErrKeyReused) && ev.ToolUseID != "" {
			// The same call, resumed where somebody sits now, or nobody does.
			ev.Headless = !ev.Headless
			r.Context = about(ev)
			ask, err = seat.Ask(ctx, r)
		}
		if err != nil {
			return askback.Ask{}, err
		}
		if !ask.Repeated || !ask.Settled() || ev.ToolUseID != "" && !takenForGone(ask) {
			return ask, nil
		}
	}
	return askback.Ask{}, fmt.Errorf("asked %d times in one prompt", maxRepeats)
}

// abandon withdraws asks, also when the time of the hook is over.
func abandon(ctx context.Context, seat Client, ids []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	var failed []error
	for _, id := range ids {
		failed = append(failed, withdraw(ctx, seat, id))
	}
	return errors.Join(failed...)
}

func withdraw(ctx context.Context, seat Client, id string) error {
	_, err := seat.Cancel(ctx, id, "Claude Code no longer waits for this here")
	if errors.Is(err, askback.ErrSettled) {
		return nil
	}
	return err
}
