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

// Request returns what an event asks people, if it asks anything: questions, a
// confirmation with the exact arguments of a tool, or the form of another MCP
// server. The same event has the same key: a repeated hook finds its ask.
func Request(ev Event) (askback.Request, bool) {
	p, ok := put(ev)
	return p.request, ok
}

// pending is a request with the way back to Claude Code's words.
type pending struct {
	request askback.Request
	call    compat.Call // of questions
	form    form        // of an elicitation
}

func put(ev Event) (pending, bool) {
	var p pending
	var ok bool
	switch {
	case ev.Name == Elicitation:
		p.form, ok = readForm(ev)
		p.request = p.form.request
	case ev.Name != PermissionRequest && ev.Name != PreToolUse:
	case ev.Tool == questionTool:
		p, ok = questions(ev)
	default:
		p.request, ok = confirmation(ev)
	}
	if !ok {
		return pending{}, false
	}
	r := &p.request
	r.Agent, r.SessionKey, r.Key = ev.label(), ev.SessionID, key(ev)
	r.Context = about(ev)
	normal, err := r.Normalize()
	p.request = normal
	return p, err == nil
}

// questions reads a call of AskUserQuestion. Where a person sits, PreToolUse
// would keep the terminal's own picker off the screen: there PermissionRequest
// asks beside it.
func questions(ev Event) (pending, bool) {
	if ev.Name == PreToolUse && !ev.Headless {
		return pending{}, false
	}
	call, err := Questions(ev.Input)
	return pending{request: call.Request, call: call}, err == nil
}

// QuestionTool is Claude Code's own tool that asks its user.
const QuestionTool = questionTool

// Questions returns what the arguments of [QuestionTool] ask people, the same at
// every door that Claude Code comes to. The text of the error is for its model.
func Questions(input json.RawMessage) (compat.Call, error) {
	client, known := compat.ClientNamed("claude")
	if !known {
		return compat.Call{}, errors.New("there is no dialect of Claude Code")
	}
	call, err := client.Ask(input)
	if err != nil {
		return compat.Call{}, err
	}
	call.Request.Agent = ClaudeCode
	// Every question of this tool has options. Where none were read they went by
	// another name, and without them it is another question.
	for i, q := range call.Request.Questions {
		if len(q.Options) == 0 {
			return compat.Call{}, askback.Invalid{{
				Pointer: fmt.Sprintf("/questions/%d/options", i), Detail: "this question has no options", Fix: "give it two to four, each with a label",
			}}
		}
	}
	return call, nil
}

// Permission returns what people are asked before a tool may run, the same at
// every door: one digest, so that a standing approval holds at all of them (F8).
func Permission(name string, input json.RawMessage) askback.Request {
	server, tool := toolOf(name)
	return askback.Request{Agent: ClaudeCode, Confirmation: &askback.Confirmation{
		ToolName: tool, Server: server, Input: input, Description: described(input),
	}}
}

// confirmation asks about any other tool. Numbers that would change on their
// way are no arguments that can be approved.
func confirmation(ev Event) (askback.Request, bool) {
	if ev.Tool == "" || own(ev.Tool) || misnamed(ev.Tool) {
		return askback.Request{}, false
	}
	if _, err := jcs.Canonical(ev.Input); err != nil {
		return askback.Request{}, false
	}
	r := Permission(ev.Tool, ev.Input)
	r.Confirmation.NoEdit = fixed(ev)
	return r, true
}

// ofServers begins the name of a tool of an MCP server.
const ofServers = "mcp__"

// toolOf takes the name of a tool of an MCP server apart: mcp__server__tool. Where
// one of the two is missing it stays whole: what is left would pass for the tool of
// somebody else.
func toolOf(name string) (server, tool string) {
	rest, ok := strings.CutPrefix(name, ofServers)
	if server, tool, _ := strings.Cut(rest, "__"); ok && server != "" && tool != "" {
		return server, tool
	}
	return "", name
}

// misnamed says whether a name is that of a tool of no server.
func misnamed(name string) bool {
	server, _ := toolOf(name)
	return server == "" && strings.HasPrefix(name, ofServers)
}

// described is what the model says of its call in the arguments themselves.
func described(input json.RawMessage) string {
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

// key is the same for the same call. Only PreToolUse knows which call it is; of
// the others it is all that they say. What was asked before and settled is
// asked again by the next key: see [Run].
func key(ev Event) string {
	parts := []string{ev.Name, ev.SessionID, ev.ToolUseID}
	if ev.ToolUseID == "" {
		parts = append(parts, ev.PromptID, ev.CWD, ev.PermissionMode, ev.Subagent, ev.Tool, same(ev.Input),
			ev.Server, ev.ElicitationID, ev.Message, same(ev.Schema), ev.SubagentID)
	}
	b, err := json.Marshal(parts)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return ev.label() + ":" + hex.EncodeToString(sum[:])
}

// same is one text for all ways to write the same JSON.
func same(raw json.RawMessage) string {
	if c, err := jcs.Canonical(raw); err == nil {
		return string(c)
	}
	return string(raw)
}
