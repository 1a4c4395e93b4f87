// Package claudehook speaks the hook protocol of Claude Code: what an event of it
// asks people, and what they decided in the words of its output.
//
// One rule stands above all: whatever goes wrong, there is no output, so that
// Claude Code asks in its own dialog as if nobody were here. Nothing but an
// answer of a person, or of a grant a person made, ever makes a decision that
// lets something happen. How an event comes and where the output goes is for
// others: standard input, or HTTP.
package claudehook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/jcs"
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
	Interrupt          = "Interrupt"          // a person stopped the turn; only Codex sends it
	SessionEnd         = "SessionEnd"         // the session is over
)

// questionTool is the ask tool of Claude Code.
const questionTool = "AskUserQuestion"

// ownServer is how askback init names our MCP server.
const ownServer = "askback"

// ownTools are all tools of it: whoever calls one of them asks people anyway.
// Another tool of a server of that name is no tool of ours.
var ownTools = []string{
	asktool.AskUserQuestion, asktool.ConfirmAction, "wait_for_answer", "get_answer", "list_open_questions", "withdraw_question", "permission_prompt",
}

// own says whether a name is the full name of a tool of ours.
func own(name string) bool {
	server, tool := toolOf(name)
	return server == ownServer && slices.Contains(ownTools, tool)
}

// An Event is one call of a hook.
type Event struct {
	Name           string
	Sender         string // [Codex]; "" is Claude Code
	SessionID      string // Claude Code's own
	PromptID       string // of the prompt that is worked on; not after a resume. Codex calls it a turn
	CWD            string
	PermissionMode string
	Subagent       string // the type of the sub-agent that calls, "" for none
	SubagentID     string // which one of that type

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

// The programs whose hooks are answered. Each name is also the label of what is
// asked through its hook.
const (
	ClaudeCode = "claude-code"
	// Codex has hooks with the same events and nearly the same words. It runs
	// those in its own configuration only, so a person put ours there.
	Codex = "codex"
)

// ErrForeign is the error for an event of another program that runs the hooks in
// Claude Code's settings by itself, as GitHub Copilot CLI does. Such a hook
// prints nothing, whatever is asked.
var ErrForeign = errors.New("another program than Claude Code runs this hook")

// The bounds of what is read of an event, in bytes. An input or a form that is
// larger cannot be asked, so it is left out. No text is as long.
const (
	maxText = 64 << 10
	maxForm = 256 << 10
)

// maxDepth is generous: what a tool returned is read only to be skipped.
const maxDepth = 256

// Read reads the input of a hook. Members without a meaning here are skipped:
// every version of Claude Code adds some, and most of an event is what a tool
// returned. Nothing of raw is held.
//
// Entrypoint is how Claude Code was started, by its own account. It decides about
// an event that may be of another program; the error is then [ErrForeign].
func Read(raw []byte, entrypoint string) (Event, error) {
	var ev Event
	var turn string
	var other bool // it has a member that no event of Claude Code has so far
	texts := map[string]*string{
		"hook_event_name": &ev.Name, "session_id": &ev.SessionID, "prompt_id": &ev.PromptID, "cwd": &ev.CWD, "permission_mode": &ev.PermissionMode,
		"agent_type": &ev.Subagent, "agent_id": &ev.SubagentID, "tool_name": &ev.Tool, "tool_use_id": &ev.ToolUseID,
		"mcp_server_name": &ev.Server, "message": &ev.Message, "mode": &ev.Mode, "elicitation_id": &ev.ElicitationID,
		"turn_id": &turn,
	}
	objects := map[string]*json.RawMessage{"tool_input": &ev.Input, "requested_schema": &ev.Schema}
	limits := map[string]int{"tool_input": askback.MaxInput, "requested_schema": maxForm}
	members, err := jcs.Limits{Depth: maxDepth}.Skim(raw, slices.Concat(slices.Collect(maps.Keys(texts)), slices.Collect(maps.Keys(objects)), foreign)...)
	if err != nil {
		return Event{}, err
	}
	// Who waits holds what is cloned here, and not all that came.
	for _, m := range members {
		v, text := m.Value, texts[m.Name]
		switch into := objects[m.Name]; {
		case slices.Contains(foreign, m.Name):
			other = true
		case text != nil && v.Kind == jcs.String && len(v.Text()) > maxText:
			return Event{}, fmt.Errorf("%s is longer than %d bytes", m.Name, maxText)
		case text != nil && v.Kind == jcs.String:
			*text = strings.Clone(v.Text())
		case into != nil && v.Kind == jcs.Object && v.End-v.Offset <= limits[m.Name]:
			*into = bytes.Clone(v.Raw(raw))
		}
	}
	nameless := ev.Name == "" || ev.SessionID == ""
	switch {
	case other && (nameless || entrypoint == ""):
		return Event{}, ErrForeign
	case nameless:
		return Event{}, errors.New("this is no hook event of Claude Code: hook_event_name or session_id is missing")
	}
	ev.Headless = Headless(entrypoint)
	if turn != "" {
		ev.Sender, ev.PromptID, ev.Headless = Codex, turn, false
	}
	return ev, nil
}

// label names the sender for people.
func (ev Event) label() string { return cmp.Or(ev.Sender, ClaudeCode) }

// foreign are the members that only events of other programs have so far: those of
// GitHub Copilot CLI, of Visual Studio Code, and of Cursor. Should a later Claude
// Code have one too, it is known by its entry point.
var foreign = []string{"hookName", "hookEventName", "sessionId", "timestamp", "cursor_version"}

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
	// SessionVariable has the session, for an MCP server that Claude Code starts.
	SessionVariable = "CLAUDE_CODE_SESSION_ID"
)

// Headless says whether an entry point is that of claude -p. A program that
// drives Claude Code and shows its questions itself has another one.
func Headless(entrypoint string) bool { return entrypoint == "sdk-cli" }
