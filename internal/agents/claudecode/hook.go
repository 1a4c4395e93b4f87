package claudecode

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// program is the name of the sender in the reason of a withdrawn ask.
const program = "Claude Code"

// Handle returns the job for an event: an ask, or the withdrawal of asks that have become obsolete. The job
// is empty for any other event. The error is [hook.ErrCannotAsk] if a person may have to approve a tool but
// cannot be asked. Only then may the caller block the tool.
func Handle(ev Event) (hook.Job, error) {
	call, ok := Call(ev)
	switch {
	case ok:
		return hook.Job{Call: &call}, nil
	case needsApproval(ev):
		return hook.Job{}, hook.ErrCannotAsk
	case !canEndAsks(ev.Name):
		return hook.Job{}, nil
	}
	return hook.Job{
		Withdraw: func(ctx context.Context, client hook.Client) error { return withdrawEnded(ctx, client, ev) },
	}, nil
}

// needsApproval reports whether an event is about a tool that a person may approve.
func needsApproval(ev Event) bool {
	return (ev.Name == PermissionRequest || ev.Name == PreToolUse) && ev.Tool != QuestionTool && !isOwn(ev)
}

// A Hook is the command askback hook claude-code.
type Hook struct {
	Defer     time.Duration `default:"10s" help:"Wait at most this long for an answer in claude -p. The run then ends; resume it once there is an answer."`
	Subagents time.Duration `default:"60s" help:"Wait at most this long for an answer about a call of a sub-agent, whose dialog Claude Code shows only then. 0 means no limit."`
	Strict    bool          `help:"After an error, block the call with exit code 2 instead of leaving it to Claude Code's dialog."`
}

// Traits implements [hook.Command].
func (c *Hook) Traits() hook.Traits { return hook.Traits{Guard: c.guard()} }

func (c *Hook) guard() hook.Guard {
	if c.Strict {
		return hook.BlockErrors
	}
	return hook.BlockNothing
}

// Read implements [hook.Command]. The job is empty if another program runs the hook, or if the settings have
// the same hook as the plugin. With Strict, a missing entry point does not make the job empty, because the
// hook must block calls.
func (c *Hook) Read(raw []byte, env hook.Env) (hook.Job, error) {
	entrypoint := env.Getenv(EntrypointVariable)
	ev, err := Read(raw, entrypoint)
	started := entrypoint != "" || c.Strict
	if errors.Is(err, ErrForeign) || err == nil && (!started || ev.isInherited(env.Getenv(SessionVariable))) {
		return hook.Job{}, nil // another program runs this hook, which then must print nothing
	}
	if err != nil {
		return hook.Job{Guard: c.guard()}, err
	}
	ev.Project = env.Getenv(ProjectVariable)
	if out, ok := allowOwnTool(ev); ok {
		return hook.Job{Guard: c.guard(), Output: out}, nil
	}
	if settingsHave(ev, env) {
		return hook.Job{}, nil
	}
	job, err := Handle(ev)
	job.Guard = c.guard()
	if job.Call != nil {
		job.Wait = c.wait(ev, *job.Call)
		readPlan(job.Call, env.Home, ev.Project, ev.CWD)
	}
	return job, err
}

// wait returns how long to wait for the answer to a call. 0 means no limit.
func (c *Hook) wait(ev Event, call hook.Call) time.Duration {
	switch {
	case call.Deferred != nil:
		return c.Defer
	case ev.BlocksDialog():
		return c.Subagents
	}
	return 0
}

// settingsHave reports whether Claude Code's plugin runs this hook, and the settings have a hook of Askback
// for the same event. The hook of the plugin must then do nothing, because Claude Code runs both hooks, and
// people would be asked twice.
func settingsHave(ev Event, env hook.Env) bool {
	if env.Getenv(PluginVariable) == "" {
		return false
	}
	for _, folder := range []string{ev.Project, env.Home} {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			settings, err := env.ReadFile(filepath.Join(folder, ".claude", name))
			if folder != "" && err == nil && HasHook(settings, ev.Name) {
				return true
			}
		}
	}
	return false
}
