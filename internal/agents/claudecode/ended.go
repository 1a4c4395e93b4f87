package claudecode

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/text/plan"
)

// withdrawEnded withdraws the asks that an event makes obsolete. It may continue for
// [hook.WithdrawTime] after ctx ends, because a session that ends does not wait for its hooks.
func withdrawEnded(ctx context.Context, client hook.Client, ev Event) error {
	ctx, cancel := withGracePeriod(ctx, hook.WithdrawTime)
	defer cancel()
	ids, err := endedAsks(ctx, client, ev)
	return errors.Join(err, hook.WithdrawObsolete(ctx, client, ids, program))
}

// endedAsks returns the ids of the asks that an event makes obsolete. If it is unknown which
// of several forms was answered, it returns no ids.
func endedAsks(ctx context.Context, client hook.Client, ev Event) (ids []string, err error) {
	e := newEndingEvent(ev)
	err = hook.EachPending(ctx, client.List, func(ask askback.Ask) {
		if e.endsAsk(ask) {
			ids = append(ids, ask.ID)
		}
	})
	if err != nil {
		return ids, err
	}
	if nameless := ev.Message == "" && ev.ElicitationID == ""; ev.Name == ElicitationResult &&
		nameless && len(ids) > 1 {
		return nil, nil // it is unknown which of the forms was answered
	}
	return ids, nil
}

// withGracePeriod returns a context that ends when period has passed after the end of ctx.
func withGracePeriod(ctx context.Context, period time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(period):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// canEndAsks reports whether events of this name may make asks obsolete.
func canEndAsks(name string) bool {
	return slices.Contains(
		[]string{PostToolUse, PostToolUseFailure, ElicitationResult, UserPromptSubmit, Stop, SessionEnd}, name,
	)
}

// An endingEvent is an event that may make many asks obsolete.
type endingEvent struct {
	ev Event
	// asked returns the request that a PermissionRequest about the same call would make. The request is
	// computed only once, because the input may be large.
	asked func() (preparedRequest, bool)
}

func newEndingEvent(ev Event) endingEvent {
	asking := ev
	asking.Name = PermissionRequest
	return endingEvent{ev, sync.OnceValues(func() (preparedRequest, bool) { return prepare(asking) })}
}

// endsAsk reports whether the event makes an open ask obsolete: the tool of the ask ran, its form was
// answered, or its turn or session is over. The end of a turn or session does not end the ask of a deferrable
// call, because a resumed session may wait for the ask.
func (e endingEvent) endsAsk(ask askback.Ask) bool {
	c, ok := parseOrigin(ask.Context)
	if !ok || c.SessionID != e.ev.SessionID || !hook.IsBy(ask, Name) {
		return false
	}
	switch e.ev.Name {
	case PostToolUse, PostToolUseFailure:
		return c.ran(e.ev) && e.isAbout(ask)
	case ElicitationResult:
		return c.answered(e.ev) && (e.ev.Message == "" || ask.Title == hook.Title(fullMessage(e.ev)))
	case UserPromptSubmit, Stop, SessionEnd:
		return c.Hook == PermissionRequest || c.Hook == Elicitation || c.NotDeferrable
	}
	return false
}

// isAbout reports whether an ask is about the tool call of the event. For [QuestionTool] it
// ignores the answers, which are added to the arguments when the tool runs. For a plan it ignores the arguments,
// because the user may edit the plan in the dialog.
func (e endingEvent) isAbout(ask askback.Ask) bool {
	if (ask.Confirmation == nil) != (e.ev.Tool == QuestionTool) ||
		ask.Confirmation != nil && !isTool(*ask.Confirmation, e.ev.Tool) {
		return false
	}
	if plan.IsTool(e.ev.Tool) {
		return true
	}
	p, ok := e.asked()
	switch {
	case !ok:
		return false
	case ask.Confirmation != nil:
		return hook.IsSameCall(*p.request.Confirmation, *ask.Confirmation)
	}
	return slices.EqualFunc(p.request.Questions, ask.Questions, sameQuestion)
}

// isTool reports whether a confirmation is about the tool with this name.
func isTool(c askback.Confirmation, name string) bool {
	server, tool := hook.SplitToolName(name)
	return c.Server == server && c.ToolName == tool
}

func sameQuestion(a, b askback.Question) bool {
	return a.ID == b.ID && a.Text == b.Text && a.Header == b.Header && a.MultiSelect == b.MultiSelect &&
		a.NoOther == b.NoOther &&
		a.Optional == b.Optional && slices.Equal(a.Options, b.Options) && slices.Equal(a.Default, b.Default)
}
