package claudecode

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// program is the name of the sender in the reason of a withdrawn ask.
const program = "Claude Code"

// Run handles an event: it makes an ask and waits for its answer until ctx ends, or withdraws
// asks that have become obsolete. owner is the name of the client's principal. After an error
// there is no output. Except for [ErrCannotAsk], the error is only for the log. See
// [hook.Runner.Run].
func Run(ctx context.Context, r *hook.Runner, owner string, client hook.Client, ev Event) (hook.Reply, error) {
	p, ok := prepare(ev)
	switch {
	case !ok && needsApproval(ev):
		return hook.Reply{}, ErrCannotAsk
	case !ok:
		return hook.Reply{}, WithdrawEnded(ctx, client, ev)
	}
	call := hook.Call{
		Request: p.request, Unique: ev.ToolUseID != "", Program: program,
		Decide: func(ask askback.Ask) ([]byte, bool) { return Decision(ev, ask) },
	}
	call.Deferred, _ = Defer(ev)
	return r.Run(ctx, owner, client, call)
}

// ErrCannotAsk is the error for a tool call that cannot be shown and approved unchanged. For
// example, it is too large, or has a number that a float64 cannot represent. Only for this
// error may the caller block the tool.
var ErrCannotAsk = errors.New("this call cannot be shown to a person without changes")

// CannotAsk reports whether [Run] returns [ErrCannotAsk] for an event.
func CannotAsk(ev Event) bool {
	_, ok := prepare(ev)
	return !ok && needsApproval(ev)
}

// needsApproval reports whether an event is about a tool that a person may approve.
func needsApproval(ev Event) bool {
	return (ev.Name == PermissionRequest || ev.Name == PreToolUse) && ev.Tool != QuestionTool && !isOwn(ev)
}
