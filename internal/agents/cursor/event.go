// Package cursor implements hooks of Cursor: it makes the ask for an event, and returns the output for its
// outcome. It follows the documentation of Cursor and payloads that others recorded; it has not been tested
// with Cursor. Cursor runs the hooks before its own approvals. A hook that fails or prints nothing allows the
// call, unless its configuration has failClosed. Exit code 2 denies the call.
package cursor

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// The events that are handled.
const (
	BeforeShellExecution = "beforeShellExecution"
	BeforeMCPExecution   = "beforeMCPExecution"
)

// shellTool is the name that people see for the commands of [BeforeShellExecution].
const shellTool = "Shell"

// An Event is the input of a hook.
type Event struct {
	Name         string
	Conversation string
	Generation   string // one turn of the model
	CWD          string
	Server       string // the command or the URL of the MCP server of a tool, or ""
	Tool         string
	Input        json.RawMessage // nil if it cannot be shown to a person
}

// Read parses the input of a hook. If the event is from another program or not handled, the error is
// [hook.ErrForeign].
func Read(raw []byte) (Event, error) {
	m, err := hook.ReadMembers(raw, "hook_event_name", "conversation_id", "generation_id", "cwd", "command",
		"tool_name", "tool_input", "url")
	if err != nil {
		return Event{}, err
	}
	ev := Event{
		Name: m.Text("hook_event_name"), Conversation: m.Text("conversation_id"), Generation: m.Text("generation_id"),
		CWD: m.Text("cwd"),
	}
	switch ev.Name {
	case BeforeShellExecution:
		ev.Tool = shellTool
		if command := m.Text("command"); command != "" {
			ev.Input, err = jcs.Marshal(shellInput{command, ev.CWD})
		}
	case BeforeMCPExecution:
		ev.Tool, ev.Input = m.Text("tool_name"), toolInput(raw, m)
		if ev.Server = m.Text("url"); ev.Server == "" {
			ev.Server = m.Text("command")
		}
	default:
		return Event{}, hook.ErrForeign
	}
	if ev.Conversation == "" || ev.Generation == "" || ev.Tool == "" {
		return Event{}, hook.ErrForeign
	}
	return ev, err
}

// A shellInput has the arguments that people approve for a command.
type shellInput struct {
	Command string `json:"command"`
	CWD     string `json:"cwd,omitempty"`
}

// toolInput returns the arguments of a tool, which are an object or a string that contains an object. It
// returns nil for any other value, and for an object that is too large.
func toolInput(raw []byte, m hook.Members) json.RawMessage {
	text := []byte(m.Text("tool_input"))
	if len(text) == 0 {
		return m.Input(raw, "tool_input")
	}
	if v, err := jcs.Parse(text); err != nil || v.Kind != jcs.Object || len(text) > limits.MaxInput {
		return nil
	}
	return text
}

// Guarded reports whether a person must approve the call of an event in a hook that guards tools. The tools
// of Askback need no approval, because they only ask people. own is Askback's server.
func Guarded(ev Event, own hook.Server) bool {
	isOwn := ev.Name == BeforeMCPExecution && slices.Contains(hook.OwnTools, ev.Tool) &&
		(own.IsCommandLine(ev.Server) || own.IsURL(ev.Server))
	return !isOwn
}

// Call returns the call that an event asks about. It returns false if no person can be asked.
func Call(ev Event) (hook.Call, bool) {
	confirmation, ok := hook.Confirmation(ev.Server, ev.Tool, ev.Input)
	if !ok {
		return hook.Call{}, false
	}
	confirmation.NoEdit = true // the output cannot have other arguments
	r, err := askback.Request{
		Agent: hook.Label(Name, ev.CWD), SessionKey: ev.Conversation, Confirmation: confirmation,
		Key: hook.Key(Name, ev.Name, ev.Conversation, ev.Generation, ev.CWD, ev.Server, ev.Tool,
			hook.Canonical(ev.Input)),
		Context: hook.Origin{Hook: ev.Name, Session: ev.Conversation, CWD: ev.CWD, Seated: true}.JSON(),
	}.Normalize()
	if err != nil {
		return hook.Call{}, false
	}
	own := *r.Confirmation
	return hook.Call{
		Request: r, Program: "Cursor", Decide: func(ask askback.Ask) ([]byte, bool) { return decisionOutput(own, ask) },
	}, true
}

type output struct {
	Permission string `json:"permission"`
	User       string `json:"user_message,omitempty"`
	Agent      string `json:"agent_message,omitempty"`
}

func decisionOutput(own askback.Confirmation, ask askback.Ask) ([]byte, bool) {
	var out output
	switch verdict, text := hook.VerdictOf(own, ask); verdict {
	case hook.Allowed:
		out.Permission = "allow"
	case hook.Denied:
		out = output{"deny", "Denied in Askback", text}
	default:
		return nil, false
	}
	b, err := jcs.Marshal(out)
	return b, err == nil
}
