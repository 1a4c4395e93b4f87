package codex

import (
	"context"
	"errors"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// withdrawEnded withdraws the asks that an event makes obsolete.
func withdrawEnded(ctx context.Context, client hook.Client, ev Event) error {
	var ids []string
	err := hook.EachPending(ctx, client.List, func(ask askback.Ask) {
		if endsAsk(ev, ask) {
			ids = append(ids, ask.ID)
		}
	})
	return errors.Join(err, hook.WithdrawObsolete(ctx, client, ids, program))
}

// endsAsk reports whether an event makes an open ask obsolete: its tool ran, its turn is over, or its session
// has ended. A sub-agent may continue after the turn of its parent. A prompt may also be added to the current
// turn, whose asks stay open.
func endsAsk(ev Event, ask askback.Ask) bool {
	c, ok := parseOrigin(ask.Context)
	if !ok || c.Session != ev.SessionID || !hook.IsBy(ask, Name) ||
		c.Hook != PermissionRequest && c.Hook != PreToolUse {
		return false
	}
	sameTurn := c.Turn == ev.TurnID || c.Turn == ""
	sameAgent := c.Subagent == ev.Subagent && c.SubagentID == ev.SubagentID
	switch ev.Name {
	case PostToolUse:
		sameID := c.ToolUseID == ev.ToolUseID || c.Hook == PermissionRequest && sameAgent
		return sameTurn && sameID && isAbout(ask, ev)
	case UserPromptSubmit:
		return sameAgent && c.Turn != ev.TurnID
	case Stop, Interrupt:
		return sameAgent
	}
	return ev.Name == SessionEnd
}

// isAbout reports whether an ask is about the tool call of an event. The arguments of a guarded
// call may have been changed, so only its tool is compared.
func isAbout(ask askback.Ask, ev Event) bool {
	if ask.Confirmation == nil {
		return ev.Tool == QuestionTool
	}
	called := *hook.Permission(Name, ev.Tool, ev.Input).Confirmation
	if c, _ := parseOrigin(ask.Context); c.Hook == PreToolUse {
		return called.ToolName == ask.Confirmation.ToolName && called.Server == ask.Confirmation.Server
	}
	asking := ev
	asking.Name = PermissionRequest
	p, ok := prepare(asking)
	return ok && hook.IsSameCall(*p.request.Confirmation, *ask.Confirmation)
}
