// Package hook speaks the hook protocol of Claude Code: what an event of it
// asks people, and what they decided in the words of its output.
//
// One rule stands above all: whatever goes wrong, there is no output, so that
// Claude Code asks in its own dialog as if nobody were here. Nothing but an
// answer of a person, or of a grant a person made, ever makes a decision that
// lets something happen. How an event comes and where the output goes is for
// others: standard input, or HTTP.
package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/askback/askback/internal/canon"
)

// The events that mean something here. Of all others nothing follows.
const (
	PermissionRequest  = "PermissionRequest"  // its own dialog is open beside us
	PreToolUse         = "PreToolUse"         // the tool waits for us alone
	Elicitation        = "Elicitation"        // an MCP server asks
	ElicitationResult  = "ElicitationResult"  // and was answered
	PostToolUse        = "PostToolUse"        // the tool ran, so somebody allowed it
	PostToolUseFailure = "PostToolUseFailure" // the same
	UserPromptSubmit   = "UserPromptSubmit"   // a person is at the desk
	Stop               = "Stop"               // the turn is over
	SessionEnd         = "SessionEnd"         // the session is over
)

// questionTool is the ask tool of Claude Code.
const questionTool = "AskUserQuestion"

// ownServer is how askback init names our MCP server: whoever calls its tools
// asks people anyway.
const ownServer = "askback"

// An Event is one call of a hook.
type Event struct {
	Name           string
	SessionID      string // Claude Code's own
	PromptID       string // of the prompt that is worked on; not after a resume
	CWD            string
	PermissionMode string
	Subagent       string // the type of the sub-agent that calls, "" for none

	Tool      string
	ToolUseID string // not of [PermissionRequest]
	Input     json.RawMessage

	Server        string // of an elicitation
	Message       string
	Mode          string // form or url
	Schema        json.RawMessage
	ElicitationID string

	// Headless says that nobody sits at this session (claude -p), so that a
	// call can be deferred: Claude Code ends and is resumed when there is an
	// answer. The event does not say it; see [Headless].
	Headless bool
}

// maxDepth is generous: what a tool returned is read only to be skipped.
const maxDepth = 256

// Read reads the input of a hook. Members without a meaning here are skipped:
// every version of Claude Code adds some.
func Read(raw []byte) (Event, error) {
	v, err := canon.Limits{Depth: maxDepth}.Parse(raw)
	if err != nil {
		return Event{}, err
	}
	var ev Event
	texts := map[string]*string{
		"hook_event_name": &ev.Name, "session_id": &ev.SessionID, "prompt_id": &ev.PromptID, "cwd": &ev.CWD, "permission_mode": &ev.PermissionMode,
		"agent_type": &ev.Subagent, "tool_name": &ev.Tool, "tool_use_id": &ev.ToolUseID,
		"mcp_server_name": &ev.Server, "message": &ev.Message, "mode": &ev.Mode, "elicitation_id": &ev.ElicitationID,
	}
	objects := map[string]*json.RawMessage{"tool_input": &ev.Input, "requested_schema": &ev.Schema}
	for _, m := range v.Members() {
		if into, ok := texts[m.Name]; ok && m.Value.Kind == canon.String {
			*into = m.Value.Text()
		}
		if into, ok := objects[m.Name]; ok && m.Value.Kind == canon.Object {
			*into = bytes.Clone(m.Value.Raw(raw)) // who waits holds this, not all that came
		}
	}
	if ev.Name == "" || ev.SessionID == "" {
		return Event{}, errors.New("this is no hook event of Claude Code: hook_event_name or session_id is missing")
	}
	return ev, nil
}

// Path is where the HTTP endpoint of hooks is, at every server.
const Path = "/api/v1/hooks/claude-code"

// Patience is how long a call waits that can be deferred, unless the hook is
// told otherwise. Nobody sits there, and a run that ended costs nothing.
const Patience = 10 * time.Second

// MaxInput bounds the input of a hook, in bytes: what a tool returned is in it.
const MaxInput = 8 << 20

// Where a hook finds how Claude Code was started: a command in its environment,
// an HTTP endpoint in a header that the configuration fills in.
const (
	EntrypointVariable = "CLAUDE_CODE_ENTRYPOINT"
	EntrypointHeader   = "X-Askback-Entrypoint"
)

// Headless says whether an entry point is that of claude -p. A program that
// drives Claude Code and shows its questions itself has another one.
func Headless(entrypoint string) bool { return entrypoint == "sdk-cli" }
