// Package codex implements the hook protocol of Codex and its configuration. The package appserver asks
// people about the requests of its app-server. A hook without output leaves the decision to Codex. For
// PermissionRequest Codex then shows its own dialog, or denies the call if there is no terminal. For
// PreToolUse it runs the tool, so a hook that guards tools must block the call if there is no output: see
// [Gated].
package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// The events that are handled. Other events are ignored.
const (
	PermissionRequest = "PermissionRequest" // Codex shows its own dialog only after the hook
	PreToolUse        = "PreToolUse"        // the tool waits for the hook
	PostToolUse       = "PostToolUse"       // the tool ran, so it was allowed
	UserPromptSubmit  = "UserPromptSubmit"  // the user has sent a prompt
	Stop              = "Stop"              // the turn has ended
	Interrupt         = "Interrupt"         // the user stopped the turn
	SessionEnd        = "SessionEnd"        // the session has ended
)

// QuestionTool is the tool with which Codex asks its user questions.
const QuestionTool = "request_user_input"

// An Event is the input of one call of a hook.
type Event struct {
	Name           string
	SessionID      string
	TurnID         string // empty for [SessionEnd]
	CWD            string
	PermissionMode string
	Subagent       string // the type of the sub-agent, or ""
	SubagentID     string // the id of the sub-agent

	Tool      string
	ToolUseID string // the model sets this id, and may repeat the id; empty for [PermissionRequest]
	Input     json.RawMessage
}

// ErrForeign is the error for an event of another program than Codex.
var ErrForeign = fmt.Errorf("%w than Codex", hook.ErrForeign)

// Read parses the input of a hook. It skips unknown members, and arguments that are too long or are not an
// object. A text that is too long is an error. The event keeps no part of raw.
//
// All events of Codex have a turn, except [SessionEnd]. For an event without a turn, or with one of
// foreignMembers, the error is [ErrForeign]. The environment does not identify Codex, because Codex sets
// variables only if it was installed with npm.
func Read(raw []byte) (Event, error) {
	m, err := hook.ReadMembers(raw, slices.Concat(foreignMembers, []string{
		"hook_event_name", "session_id", "turn_id", "cwd", "permission_mode", "agent_type", "agent_id", "tool_name",
		"tool_use_id", "tool_input",
	})...)
	if err != nil {
		return Event{}, err
	}
	ev := Event{
		Name: m.Text("hook_event_name"), SessionID: m.Text("session_id"), TurnID: m.Text("turn_id"), CWD: m.Text("cwd"),
		PermissionMode: m.Text("permission_mode"), Subagent: m.Text("agent_type"), SubagentID: m.Text("agent_id"),
		Tool: m.Text("tool_name"), ToolUseID: m.Text("tool_use_id"), Input: m.Input(raw, "tool_input"),
	}
	switch {
	case m.HasAny(foreignMembers):
		return Event{}, ErrForeign
	case ev.Name == "" || ev.SessionID == "":
		return Event{}, errors.New("this is not a hook event of Codex: hook_event_name or session_id is missing")
	case ev.TurnID == "" && ev.Name != SessionEnd:
		return Event{}, ErrForeign
	}
	return ev, nil
}

// foreignMembers are members that only events of Claude Code, GitHub Copilot CLI, Visual Studio Code and
// Cursor have.
var foreignMembers = []string{"prompt_id", "hookName", "hookEventName", "sessionId", "cursor_version"}

// Gated reports whether a hook that guards tools must block the call of an event unless a person approved it.
// Questions and the tools of Askback need no approval, because they only ask people. An unknown event could
// be about a call.
func Gated(ev Event) bool {
	return !slices.Contains([]string{PermissionRequest, PostToolUse, UserPromptSubmit, Stop, Interrupt, SessionEnd},
		ev.Name) && ev.Tool != QuestionTool && !hook.IsOwnTool(hook.SplitToolName(ev.Tool))
}

// Asks reports whether an event is a call that waits for a person. gate is set if the hook guards tools.
// Another event only withdraws earlier asks, or is ignored.
func Asks(ev Event, gate bool) bool {
	switch ev.Name {
	case PermissionRequest:
		return !hook.IsOwnTool(hook.SplitToolName(ev.Tool))
	case PreToolUse:
		return ev.Tool == QuestionTool || gate && Gated(ev)
	}
	return gate && Gated(ev)
}

// HasDialog reports whether Codex certainly shows a dialog for a call if the hook makes no decision and a
// person is at its terminal. Codex has a dialog for questions only in plan mode. The dialogs of sub-agents
// belong to threads of their own.
func HasDialog(ev Event) bool {
	return ev.SubagentID == "" && (ev.Name == PermissionRequest ||
		ev.Name == PreToolUse && ev.Tool == QuestionTool && ev.PermissionMode == "plan")
}

// An origin is the context of an ask. People see it, and it determines which events end the
// ask.
type origin struct {
	hook.Origin
	Turn       string `json:"turn,omitempty"`
	ToolUseID  string `json:"tool_use_id,omitempty"`
	Mode       string `json:"permission_mode,omitempty"`
	Subagent   string `json:"subagent,omitempty"`
	SubagentID string `json:"subagent_id,omitempty"`
}

// originJSON returns the context for an event.
func originJSON(ev Event) json.RawMessage {
	b, _ := json.Marshal(origin{ // strings can always be encoded
		hook.Origin{Hook: ev.Name, Session: ev.SessionID, CWD: ev.CWD, Seated: true},
		ev.TurnID, ev.ToolUseID, ev.PermissionMode, ev.Subagent, ev.SubagentID,
	})
	return b
}

// parseOrigin parses a context. It returns false if the context is not an object with a session. Unlike
// encoding/json it compares names exactly, because agents can write any context.
func parseOrigin(raw json.RawMessage) (origin, bool) {
	v, err := jcs.Parse(raw)
	if err != nil || v.Kind != jcs.Object {
		return origin{}, false
	}
	var c origin
	texts := map[string]*string{
		"hook": &c.Hook, "session": &c.Session, "turn": &c.Turn, "tool_use_id": &c.ToolUseID, "subagent": &c.Subagent,
		"subagent_id":   &c.SubagentID,
		"codex_session": &c.Session, // asks of older versions
	}
	for _, m := range v.Members() {
		if into := texts[m.Name]; into != nil {
			*into = m.Value.Text()
		}
	}
	return c, c.Session != ""
}
