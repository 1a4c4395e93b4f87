// Package copilot implements hooks of GitHub Copilot CLI: it makes the ask for an event, and returns the
// output for its outcome. Copilot runs a permissionRequest hook before its own rules and its dialog. Without
// an output, these rules and the dialog decide, and copilot -p rejects a call that needs a person. A hook
// that fails or prints something else denies the call. Only an answer of a person, or a grant that a person
// made, results in an output that allows something.
package copilot

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// The events that are handled. The payload of permissionRequest always has names in camel case. The payload
// of PreToolUse, as it is configured, has names in snake case.
const (
	PermissionRequest = "permissionRequest"
	PreToolUse        = "PreToolUse"
)

// QuestionTool is the name of Copilot's tool ask_user in [PreToolUse]. Claude Code has a tool with
// the same name, and other arguments.
const QuestionTool = "AskUserQuestion"

// An Event is the input of a hook.
type Event struct {
	Name       string
	Session    string
	Time       string // identifies the call, together with the rest of the event
	CWD        string
	Subagent   string // the type of the sub-agent, or ""
	SubagentID string
	Server     string // the MCP server of the tool, or ""
	Tool       string
	Input      json.RawMessage // nil if it cannot be shown to a person
}

// Read parses the input of a hook. If the event is not from Copilot or not handled, the error is
// [hook.ErrForeign].
func Read(raw []byte) (Event, error) {
	m, err := hook.ReadMembers(raw,
		"hookName", "sessionId", "timestamp", "cwd", "toolName", "toolInput", "agentType", "agentId",
		"hook_event_name", "session_id", "tool_name", "tool_input", "agent_type", "agent_id")
	if err != nil {
		return Event{}, err
	}
	var ev Event
	stamp := m["timestamp"]
	switch {
	case m.Text("hookName") == PermissionRequest && stamp.Kind == jcs.Number:
		ev = Event{
			Name: PermissionRequest, Session: m.Text("sessionId"), Time: string(stamp.Raw(raw)),
			Subagent: m.Text("agentType"), SubagentID: m.Text("agentId"),
			Input: m.Input(raw, "toolInput"),
		}
		ev.Server, ev.Tool = splitTool(m.Text("toolName"))
	case m.Text("hook_event_name") == PreToolUse && m.Time("timestamp") != "":
		ev = Event{
			Name: PreToolUse, Session: m.Text("session_id"), Time: m.Time("timestamp"), Subagent: m.Text("agent_type"),
			SubagentID: m.Text("agent_id"), Tool: m.Text("tool_name"), Input: m.Input(raw, "tool_input"),
		}
	}
	if ev.Session == "" || ev.Tool == "" {
		return Event{}, hook.ErrForeign
	}
	ev.CWD = m.Text("cwd")
	return ev, nil
}

// splitTool splits the name of a tool of an MCP server, server/tool. It does not split a name with several
// slashes, because tools of different servers could have that name.
func splitTool(name string) (server, tool string) {
	server, tool, ok := strings.Cut(name, "/")
	if !ok || server == "" || tool == "" || strings.Contains(tool, "/") {
		return "", name
	}
	return server, tool
}

// Guarded reports whether people are asked for the permission of an event. Copilot's own rules decide about
// the tools of Askback. gate is set if the hook guards permissions. Otherwise these rules also decide about
// plain commands that only read.
func Guarded(ev Event, gate bool) bool {
	return ev.Name == PermissionRequest && !hook.IsOwnTool(ev.Server, ev.Tool) && (gate || !isReadOnly(ev))
}

// Call returns the call that an event asks about. gate is set if the hook guards permissions. Call returns
// false if no person is asked. Copilot then follows its own rules.
func Call(ev Event, gate bool) (hook.Call, bool) {
	var r askback.Request
	ok := false
	switch {
	case ev.Name == PreToolUse && ev.Tool == QuestionTool:
		r, ok = questions(ev.Input)
	case Guarded(ev, gate):
		r.Confirmation, ok = hook.Confirmation(ev.Server, ev.Tool, ev.Input)
		if ok {
			r.Confirmation.NoEdit = true // the output cannot have other arguments
		}
	}
	if !ok {
		return hook.Call{}, false
	}
	r.Agent, r.SessionKey = hook.Label(Name, ev.CWD), ev.Session
	r.Key = hook.Key(Name, ev.Name, ev.Session, ev.Time, ev.CWD, ev.SubagentID, ev.Server, ev.Tool, string(ev.Input))
	r.Context = hook.Origin{Hook: ev.Name, Session: ev.Session, CWD: ev.CWD, Subagent: ev.Subagent, Seated: true}.JSON()
	r, err := r.Normalize()
	if err != nil {
		return hook.Call{}, false
	}
	decide := answerOutput
	if r.Confirmation != nil {
		own := *r.Confirmation
		decide = func(ask askback.Ask) ([]byte, bool) { return permissionOutput(own, ask) }
	}
	// Copilot runs the hooks of all its files for one event, with the same time.
	return hook.Call{Request: r, Unique: true, Program: "Copilot", Decide: decide}, true
}

// questions returns the request for the arguments of [QuestionTool]: a message, and a form that people may
// also answer with their own text. It returns false if people cannot be asked for the form.
func questions(input json.RawMessage) (r askback.Request, ok bool) {
	v, err := jcs.Parse(input)
	if err != nil {
		return r, false
	}
	message, _ := v.Get("message")
	schema, _ := v.Get("requestedSchema")
	form, ok := hook.ReadForm(schema.Raw(input))
	if !ok || message.Kind != jcs.String {
		return r, false
	}
	form.SetTitle(&r, message.Text())
	for i := range r.Questions {
		r.Questions[i].NoOther = false
	}
	return r, true
}

// permissionOutput returns the output for a settled ask about a permission. It returns false if there is no
// decision.
func permissionOutput(own askback.Confirmation, ask askback.Ask) ([]byte, bool) {
	switch verdict, text := hook.VerdictOf(own, ask); verdict {
	case hook.Allowed:
		return encode(map[string]string{"behavior": "allow"})
	case hook.Denied:
		return encode(map[string]string{"behavior": "deny", "message": text})
	}
	return nil, false
}

// answerOutput returns the output for a settled question. A hook cannot return the result of a tool, so the
// output denies the tool, and the reason is the answer. answerOutput returns false if there is no answer.
func answerOutput(ask askback.Ask) ([]byte, bool) {
	text, ok := hook.Answered(ask)
	if !ok {
		return nil, false
	}
	return encode(map[string]string{"permissionDecision": "deny", "permissionDecisionReason": text})
}

func encode(out map[string]string) ([]byte, bool) {
	b, err := jcs.Marshal(out)
	return b, err == nil
}
