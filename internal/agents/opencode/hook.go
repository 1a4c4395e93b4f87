package opencode

import "github.com/askback/askback/internal/agents/hook"

// A Hook is the command askback hook opencode, which the plugin runs.
type Hook struct{}

// Traits implements [hook.Command]. The plugin closes the input when it no longer waits.
func (*Hook) Traits() hook.Traits { return hook.Traits{Line: true} }

// Read implements [hook.Command]. A call of the gate, which has no dialog, is blocked after an
// error.
func (*Hook) Read(raw []byte, _ hook.Env) (job hook.Job, err error) {
	ev, err := Read(raw)
	if err != nil {
		return job, err
	}
	if ev.Name == ToolCall {
		job.Guard = hook.BlockErrors
	}
	call, err := Call(ev)
	job.Call = &call
	return job, err
}
