package claudecode

import (
	"encoding/json"

	"github.com/askback/askback/internal/wire/jcs"
)

// An origin is the context of an ask of a hook. People see it, and it determines which events
// end the ask.
type origin struct {
	Hook          string `json:"hook"`
	SessionID     string `json:"claude_session,omitempty"`
	CWD           string `json:"cwd,omitempty"`
	Mode          string `json:"permission_mode,omitempty"`
	Subagent      string `json:"subagent,omitempty"`
	SubagentID    string `json:"subagent_id,omitempty"`
	ToolUseID     string `json:"tool_use_id,omitempty"`
	Server        string `json:"mcp_server,omitempty"` // for an elicitation
	ElicitationID string `json:"elicitation_id,omitempty"`
	// NotDeferrable is set if no resumed session will wait for the call.
	NotDeferrable bool `json:"seated,omitempty"`
}

// originJSON returns the context for an event. The context of a deferrable call depends only on the call,
// because a resumed session may repeat the call in another mode or folder.
func originJSON(ev Event) json.RawMessage {
	c := origin{Hook: ev.Name, SessionID: ev.SessionID}
	switch ev.Name {
	case PreToolUse:
		c.ToolUseID, c.NotDeferrable = ev.ToolUseID, !deferrable(ev)
	case Elicitation:
		c.Server, c.ElicitationID = ev.Server, ev.ElicitationID
		fallthrough
	default:
		c.CWD, c.Mode, c.Subagent, c.SubagentID = ev.CWD, ev.PermissionMode, ev.Subagent, ev.SubagentID
	}
	return c.json()
}

func (c origin) json() json.RawMessage {
	b, _ := json.Marshal(c) // strings can always be encoded
	return b
}

// permissionPrompt is the tool of Askback that Claude Code calls to ask for a permission. Hooks of the same
// session withdraw its asks when they become obsolete.
const permissionPrompt = "permission_prompt"

// PromptContext returns the context of an ask of permission_prompt in a session.
func PromptContext(session string) json.RawMessage {
	return origin{Hook: permissionPrompt, SessionID: session, NotDeferrable: true}.json()
}

// parseOrigin parses a context. It returns false if the context is not an object with a session. Unlike
// encoding/json it compares names exactly, because agents can write any context.
func parseOrigin(context json.RawMessage) (origin, bool) {
	v, err := jcs.Parse(context)
	if err != nil || v.Kind != jcs.Object {
		return origin{}, false
	}
	var c origin
	texts := map[string]*string{
		"hook": &c.Hook, "claude_session": &c.SessionID, "subagent": &c.Subagent, "subagent_id": &c.SubagentID,
		"tool_use_id": &c.ToolUseID, "mcp_server": &c.Server, "elicitation_id": &c.ElicitationID,
	}
	for _, m := range v.Members() {
		if into := texts[m.Name]; into != nil {
			*into = m.Value.Text()
		}
		if m.Name == "seated" {
			c.NotDeferrable = m.Value.Bool()
		}
	}
	return c, c.SessionID != ""
}

// ran reports whether the tool that ran may be the call of the ask. It compares the ids of the calls for
// PreToolUse, and the sub-agents for PermissionRequest. [endingEvent.isAbout] compares the arguments.
func (c origin) ran(ev Event) bool {
	switch c.Hook {
	case PreToolUse:
		return agree(c.ToolUseID, ev.ToolUseID)
	case permissionPrompt:
		return true // only the arguments of the call can be compared
	case PermissionRequest: // the event has no tool_use_id
		return c.Subagent == ev.Subagent && c.SubagentID == ev.SubagentID
	}
	return false
}

// answered reports whether the result of an elicitation may belong to the ask.
func (c origin) answered(ev Event) bool {
	return c.Hook == Elicitation && c.Server == ev.Server && agree(c.ElicitationID, ev.ElicitationID)
}

// agree reports whether two ids may be equal. An id that is "" is unknown, and agrees with every id.
func agree(a, b string) bool { return a == b || a == "" || b == "" }
