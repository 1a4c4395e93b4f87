package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/askback/askback"
)

// A Seat is what a hook needs of one: to ask, and to see what it asked.
type Seat interface {
	askback.Asker
	List(ctx context.Context, q askback.Query) (askback.Page, error)
}

// maxRepeats is how often the same call of one prompt is asked about.
const maxRepeats = 50

// withdrawTime is what is left for a last word when the hook itself is over.
const withdrawTime = 5 * time.Second

// Run does what an event says: it asks and waits until ctx ends, or retires
// asks that were answered at the desk. The output is what the hook prints, or
// nil for no decision. An error is for the log alone: with one there is never
// any output.
//
// When ctx ends first, a deferrable call is put off and its ask stays open. All
// other asks are withdrawn, and every ask that cannot be waited for: nobody
// would hear their answers.
func Run(ctx context.Context, seat Seat, ev Event) ([]byte, error) {
	p, ok := put(ev)
	if Unaskable(ev) {
		return nil, ErrUnaskable
	}
	if !ok {
		return nil, Retire(ctx, seat, ev)
	}
	ask, err := open(ctx, seat, p.request, ev)
	if err != nil {
		return nil, err
	}
	id := ask.ID
	ask, err = seat.Wait(ctx, id)
	if err != nil && ctx.Err() != nil {
		return ended(ctx, seat, ev, id)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("wait for %s: %w", id, err), abandon(ctx, seat, id))
	}
	if o := ask.Outcome; o.Approved() {
		if _, err := seat.Consume(ctx, id, o.Digest); err != nil {
			return nil, fmt.Errorf("consume %s: %w", id, err)
		}
	}
	out, ok := Decision(ev, ask)
	if ok && ask.ReceivedAt.IsZero() && !ask.Outcome.Approved() {
		_, _ = seat.Receive(ctx, id) // without the receipt the decision is the same
	}
	return out, nil
}

// ErrUnaskable is for a tool whose call cannot be shown and approved as it is:
// too large, or with numbers that would change. It is told from having nothing
// to say, so that a gate can stay shut.
var ErrUnaskable = errors.New("this call cannot be put to a person as it is")

// Unaskable says whether an event is about such a call.
func Unaskable(ev Event) bool {
	_, ok := put(ev)
	return !ok && gated(ev)
}

// gated says whether an event is about a tool that a person may approve.
func gated(ev Event) bool {
	server, _ := toolOf(ev.Tool)
	return (ev.Name == PermissionRequest || ev.Name == PreToolUse) && ev.Tool != questionTool && server != ownServer
}

// open asks. The same words may be asked again later, and an old answer is no
// answer to that: a settled ask is passed over, unless the event itself says
// that it is the same call.
func open(ctx context.Context, seat Seat, r askback.Request, ev Event) (askback.Ask, error) {
	first := r.Key
	for n := range maxRepeats {
		if n > 0 {
			r.Key = first + "#" + strconv.Itoa(n+1)
		}
		ask, err := seat.Ask(ctx, r)
		if err != nil {
			return askback.Ask{}, err
		}
		if !ask.Repeated || !ask.Settled() || ev.ToolUseID != "" {
			return ask, nil
		}
	}
	return askback.Ask{}, fmt.Errorf("asked %d times in one prompt", maxRepeats)
}

// ended is what follows when the time of the hook is over.
func ended(ctx context.Context, seat Seat, ev Event, id string) ([]byte, error) {
	if out, ok := Defer(ev); ok {
		return out, nil
	}
	return nil, abandon(ctx, seat, id)
}

// abandon withdraws an ask, also when the time of the hook is over.
func abandon(ctx context.Context, seat Seat, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	return withdraw(ctx, seat, id)
}

func withdraw(ctx context.Context, seat Seat, id string) error {
	_, err := seat.Cancel(ctx, id, "Claude Code no longer waits for this here")
	if errors.Is(err, askback.ErrSettled) {
		return nil
	}
	return err
}

// Retire withdraws the asks that an event says are over.
func Retire(ctx context.Context, seat Seat, ev Event) error {
	if !ends(ev.Name) {
		return nil
	}
	var failed []error
	q := askback.Query{Status: askback.Pending, Agent: agent, Limit: askback.MaxLimit}
	for {
		page, err := seat.List(ctx, q)
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, ask := range page.Items {
			if Retires(ev, ask) {
				failed = append(failed, withdraw(ctx, seat, ask.ID))
			}
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return errors.Join(failed...)
		}
	}
}

// ends says whether asks may be over after an event of this name.
func ends(name string) bool {
	return slices.Contains([]string{PostToolUse, PostToolUseFailure, ElicitationResult, UserPromptSubmit, Stop, SessionEnd}, name)
}

// Retires says whether after this event nobody waits for an open ask: its tool
// ran, or its turn is over. A deferred call is waited for by nobody now and by
// the resumed session later: no end of a turn or session retires it.
func Retires(ev Event, ask askback.Ask) bool {
	var c origin
	if json.Unmarshal(ask.Context, &c) != nil || c.SessionID != ev.SessionID || ask.Agent != agent {
		return false
	}
	switch ev.Name {
	case PostToolUse, PostToolUseFailure:
		return asksFor(ev, ask)
	case ElicitationResult:
		return c.Hook == Elicitation && ask.Title == title(ev)
	case UserPromptSubmit, Stop, SessionEnd:
		return c.Hook == PermissionRequest || c.Hook == Elicitation
	}
	return false
}

// asksFor says whether an ask is about the call of an event. Answers are among
// the arguments by then, and are no part of the question.
func asksFor(ev Event, ask askback.Ask) bool {
	ev.Name = PermissionRequest
	p, ok := put(ev)
	switch {
	case !ok:
		return false
	case p.request.Confirmation != nil:
		return ask.Confirmation != nil && sameTool(*p.request.Confirmation, *ask.Confirmation)
	}
	return ask.Confirmation == nil && bytes.Equal(asJSON(p.request.Questions), asJSON(ask.Questions))
}

func asJSON(questions []askback.Question) []byte {
	b, err := json.Marshal(questions)
	if err != nil {
		return nil
	}
	return b
}
