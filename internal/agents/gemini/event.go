// Package gemini implements the hook BeforeTool of Gemini CLI: it makes the ask for an event, and returns the
// output for its outcome. Gemini CLI runs the hook before its own policy and its dialogs. An output can deny
// the call or change its arguments; it never replaces the dialog. Gemini CLI runs the tool if the hook times
// out, is killed, exits with 0 or 1, or prints nothing. So a hook that guards tools must print a denial, or
// exit with 2 and a text, whenever there is no approval.
package gemini

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/text/outcometext"
	"github.com/askback/askback/internal/wire/jcs"
)

// BeforeTool is the only event that is handled.
const BeforeTool = "BeforeTool"

// QuestionTool is the tool with which Gemini CLI asks its user questions.
const QuestionTool = "ask_user"

// An Event is the input of a hook.
type Event struct {
	Session string
	Time    string // identifies the call, together with the rest of the event
	CWD     string
	Server  string // the MCP server of the tool, or ""
	Tool    string
	Input   json.RawMessage // nil if it cannot be shown to a person

	// The address of the server. If there is a URL or a socket, the server does not run a program.
	Program     string
	Args        []string
	URL, Socket string
}

// Read parses the input of a hook. If the event is from another program, the error is [hook.ErrForeign].
func Read(raw []byte) (Event, error) {
	m, err := hook.ReadMembers(raw, "hook_event_name", "session_id", "timestamp", "cwd", "tool_name", "tool_input",
		"mcp_context")
	if err != nil {
		return Event{}, err
	}
	ev := Event{
		Session: m.Text("session_id"), Time: m.Time("timestamp"), CWD: m.Text("cwd"), Tool: m.Text("tool_name"),
		Input: m.Input(raw, "tool_input"),
	}
	if m.Text("hook_event_name") != BeforeTool || ev.Session == "" || ev.Time == "" || ev.Tool == "" {
		return Event{}, hook.ErrForeign
	}
	if server, ok := m["mcp_context"]; ok {
		if err := ev.readServer(server.Raw(raw)); err != nil {
			return Event{}, err
		}
	}
	return ev, nil
}

// readServer reads the context of a tool of an MCP server into ev. It returns an error if the context does
// not name the server and the tool.
func (ev *Event) readServer(context []byte) error {
	v, err := jcs.Parse(context)
	if err != nil {
		return err
	}
	text := func(v jcs.Value) string {
		if v.Kind != jcs.String {
			return ""
		}
		return strings.Clone(v.Text())
	}
	for name, field := range map[string]*string{
		"server_name": &ev.Server, "tool_name": &ev.Tool, "command": &ev.Program, "url": &ev.URL, "tcp": &ev.Socket,
	} {
		member, _ := v.Get(name)
		*field = text(member)
	}
	args, _ := v.Get("args")
	for _, arg := range args.Elements() {
		ev.Args = append(ev.Args, text(arg))
	}
	if ev.Server == "" || ev.Tool == "" {
		return errors.New("mcp_context has no server_name or no tool_name")
	}
	return nil
}

// Guarded reports whether a person must approve the call of an event in a hook that guards tools. The tool
// for questions and the tools of Askback need no approval, because they only ask people. own is Askback's
// server.
func Guarded(ev Event, own hook.Server) bool {
	if ev.Server == "" {
		return ev.Tool != QuestionTool
	}
	isOwn := own.IsURL(ev.URL) || ev.URL == "" && own.IsCommand(ev.Program, ev.Args)
	return !(hook.IsOwnTool(ev.Server, ev.Tool) && isOwn && ev.Socket == "")
}

// Call returns the call that an event asks about. guards is set if the hook must have an approval of the
// call: see [Guarded]. Call returns false if no person can be asked.
func Call(ev Event, guards bool) (hook.Call, bool) {
	var r askback.Request
	ok := false
	switch {
	case ev.Server == "" && ev.Tool == QuestionTool:
		r, ok = questions(ev.Input)
	case guards:
		r.Confirmation, ok = hook.Confirmation(ev.Server, ev.Tool, ev.Input)
	}
	if !ok {
		return hook.Call{}, false
	}
	r.Agent, r.SessionKey = hook.Label(Name, ev.CWD), ev.Session
	r.Key = hook.Key(Name, ev.Session, ev.Time, ev.CWD, ev.Server, ev.Tool, string(ev.Input))
	r.Context = hook.Origin{Hook: BeforeTool, Session: ev.Session, CWD: ev.CWD, Seated: true}.JSON()
	r, err := r.Normalize()
	if err != nil {
		return hook.Call{}, false
	}
	decide := answerOutput
	if r.Confirmation != nil {
		own := *r.Confirmation
		decide = func(ask askback.Ask) ([]byte, bool) { return decisionOutput(own, ask) }
	}
	return hook.Call{Request: r, Unique: true, Program: "Gemini CLI", Decide: decide}, true
}

// questions returns the request for the arguments of [QuestionTool].
func questions(input json.RawMessage) (askback.Request, bool) {
	if input == nil {
		return askback.Request{}, false
	}
	call, err := Dialect.Ask(input)
	return call.Request, err == nil
}

type output struct {
	Decision string    `json:"decision"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event string          `json:"hookEventName"`
	Input json.RawMessage `json:"tool_input"`
}

// decisionOutput returns the output for a settled ask about a call. If a person approved other arguments, the
// output replaces the arguments, or denies the call if a member was removed. decisionOutput returns false if
// there is no decision. The hook must then block the call.
func decisionOutput(own askback.Confirmation, ask askback.Ask) ([]byte, bool) {
	if edited := editedInput(own, ask); edited != nil {
		if lacksMember(edited, own.Input) {
			return encode(output{Decision: "deny", Reason: outcometext.OtherArguments(ask) + outcometext.CallAgain})
		}
		return encode(output{Decision: "allow", Specific: &specific{BeforeTool, edited}})
	}
	switch verdict, text := hook.VerdictOf(own, ask); verdict {
	case hook.Allowed:
		return encode(output{Decision: "allow"})
	case hook.Denied:
		return encode(output{Decision: "deny", Reason: text})
	}
	return nil, false
}

// editedInput returns the arguments that a person approved instead of the arguments of the call, or nil.
func editedInput(own askback.Confirmation, ask askback.Ask) json.RawMessage {
	if !hook.IsAbout(own, ask) || !ask.Outcome.Approved() || len(ask.Outcome.Input) == 0 {
		return nil
	}
	return ask.Outcome.Input
}

// lacksMember reports whether the object edited lacks a member of original. Gemini CLI would run the tool
// with this member, because it adds the members of an output to the members of the call.
func lacksMember(edited, original json.RawMessage) bool {
	now, err := jcs.Parse(edited)
	if err != nil || now.Kind != jcs.Object {
		return true
	}
	was, err := jcs.Parse(original)
	if err != nil {
		return true
	}
	for _, m := range was.Members() {
		if _, ok := now.Get(m.Name); !ok {
			return true
		}
	}
	return false
}

// answerOutput returns the output for a settled question. A hook cannot return the result of a tool, so the
// output denies the tool, and the reason is the answer. answerOutput returns false if there is no answer.
func answerOutput(ask askback.Ask) ([]byte, bool) {
	text, ok := hook.Answered(ask)
	if !ok {
		return nil, false
	}
	return encode(output{Decision: "deny", Reason: text})
}

func encode(out output) ([]byte, bool) {
	b, err := jcs.Marshal(out)
	return b, err == nil
}
