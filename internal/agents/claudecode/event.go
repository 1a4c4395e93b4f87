// Package claudecode implements the hook protocol of Claude Code: it makes the ask for an event, and returns
// the output for its outcome. If anything fails there is no output, so that Claude Code shows its own dialog.
// Only an answer of a person, or a grant that a person made, results in a decision that allows something. The
// caller reads the event and prints the output, through standard input and output or over HTTP.
package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// The events that are handled. Other events are ignored.
const (
	PermissionRequest  = "PermissionRequest"  // Claude Code shows its own dialog at the same time
	PreToolUse         = "PreToolUse"         // the tool waits for the hook
	Elicitation        = "Elicitation"        // an MCP server asks the user
	ElicitationResult  = "ElicitationResult"  // the user has answered in the dialog of Claude Code
	PostToolUse        = "PostToolUse"        // the tool ran, so it was allowed
	PostToolUseFailure = "PostToolUseFailure" // the tool ran and failed
	UserPromptSubmit   = "UserPromptSubmit"   // the user has sent a prompt
	Stop               = "Stop"               // the turn has ended
	SessionEnd         = "SessionEnd"         // the session has ended
)

// QuestionTool is the tool with which Claude Code asks its user questions.
const QuestionTool = "AskUserQuestion"

// OwnTools are the tools that need no approval.
var OwnTools = hook.OwnTools

// An Event is the input of one call of a hook.
type Event struct {
	Name           string
	SessionID      string // the session of Claude Code
	PromptID       string // the id of the current prompt, empty after a resume
	CWD            string
	Project        string // the folder of the project, or ""; the caller sets it, because it is not part of the event
	PermissionMode string
	Subagent       string // the type of the sub-agent, or ""
	SubagentID     string // the id of the sub-agent

	Tool      string
	ToolUseID string // empty for [PermissionRequest]
	Input     json.RawMessage
	// ToolServer is the MCP server of the tool, as Claude Code sends it. Versions before 2.1.329 may not send
	// it.
	ToolServer ToolServer

	Server        string // the MCP server of an elicitation
	Message       string
	Mode          string // form or url
	Schema        json.RawMessage
	ElicitationID string

	// Headless is set for a session without a user (claude -p). Calls of such a session can be deferred:
	// Claude Code ends, and is resumed when there is an answer. The event does not contain Headless; see
	// [IsHeadless].
	Headless bool

	foreign bool // the event has a member of foreignMembers
}

// ErrForeign is the error for an event of another program. This is Codex, or a program that also runs the
// hooks in Claude Code's settings, such as GitHub Copilot CLI. The hook must then print nothing.
var ErrForeign = fmt.Errorf("%w than Claude Code", hook.ErrForeign)

// The maximum sizes of a form and of a server in an event, in bytes. A larger value is ignored, because
// people cannot be asked about such a form.
const (
	maxForm   = 256 << 10
	maxServer = 64 << 10
)

// Read parses the input of a hook. It skips unknown members, because each version of Claude Code adds some,
// and results of tools are most of an event. It also skips arguments and a schema that are too long, but a
// text that is too long is an error. The event keeps no part of raw.
//
// entrypoint is the value of [EntrypointVariable]. If the event has one of foreignMembers, and entrypoint or
// a required member is empty, the error is [ErrForeign]. The error is also [ErrForeign] for an event of
// Codex, which has a turn and no prompt. Claude Code may have started Codex, so entrypoint does not identify
// an event of Codex.
func Read(raw []byte, entrypoint string) (Event, error) {
	m, err := hook.ReadMembers(raw, slices.Concat(foreignMembers, []string{
		"hook_event_name", "session_id", "prompt_id", "turn_id", "cwd", "permission_mode", "agent_type", "agent_id",
		"tool_name", "tool_use_id", "mcp_server_name", "message", "mode", "elicitation_id", "tool_input",
		"requested_schema", "mcp_server",
	})...)
	if err != nil {
		return Event{}, err
	}
	ev := Event{
		Name: m.Text("hook_event_name"), SessionID: m.Text("session_id"), PromptID: m.Text("prompt_id"),
		CWD: m.Text("cwd"), PermissionMode: m.Text("permission_mode"), Subagent: m.Text("agent_type"),
		SubagentID: m.Text("agent_id"), Tool: m.Text("tool_name"), ToolUseID: m.Text("tool_use_id"),
		Input:      m.Input(raw, "tool_input"),
		ToolServer: readToolServer(m.Object(raw, "mcp_server", maxServer)),
		Server:     m.Text("mcp_server_name"), Message: m.Text("message"), Mode: m.Text("mode"),
		Schema: m.Object(raw, "requested_schema", maxForm), ElicitationID: m.Text("elicitation_id"),
		Headless: IsHeadless(entrypoint), foreign: m.HasAny(foreignMembers),
	}
	turn := m.Text("turn_id") // a member of all events of Codex, except SessionEnd
	nameless := ev.Name == "" || ev.SessionID == ""
	switch {
	case turn != "" && ev.PromptID == "", ev.foreign && (nameless || entrypoint == ""):
		return Event{}, ErrForeign
	case nameless:
		return Event{}, errors.New("this is not a hook event of Claude Code: hook_event_name or session_id is missing")
	}
	return ev, nil
}

// foreignMembers are members that events of GitHub Copilot CLI, Visual Studio Code and Cursor have. So far,
// no event of Claude Code has these members. If a later Claude Code adds such a member, the entry point still
// identifies the events of Claude Code.
var foreignMembers = []string{"hookName", "hookEventName", "sessionId", "timestamp", "cursor_version"}

// Path is the path of the HTTP endpoint for hooks.
const Path = "/api/v1/hooks/claude-code"

// DefaultWait is how long a deferrable call waits by default. It is short, because a deferred
// run costs nothing.
const DefaultWait = 10 * time.Second

// DefaultSubagentWait is how long a call of a sub-agent waits by default; see [Event.BlocksDialog]. A person
// at the desk can do nothing else about the call during this time.
const DefaultSubagentWait = time.Minute

// MaxInput is the maximum size of an event in bytes.
const MaxInput = hook.MaxEvent

// The environment variable and the header with the entry point. The entry point identifies how Claude Code
// was started. A command hook reads the variable. An HTTP hook sends the header.
const (
	EntrypointVariable = "CLAUDE_CODE_ENTRYPOINT"
	EntrypointHeader   = "X-Askback-Entrypoint"
	// SessionVariable is the environment variable with the id of the session. Claude Code sets
	// it for MCP servers that it starts.
	SessionVariable = "CLAUDE_CODE_SESSION_ID"
)

// BlocksDialog reports whether Claude Code shows its dialog about the event only after the hook has ended. It
// does so for a sub-agent that runs in the background; for other calls it shows the dialog while the hook
// waits. The event does not contain whether a sub-agent runs in the background. A headless session has no
// dialog.
func (ev Event) BlocksDialog() bool {
	return ev.SubagentID != "" && !ev.Headless && (ev.Name == PermissionRequest || ev.Name == Elicitation)
}

// IsHeadless reports whether Claude Code was started as claude -p, from its entry point. A program that runs
// Claude Code and shows its questions itself has another entry point.
func IsHeadless(entrypoint string) bool { return entrypoint == "sdk-cli" }
