package claudehook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
)

// Retire withdraws the asks that an event says are over. Whoever sent the event may
// be gone at once, as a session that ends is: it goes on for a moment, and no
// longer.
func Retire(ctx context.Context, seat Client, ev Event) error {
	if !ends(ev.Name) {
		return nil
	}
	ctx, cancel := outliving(ctx, withdrawTime)
	defer cancel()
	ids, err := retired(ctx, seat, ev)
	failed := []error{err}
	for _, id := range ids {
		failed = append(failed, withdraw(ctx, seat, id))
	}
	return errors.Join(failed...)
}

// retired are the ids of the asks that are over.
func retired(ctx context.Context, seat Client, ev Event) (ids []string, err error) {
	e := endingOf(ev)
	for _, sender := range senders(ev) {
		err := eachPending(ctx, seat.List, sender, func(ask askback.Ask) {
			if e.retires(ask) {
				ids = append(ids, ask.ID)
			}
		})
		if err != nil {
			return ids, err
		}
	}
	if nameless := ev.Message == "" && ev.ElicitationID == ""; ev.Name == ElicitationResult && nameless && len(ids) > 1 {
		return nil, nil // nothing says which of them was answered
	}
	return ids, nil
}

// eachPending calls do for each open ask with a label.
func eachPending(ctx context.Context, list func(context.Context, askback.Query) (askback.Page, error), label string, do func(askback.Ask)) error {
	q := askback.Query{Status: askback.Pending, Agent: label, Limit: askback.MaxLimit}
	for {
		page, err := list(ctx, q)
		if err != nil {
			return err
		}
		for _, ask := range page.Items {
			do(ask)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
}

// senders are the labels of the asks that an event may end. The end of a session
// of Codex is written as that of Claude Code is.
func senders(ev Event) []string {
	if ev.Name == SessionEnd {
		return []string{ClaudeCode, Codex}
	}
	return []string{ev.label()}
}

// outliving returns a context that ends a while after ctx does.
func outliving(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(while):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// ends says whether asks may be over after an event of this name.
func ends(name string) bool {
	return slices.Contains([]string{PostToolUse, PostToolUseFailure, ElicitationResult, UserPromptSubmit, Stop, Interrupt, SessionEnd}, name)
}

// Retires says whether after this event nobody waits for an open ask: its tool
// ran, or its turn is over. A deferred call is waited for by nobody now and by
// the resumed session later: no end of a turn or session retires it.
func Retires(ev Event, ask askback.Ask) bool { return endingOf(ev).retires(ask) }

// ending is an event that may retire many asks.
type ending struct {
	ev Event
	// asked is what its tool was asked about. It is found out once, and not for
	// each ask: an input may be large.
	asked func() (pending, bool)
}

func endingOf(ev Event) ending {
	asking := ev
	asking.Name = PermissionRequest
	return ending{ev, sync.OnceValues(func() (pending, bool) { return put(asking) })}
}

func (e ending) retires(ask askback.Ask) bool {
	c, ok := originOf(ask.Context)
	if !ok || c.SessionID != e.ev.SessionID || !slices.Contains(senders(e.ev), ask.Agent) {
		return false
	}
	switch e.ev.Name {
	case PostToolUse, PostToolUseFailure:
		return c.ran(e.ev) && e.asksFor(ask)
	case ElicitationResult:
		return c.answered(e.ev) && (e.ev.Message == "" || ask.Title == title(saying(e.ev)))
	case UserPromptSubmit, Stop, Interrupt, SessionEnd:
		return c.Hook == PermissionRequest || c.Hook == Elicitation || c.Seated
	}
	return false
}

// asksFor says whether an ask is about the tool of the event. Answers are among
// the arguments by then, and are no part of the question.
func (e ending) asksFor(ask askback.Ask) bool {
	if (ask.Confirmation == nil) != (e.ev.Tool == questionTool) || ask.Confirmation != nil && !called(*ask.Confirmation, e.ev.Tool) {
		return false
	}
	p, ok := e.asked()
	switch {
	case !ok:
		return false
	case ask.Confirmation != nil:
		return sameTool(*p.request.Confirmation, *ask.Confirmation)
	}
	return slices.EqualFunc(p.request.Questions, ask.Questions, sameQuestion)
}

// called says whether a confirmation is about a tool of this name.
func called(c askback.Confirmation, name string) bool {
	server, tool := toolOf(name)
	return c.Server == server && c.ToolName == tool
}

func sameQuestion(a, b askback.Question) bool {
	return a.ID == b.ID && a.Text == b.Text && a.Header == b.Header && a.MultiSelect == b.MultiSelect && a.NoOther == b.NoOther &&
		a.Optional == b.Optional && slices.Equal(a.Options, b.Options) && slices.Equal(a.Default, b.Default)
}
