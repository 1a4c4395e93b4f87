package claudehook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/askback/askback"
)

// A Client is the part of [askback.Client] that hooks use.
type Client interface {
	askback.Asker
	List(ctx context.Context, q askback.Query) (askback.Page, error)
}

// maxRepeats is how many asks the same call may have in one prompt.
const maxRepeats = 50

const (
	// withdrawTime is how long withdrawing may take after the hook has ended.
	withdrawTime = 5 * time.Second
	// ackTime is how long an ack may take.
	ackTime = 5 * time.Second
)

// A Reply is the result of a hook.
type Reply struct {
	Output []byte // the text to print; nil without a decision
	client Client
	askID  string // the ask to acknowledge; "" if no ask needs it
}

// Ack acknowledges the outcome in the reply, if it is not yet acknowledged. Call Ack only
// after Claude Code has read the output, because only then is the outcome delivered.
func (r Reply) Ack(ctx context.Context) {
	if r.askID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTime)
	defer cancel()
	_, _ = r.client.Ack(ctx, r.askID) // the decision has been delivered, even if Ack fails
}

// Run is like [Runner.Run] for a hook that shares no ask.
func Run(ctx context.Context, client Client, ev Event) (Reply, error) {
	return new(Runner).Run(ctx, "", client, ev)
}

// Run handles an event: it makes an ask and waits for its answer until ctx ends, or withdraws
// asks that have become obsolete. owner is the name of the client's principal. After an error
// there is no output. Except for [ErrCannotAsk], the error is only for the log.
//
// If ctx ends before the answer, a deferrable call is deferred and its ask stays open.
// Every other ask is withdrawn when no hook of r waits for it, because its answer could
// not be delivered.
func (r *Runner) Run(ctx context.Context, owner string, client Client, ev Event) (Reply, error) {
	p, ok := prepare(ev)
	switch {
	case !ok && needsApproval(ev):
		return Reply{}, ErrCannotAsk
	case !ok:
		return Reply{}, WithdrawEnded(ctx, client, ev)
	}
	key := owner + "\n" + p.request.Key
	if err := r.join(ctx, key); err != nil {
		return Reply{}, err
	}
	withdrawAbandoned := func(ids []string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
		defer cancel()
		return withdraw(ctx, client, ids)
	}
	ask, id, err := askAndWait(ctx, client, p.request, ev)
	if id == "" {
		return Reply{}, errors.Join(err, r.leave(key, "", settled, withdrawAbandoned))
	}
	if err == nil {
		_ = r.leave(key, id, settled, withdrawAbandoned) // an error concerns other asks, and must not suppress the reply
		return newReply(ctx, client, ev, ask)
	}
	if ctx.Err() == nil {
		return Reply{}, errors.Join(fmt.Errorf("wait for %s: %w", id, err), r.leave(key, id, abandoned, withdrawAbandoned))
	}
	if out, ok := Defer(ev); ok {
		return Reply{Output: out}, r.leave(key, id, deferred, withdrawAbandoned)
	}
	return Reply{}, r.leave(key, id, abandoned, withdrawAbandoned)
}

// askAndWait makes an ask and waits for its outcome. It asks again if the ask was withdrawn
// because this hook seemed to have ended. id is "" if asking failed.
func askAndWait(ctx context.Context, client Client, r askback.Request, ev Event) (a askback.Ask, id string, err error) {
	for {
		if a, err = findOrAsk(ctx, client, r, ev); err != nil {
			return a, "", err
		}
		id = a.ID
		if a, err = client.Wait(ctx, id); err != nil || !withdrawnAsGone(a) {
			return a, id, err
		}
	}
}

// ErrCannotAsk is the error for a tool call that cannot be shown and approved unchanged. For
// example, it is too large, or has a number that a float64 cannot represent. Only for this
// error may the caller block the tool.
var ErrCannotAsk = errors.New("this call cannot be shown to a person without changes")

// newReply returns the reply for an outcome. It consumes an approval first, and returns an
// error if that fails.
func newReply(ctx context.Context, client Client, ev Event, ask askback.Ask) (Reply, error) {
	if o := ask.Outcome; o.Approved() {
		if _, err := client.Consume(ctx, ask.ID, o.Digest); err != nil {
			return Reply{}, fmt.Errorf("consume %s: %w", ask.ID, err)
		}
	}
	out, ok := Decision(ev, ask)
	r := Reply{Output: out, client: client}
	if ok && ask.AckedAt.IsZero() && !ask.Outcome.Approved() {
		r.askID = ask.ID
	}
	return r, nil
}

// CannotAsk reports whether [Run] returns [ErrCannotAsk] for an event.
func CannotAsk(ev Event) bool {
	_, ok := prepare(ev)
	return !ok && needsApproval(ev)
}

// needsApproval reports whether an event is about a tool that a person may approve.
func needsApproval(ev Event) bool {
	return (ev.Name == PermissionRequest || ev.Name == PreToolUse) && ev.Tool != QuestionTool && !isOwnTool(ev.Tool)
}

// findOrAsk returns the ask of a call, or makes a new one. A settled ask with the same
// content belongs to an earlier call, unless the event identifies its call. An ask that was
// withdrawn because its hook seemed to have ended is made again.
func findOrAsk(ctx context.Context, client Client, r askback.Request, ev Event) (askback.Ask, error) {
	first := r.Key
	for n := range maxRepeats {
		if n > 0 {
			r.Key = first + "#" + strconv.Itoa(n+1)
		}
		ask, err := client.Ask(ctx, r)
		if errors.Is(err, askback.ErrKeyReused) && ev.ToolUseID != "" {
			// The session was interactive when the call was made and is not now, or vice versa.
			ev.Headless = !ev.Headless
			r.Context = originJSON(ev)
			ask, err = client.Ask(ctx, r)
		}
		if err != nil {
			return askback.Ask{}, err
		}
		if !ask.Repeated || !ask.Settled() || ev.ToolUseID != "" && !withdrawnAsGone(ask) {
			return ask, nil
		}
	}
	return askback.Ask{}, fmt.Errorf("the same call was asked about %d times in one prompt", maxRepeats)
}

// withdraw withdraws the asks with the given ids that are still open.
func withdraw(ctx context.Context, client Client, ids []string) error {
	var errs []error
	for _, id := range ids {
		if _, err := client.Cancel(ctx, id, "Claude Code no longer waits for this"); !errors.Is(err, askback.ErrSettled) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
