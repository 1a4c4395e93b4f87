// Package appserver asks people about the requests that the app-server of Codex shows at the terminal. It is
// a second client of the app-server: both dialogs are open, and the first answer counts. The app-server sends
// each request to all its clients, and waits for one answer. Askback answers only with the decision of a
// person. It leaves a request to the terminal if it does not know the request or cannot show it in full.
package appserver

import (
	"encoding/json"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/codex"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// The requests of the app-server about which people are asked.
const (
	methodCommand     = "item/commandExecution/requestApproval"
	methodFileChange  = "item/fileChange/requestApproval"
	methodPermissions = "item/permissions/requestApproval"
	methodQuestions   = "item/tool/requestUserInput"
	methodElicitation = "mcpServer/elicitation/request"
)

// ownServer is the name under which askback init adds Askback to Codex. Its tools already ask
// people.
const ownServer = "askback"

// A question is a request of the app-server that people are asked about.
type question struct {
	thread, turn, item string
	ask                askback.Request
	// result returns the answer to the request. It returns false if there is no answer.
	result func(askback.Ask) (any, bool)
}

// readDialog reads a request. It returns false if the request is unknown, incomplete, or cannot be shown in
// full. folder is the folder of the thread. changes returns the edits of an item, or nil.
func readDialog(
	method string, id, params json.RawMessage, folder string, changes func(turn, item string) json.RawMessage,
) (question, bool) {
	p, err := jcs.Parse(params)
	if err != nil || p.Kind != jcs.Object {
		return question{}, false
	}
	d := question{
		thread: jsonrpc2.StringOf(p, "threadId"), turn: jsonrpc2.StringOf(p, "turnId"),
		item: jsonrpc2.StringOf(p, "itemId"),
	}
	if d.thread == "" || d.turn == "" || d.item == "" && method != methodElicitation {
		return question{}, false
	}
	ok := false
	switch method {
	case methodCommand:
		ok = d.readCommand(p, params)
	case methodFileChange:
		ok = d.readFileChange(p, changes(d.turn, d.item))
	case methodPermissions:
		ok = d.readPermissions(p, params)
	case methodQuestions:
		ok = d.readQuestions(p, params)
	case methodElicitation:
		ok = d.readElicitation(p, params)
	}
	if !ok {
		return question{}, false
	}
	r := &d.ask
	r.Agent, r.SessionKey = hook.Label(codex.Name, folder), d.thread
	// The id of an item is the id that the model gave the call. This id is unique only within a turn.
	r.Key = hook.Key("codex-app", method, d.thread, d.turn, d.item, jsonrpc2.StringOf(p, "approvalId"),
		raw(p, params, "startedAtMs"), string(id))
	r.Context = hook.Origin{Hook: method, Session: d.thread, CWD: folder, Seated: true}.JSON()
	if c := r.Confirmation; c != nil {
		c.NoEdit = true // Codex runs only the arguments that it asked about
	}
	d.ask, err = r.Normalize()
	return d, err == nil
}

// bookkeeping lists the parameters of a command that do not change what runs. People approve all other
// parameters, including parameters that a later release adds.
var bookkeeping = []string{
	"kind", "threadId", "turnId", "itemId", "approvalId", "startedAtMs", "reason", "commandActions",
	"proposedExecpolicyAmendment", "proposedNetworkPolicyAmendments", "availableDecisions",
}

func (d *question) readCommand(p jcs.Value, src []byte) bool {
	if kind := jsonrpc2.StringOf(p, "kind"); kind != "" && kind != "command" || !offersAccept(p) {
		return false
	}
	c := askback.Confirmation{
		ToolName: "Bash", Description: jsonrpc2.StringOf(p, "reason"), Input: object(p, src, bookkeeping),
	}
	if jsonrpc2.StringOf(p, "command") == "" {
		if network, _ := p.Get("networkApprovalContext"); network.Kind != jcs.Object {
			return false
		}
		c.ToolName = "Network"
	}
	d.confirm(c, decision("accept"), decision("decline"))
	return true
}

// offersAccept reports whether a request can be accepted once.
func offersAccept(p jcs.Value) bool {
	all, ok := p.Get("availableDecisions")
	return !ok || all.Kind == jcs.Null || slices.ContainsFunc(all.Elements(), func(v jcs.Value) bool {
		return v.Kind == jcs.String && v.Text() == "accept"
	})
}

// readFileChange reads a request about edited files. The request does not contain the edits, so changes has
// the edits of the item. readFileChange returns false if the edits are unknown. It also returns false for a
// permission to write to a folder for the rest of the session, which cannot be approved once.
func (d *question) readFileChange(p jcs.Value, changes json.RawMessage) bool {
	root, ok := p.Get("grantRoot")
	if changes == nil || ok && root.Kind != jcs.Null {
		return false
	}
	input, err := jcs.Marshal(map[string]json.RawMessage{"changes": changes})
	d.confirm(askback.Confirmation{ToolName: "apply_patch", Description: jsonrpc2.StringOf(p, "reason"), Input: input},
		decision("accept"), decision("decline"))
	return err == nil
}

// readPermissions reads a request for more permissions. People grant all permissions for the present turn, or
// no permission. readPermissions returns false if the request contains no permission.
func (d *question) readPermissions(p jcs.Value, src []byte) bool {
	wanted, _ := p.Get("permissions")
	if len(wanted.Members()) == 0 {
		return false
	}
	granted := func(permissions any) any { return map[string]any{"permissions": permissions, "scope": "turn"} }
	d.confirm(askback.Confirmation{
		ToolName: "request_permissions", Description: jsonrpc2.StringOf(p, "reason"),
		Input: object(p, src, bookkeeping),
	}, granted(json.RawMessage(slices.Clone(wanted.Raw(src)))), granted(struct{}{}))
	return true
}

// readQuestions reads a call of request_user_input. It returns false if a question is invalid or asks for a
// secret. Only the terminal asks for secrets.
func (d *question) readQuestions(p jcs.Value, src []byte) bool {
	input, err := jcs.Marshal(map[string]json.RawMessage{"questions": json.RawMessage(raw(p, src, "questions"))})
	if err != nil {
		return false
	}
	call, err := codex.Dialect.Ask(input)
	d.ask = call.Request
	d.result = func(ask askback.Ask) (any, bool) {
		reply, err := call.Result(ask)
		return reply, err == nil && ask.Outcome.Status == askback.Answered
	}
	return err == nil
}

// readElicitation reads the request of an MCP server for input. The request of Codex itself to call a tool of
// an MCP server has the same form. readElicitation returns false for Askback's server, and for a request that
// is not a form.
func (d *question) readElicitation(p jcs.Value, src []byte) bool {
	server, meta := jsonrpc2.StringOf(p, "serverName"), member(p, "_meta")
	if server == "" || server == ownServer || jsonrpc2.StringOf(p, "mode") != "form" {
		return false
	}
	switch kind, approves := meta.Get("codex_approval_kind"); {
	case !approves:
		return d.readForm(server+": "+jsonrpc2.StringOf(p, "message"), json.RawMessage(raw(p, src, "requestedSchema")))
	case kind.Text() != "mcp_tool_call":
		return false
	}
	input := json.RawMessage("{}")
	if of := member(meta, "tool_params"); of.Kind == jcs.Object {
		input = slices.Clone(of.Raw(src))
	} else if of.Kind != jcs.Missing && of.Kind != jcs.Null {
		return false
	}
	accepted := map[string]any{"action": "accept", "content": struct{}{}}
	d.confirm(askback.Confirmation{Server: server, ToolName: jsonrpc2.StringOf(meta, "tool_name"), Input: input},
		accepted, map[string]any{"action": "decline"})
	return d.ask.Confirmation.ToolName != ""
}

// readForm makes the question ask for the input of a form. It returns false if people cannot be asked for the
// input.
func (d *question) readForm(message string, schema json.RawMessage) (ok bool) {
	d.result, ok = dialog.Form(&d.ask, message, schema)
	return ok
}

// confirm makes the question ask for a decision about the confirmation c. The result is approved or denied.
// If a person approved other arguments, there is no result.
func (d *question) confirm(c askback.Confirmation, approved, denied any) {
	d.ask.Confirmation = &c
	d.result = func(ask askback.Ask) (any, bool) {
		switch o := ask.Outcome; {
		case o.Approved() && len(o.Input) == 0:
			return approved, true
		case isDenial(ask):
			return denied, true
		}
		return nil, false
	}
}

func isDenial(ask askback.Ask) bool {
	return ask.Outcome.Status == askback.Answered && ask.Outcome.Decision == askback.Deny
}

func decision(word string) any { return map[string]any{"decision": word} }

// object returns the JSON of an object without the members that are null or in without. It also omits the
// local environment.
func object(v jcs.Value, src []byte, without []string) json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, m := range v.Members() {
		local := m.Name == "environmentId" && m.Value.Text() == "local"
		if m.Value.Kind != jcs.Null && !local && !slices.Contains(without, m.Name) {
			all[m.Name] = m.Value.Raw(src)
		}
	}
	b, _ := jcs.Marshal(all) // the values are valid JSON
	return b
}

func member(v jcs.Value, name string) jcs.Value {
	m, _ := v.Get(name)
	return m
}

// raw returns the JSON of a member of an object, or "" if the object has no such member.
func raw(v jcs.Value, src []byte, name string) string {
	if m := member(v, name); m.Kind != jcs.Missing {
		return string(m.Raw(src))
	}
	return ""
}
