// Package hook asks people on behalf of agents that run a hook, a program or an HTTP request, and wait for
// its decision. It makes the ask, waits for its outcome, consumes an approval, and withdraws the ask if the
// agent no longer waits. The format of the events and the decisions of an agent has a package of its own,
// such as [internal/agents/claudecode].
//
// If anything fails, the reply has no output. What the agent does then depends on the agent, so the caller
// must know whether a hook without output allows something.
package hook

import (
	"context"
	"encoding/json"
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

// A Call is a tool call that waits for the decision of a hook.
type Call struct {
	// Request is the ask of the call. Its context has the format of [Origin], so that the ask is withdrawn if
	// the hook is killed.
	Request askback.Request
	// Unique is set if the key of Request identifies one call. Otherwise equal calls have
	// the same key, and a settled ask with this key belongs to an earlier call.
	Unique bool
	// Deferred is the output for a call whose answer comes too late. The agent will make
	// the same call again, so the ask stays open. If Deferred is nil, the ask is withdrawn.
	Deferred []byte
	// Program is the name of the agent's program in the reason of a withdrawn ask.
	Program string
	// Late is the reason, for people, of an ask that is withdrawn because the time to wait has passed. If it is
	// "", the reason is that Program no longer waits.
	Late string
	// Decide returns the output for a settled ask. It returns false if the hook makes no decision. An
	// approval has been consumed already.
	Decide func(askback.Ask) (out []byte, ok bool)
}

// An Origin is the context of an ask of a hook. People see it.
type Origin struct {
	Hook    string `json:"hook"`    // the name of the event
	Session string `json:"session"` // the session of the agent
	CWD     string `json:"cwd,omitempty"`
	// Subagent is the type of the sub-agent, or "".
	Subagent string `json:"subagent,omitempty"`
	// Seated is set if only the waiting hook can deliver the answer.
	Seated bool `json:"seated,omitempty"`
}

// JSON returns the context of an ask.
func (o Origin) JSON() json.RawMessage {
	b, _ := json.Marshal(o) // strings can always be encoded
	return b
}

// MaxEvent is the maximum size of an event in bytes. An event may contain the result of a
// tool.
const MaxEvent = 8 << 20

// maxRepeats is the maximum number of asks for equal calls.
const maxRepeats = 50

// errTooOften is the error for a call that has maxRepeats asks.
var errTooOften = fmt.Errorf("the same call was asked about %d times", maxRepeats)

const (
	// WithdrawTime is how long withdrawing may take after the hook has ended.
	WithdrawTime = 5 * time.Second
	// ackTime is how long an ack may take.
	ackTime = 5 * time.Second
)

// A Reply is the result of a hook.
type Reply struct {
	Output []byte // the text to print; nil without a decision
	client Client
	askID  string // the ask to acknowledge; "" if no ask needs an ack
}

// Ack acknowledges the outcome in the reply, unless the outcome is already acknowledged. Call Ack only after
// the agent has read the output, because only then is the outcome delivered.
func (r Reply) Ack(ctx context.Context) {
	if r.askID == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTime)
	defer cancel()
	_, _ = r.client.Ack(ctx, r.askID) // the decision has been delivered, even if Ack fails
}

// Run makes the ask of a call and waits for its answer until ctx ends. owner is the name of the client's
// principal. After an error there is no output.
//
// If ctx ends before the answer, a call that has an output for this case is deferred and its ask stays open.
// The ask of any other call is withdrawn when no hook of r waits for it, because its answer could not be
// delivered.
func (r *Runner) Run(ctx context.Context, owner string, client Client, call Call) (Reply, error) {
	key := owner + "\n" + call.Request.Key
	if err := r.join(ctx, key); err != nil {
		return Reply{}, err
	}
	reason := func() string {
		if call.Late != "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return call.Late
		}
		return call.Program + noLongerWaits
	}
	withdrawAbandoned := func(ids []string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), WithdrawTime)
		defer cancel()
		return withdraw(ctx, client, ids, reason())
	}
	ask, id, err := askAndWait(ctx, client, call)
	if id == "" {
		return Reply{}, errors.Join(err, r.leave(key, "", settled, withdrawAbandoned))
	}
	if err == nil {
		// the error concerns other asks, and must not suppress the reply
		_ = r.leave(key, id, settled, withdrawAbandoned)
		return newReply(ctx, client, call, ask)
	}
	if ctx.Err() == nil {
		return Reply{}, errors.Join(fmt.Errorf("wait for %s: %w", id, err),
			r.leave(key, id, abandoned, withdrawAbandoned))
	}
	if call.Deferred != nil {
		return Reply{Output: call.Deferred}, r.leave(key, id, deferred, withdrawAbandoned)
	}
	return Reply{}, r.leave(key, id, abandoned, withdrawAbandoned)
}

// askAndWait makes an ask and waits for its outcome. It asks again if the ask was withdrawn
// because this hook seemed to have ended. id is "" if asking failed.
func askAndWait(ctx context.Context, client Client, call Call) (a askback.Ask, id string, err error) {
	for {
		if a, err = findOrAsk(ctx, client, call); err != nil {
			return a, "", err
		}
		id = a.ID
		if a, err = client.Wait(ctx, id); err != nil || !withdrawnAsGone(a) {
			return a, id, err
		}
	}
}

// newReply returns the reply for an outcome. It consumes an approval first, and returns an
// error if that fails.
func newReply(ctx context.Context, client Client, call Call, ask askback.Ask) (Reply, error) {
	if o := ask.Outcome; o.Approved() {
		if _, err := client.Consume(ctx, ask.ID, o.Digest); err != nil {
			return Reply{}, fmt.Errorf("consume %s: %w", ask.ID, err)
		}
	}
	out, ok := call.Decide(ask)
	r := Reply{Output: out, client: client}
	if ok && ask.AckedAt.IsZero() && !ask.Outcome.Approved() {
		r.askID = ask.ID
	}
	return r, nil
}

// findOrAsk returns the ask of a call, or makes a new ask. A settled ask with the same content belongs to an
// earlier call, unless the call is unique. An ask that was withdrawn because its hook seemed to have ended is
// made again.
func findOrAsk(ctx context.Context, client Client, call Call) (askback.Ask, error) {
	r := call.Request
	first := r.Key
	for n := range maxRepeats {
		if n > 0 {
			r.Key = first + "#" + strconv.Itoa(n+1)
		}
		ask, err := askAgain(ctx, client, r)
		if err != nil {
			return askback.Ask{}, err
		}
		if !ask.Repeated || !ask.Settled() || call.Unique && !withdrawnAsGone(ask) {
			return ask, nil
		}
	}
	return askback.Ask{}, errTooOften
}

// askAgain makes an ask, or returns the ask with the same key. The context and the label may differ: a
// resumed session may make the same call in another folder or mode, and an earlier version may have asked
// with another label.
func askAgain(ctx context.Context, client Client, r askback.Request) (askback.Ask, error) {
	ask, err := client.Ask(ctx, r)
	if !errors.Is(err, askback.ErrKeyReused) {
		return ask, err
	}
	page, failed := client.List(ctx, askback.Query{Key: r.Key})
	if failed != nil || len(page.Items) != 1 {
		return ask, errors.Join(err, failed)
	}
	r.Context, r.Agent = page.Items[0].Context, page.Items[0].Agent
	return client.Ask(ctx, r)
}

// WithdrawObsolete withdraws the asks with the given ids for which a program no longer waits.
func WithdrawObsolete(ctx context.Context, client Client, ids []string, program string) error {
	return withdraw(ctx, client, ids, program+noLongerWaits)
}

const noLongerWaits = " no longer waits for this"

// withdraw withdraws the asks with the given ids that are still open.
func withdraw(ctx context.Context, client Client, ids []string, reason string) error {
	var errs []error
	for _, id := range ids {
		if _, err := client.Cancel(ctx, id, reason); !errors.Is(err, askback.ErrSettled) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
