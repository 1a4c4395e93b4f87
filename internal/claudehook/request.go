package claudehook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/compat"
	"github.com/askback/askback/internal/jcs"
)

// Request returns the ask for an event, if there is one. It has questions, a confirmation with
// the exact arguments of a tool, or the form of another MCP server. Equal events have the same
// key, so that a repeated hook finds its ask.
func Request(ev Event) (askback.Request, bool) {
	p, ok := prepare(ev)
	return p.request, ok
}

// prepared is the request for an event, with the data to convert its outcome.
type prepared struct {
	request askback.Request
	call    compat.Call // for questions
	form    form        // for an elicitation
}

func prepare(ev Event) (prepared, bool) {
	var p prepared
	var ok bool
	switch {
	case ev.Name == Elicitation:
		p.form, ok = readForm(ev)
		p.request = p.form.request
	case ev.Name != PermissionRequest && ev.Name != PreToolUse:
	case ev.Tool == QuestionTool:
		p, ok = questions(ev)
	default:
		p.request, ok = confirmation(ev)
	}
	if !ok {
		return prepared{}, false
	}
	r := &p.request
	r.Agent, r.SessionKey, r.Key = ev.label(), ev.SessionID, key(ev)
	r.Context = originJSON(ev)
	normal, err := r.Normalize()
	p.request = normal
	return p, err == nil
}

// questions reads a call of AskUserQuestion. In an interactive session it ignores
// PreToolUse, which would suppress the dialog in the terminal. The PermissionRequest that
// follows asks in addition to the dialog.
func questions(ev Event) (prepared, bool) {
	if ev.Name == PreToolUse && !ev.Headless {
		return prepared{}, false
	}
	call, err := Questions(ev.Input)
	return prepared{request: call.Request, call: call}, err == nil
}

// Questions returns the request for the arguments of [QuestionTool]. It is the same for
// hooks and for permission_prompt over MCP. The text of the error is for the model.
func Questions(input json.RawMessage) (compat.Call, error) {
	client, known := compat.ClientNamed("claude")
	if !known {
		return compat.Call{}, errors.New("package compat does not know Claude Code")
	}
	call, err := client.Ask(input)
	if err != nil {
		return compat.Call{}, err
	}
	call.Request.Agent = ClaudeCode
	// Every question of this tool has options. If none were found, they had an unknown
	// name. The question must not be asked without them.
	for i, q := range call.Request.Questions {
		if len(q.Options) == 0 {
			return compat.Call{}, askback.Invalid{{
				Pointer: fmt.Sprintf("/questions/%d/options", i), Detail: "this question has no options", Fix: "give it two to four, each with a label",
			}}
		}
	}
	return call, nil
}

// Permission returns the request for approval of a tool call. It has the same digest for
// hooks and for permission_prompt over MCP, so that a standing approval applies to both
// (F8).
func Permission(name string, input json.RawMessage) askback.Request {
	server, tool := splitToolName(name)
	return askback.Request{Agent: ClaudeCode, Confirmation: &askback.Confirmation{
		ToolName: tool, Server: server, Input: input, Description: descriptionOf(input),
	}}
}

// confirmation returns the request for approval of a tool call. It reports false for Askback's
// tools, for incomplete names, and for arguments without a canonical form. A number that a
// float64 cannot represent has no canonical form.
func confirmation(ev Event) (askback.Request, bool) {
	if ev.Tool == "" || isOwnTool(ev.Tool) || isIncompleteName(ev.Tool) {
		return askback.Request{}, false
	}
	if _, err := jcs.Canonical(ev.Input); err != nil {
		return askback.Request{}, false
	}
	r := Permission(ev.Tool, ev.Input)
	r.Confirmation.NoEdit = inputIsFixed(ev)
	return r, true
}

// mcpPrefix is the prefix of the names of tools of MCP servers.
const mcpPrefix = "mcp__"

// splitToolName splits the name of a tool of an MCP server, mcp__server__tool. A name
// without server or tool is not split, because the rest could be the name of another tool.
func splitToolName(name string) (server, tool string) {
	rest, ok := strings.CutPrefix(name, mcpPrefix)
	if server, tool, _ := strings.Cut(rest, "__"); ok && server != "" && tool != "" {
		return server, tool
	}
	return "", name
}

// isIncompleteName reports whether a name has the prefix of MCP tools, but lacks the server or
// the tool.
func isIncompleteName(name string) bool {
	server, _ := splitToolName(name)
	return server == "" && strings.HasPrefix(name, mcpPrefix)
}

// descriptionOf returns the description of the call that the model wrote into the arguments,
// or "" if it is missing or too long.
func descriptionOf(input json.RawMessage) string {
	v, err := jcs.Parse(input)
	if err != nil {
		return ""
	}
	d, _ := v.Get("description")
	if d.Kind != jcs.String || len(d.Text()) > askback.MaxQuestion {
		return ""
	}
	return d.Text()
}

// key returns the idempotency key of an event. Only PreToolUse identifies its call; the key
// of another event depends on its content. See [findOrAsk] for repeated calls.
func key(ev Event) string {
	parts := []string{ev.Name, ev.SessionID, ev.ToolUseID}
	if ev.ToolUseID == "" {
		parts = append(parts, ev.PromptID, ev.CWD, ev.PermissionMode, ev.Subagent, ev.Tool, canonical(ev.Input),
			ev.Server, ev.ElicitationID, ev.Message, canonical(ev.Schema), ev.SubagentID)
	}
	b, _ := json.Marshal(parts) // strings can always be encoded
	sum := sha256.Sum256(b)
	return ev.label() + ":" + hex.EncodeToString(sum[:])
}

// canonical returns the canonical form of raw, or raw itself if it has no canonical form.
func canonical(raw json.RawMessage) string {
	if c, err := jcs.Canonical(raw); err == nil {
		return string(c)
	}
	return string(raw)
}
