package claudehook

import (
	"encoding/json"

	"github.com/askback/askback/internal/jcs"
)

// origin is shown beside the question, and says which events retire an ask.
type origin struct {
	Hook          string `json:"hook"`
	SessionID     string `json:"claude_session,omitempty"`
	CodexSession  string `json:"codex_session,omitempty"` // instead of SessionID
	CWD           string `json:"cwd,omitempty"`
	Mode          string `json:"permission_mode,omitempty"`
	Subagent      string `json:"subagent,omitempty"`
	SubagentID    string `json:"subagent_id,omitempty"`
	ToolUseID     string `json:"tool_use_id,omitempty"`
	Server        string `json:"mcp_server,omitempty"` // of an elicitation
	ElicitationID string `json:"elicitation_id,omitempty"`
	// Seated says that this call cannot be deferred: once its session went on,
	// nobody waits for it, and nobody ever will.
	Seated bool `json:"seated,omitempty"`
}

// about is the context of an event. A call that is deferred comes back by
// another process, maybe in another mode, and is still the same ask.
func about(ev Event) json.RawMessage {
	c := origin{Hook: ev.Name, SessionID: ev.SessionID}
	if ev.Sender == Codex {
		c.SessionID, c.CodexSession = "", ev.SessionID
	}
	switch ev.Name {
	case PreToolUse:
		c.ToolUseID, c.Seated = ev.ToolUseID, !deferrable(ev)
	case Elicitation:
		c.Server, c.ElicitationID = ev.Server, ev.ElicitationID
		fallthrough
	default:
		c.CWD, c.Mode, c.Subagent, c.SubagentID = ev.CWD, ev.PermissionMode, ev.Subagent, ev.SubagentID
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return b
}

// prompted is the tool of ours that Claude Code calls for a permission. A hook of
// the same session retires what it asked.
const prompted = "permission_prompt"

// Prompted is the context of what permission_prompt asks in a session.
func Prompted(session string) json.RawMessage {
	b, err := json.Marshal(origin{Hook: prompted, SessionID: session, Seated: true})
	if err != nil {
		return nil
	}
	return b
}

// originOf reads a context. It goes by exact names: encoding/json would take
// Claude_Session too, and an agent writes contexts of its own.
func originOf(context json.RawMessage) (origin, bool) {
	v, err := jcs.Parse(context)
	if err != nil || v.Kind != jcs.Object {
		return origin{}, false
	}
	var c origin
	texts := map[string]*string{
		"hook": &c.Hook, "claude_session": &c.SessionID, "codex_session": &c.SessionID, "subagent": &c.Subagent, "subagent_id": &c.SubagentID, "tool_use_id": &c.ToolUseID,
		"mcp_server": &c.Server, "elicitation_id": &c.ElicitationID,
	}
	for _, m := range v.Members() {
		if into := texts[m.Name]; into != nil {
			*into = m.Value.Text()
		}
		if m.Name == "seated" {
			c.Seated = m.Value.Bool()
		}
	}
	return c, c.SessionID != ""
}

// ran says whether a tool that ran can be the call that was asked about, as far as
// both say which call of which agent they are.
func (c origin) ran(ev Event) bool {
	switch c.Hook {
	case PreToolUse:
		return agree(c.ToolUseID, ev.ToolUseID)
	case prompted:
		return true // its arguments have to do
	case PermissionRequest: // it has no tool_use_id, and the agent as every event has it
		return c.Subagent == ev.Subagent && c.SubagentID == ev.SubagentID
	}
	return false
}

// answered says whether the result of an elicitation can be that of this one.
func (c origin) answered(ev Event) bool {
	return c.Hook == Elicitation && c.Server == ev.Server && agree(c.ElicitationID, ev.ElicitationID)
}

// agree says whether two names are the same, where both are known.
func agree(a, b string) bool { return a == b || a == "" || b == "" }
