// Package acp asks people what an agent asks in an editor. It is a proxy between the two, which
// speak the Agent Client Protocol over standard input and output. Every message is forwarded
// unchanged. The dialog of the editor and the ask of Askback are live at the same time, and
// the first answer wins.
package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/jcs"
)

// methodPermission is the request with which an agent asks for a permission.
const methodPermission = "session/request_permission"

// The kinds of options that are chosen. Options that are remembered by the agent never are.
const (
	allowOnce  = "allow_once"
	rejectOnce = "reject_once"
)

// A permission is a request for a permission that people are asked about.
type permission struct {
	session string
	tool    string // the id of the tool call
	ask     askback.Request
	allow   string // the option that approves
	reject  string // the option that denies, or ""
}

// origin is what people read about the place of a request.
type origin struct {
	hook.Origin
	Agent string `json:"agent,omitempty"` // the name and the version of the agent
}

// readPermission reads the parameters of a request. call has the members of the tool call that the
// agent sent before. It reports false if the request is incomplete, or if it does not have exactly one
// option that allows the call once.
func readPermission(params json.RawMessage, id, run string, from origin, call map[string]json.RawMessage) (permission, bool) {
	p, err := jcs.Parse(params)
	if err != nil {
		return permission{}, false
	}
	r := permission{session: text(p, "sessionId")}
	tool, _ := p.Get("toolCall")
	toolID := text(tool, "toolCallId")
	r.tool = toolID
	if r.session == "" || toolID == "" || !r.readOptions(p) {
		return permission{}, false
	}
	shown := map[string]json.RawMessage{}
	for _, name := range shownMembers {
		value := call[name]
		if m, ok := tool.Get(name); ok && m.Kind != jcs.Null {
			value = m.Raw(params)
		}
		if value != nil {
			shown[name] = value
		}
	}
	input, err := jcs.Marshal(shown)
	if err != nil || shown["title"] == nil && shown["rawInput"] == nil {
		return permission{}, false
	}
	name := word(shown["name"])
	if name == "" {
		name = word(shown["kind"])
	}
	if name == "" {
		name = "tool"
	}
	sum, _ := json.Marshal([]string{run, r.session, toolID, id}) // strings can always be encoded
	key := sha256.Sum256(sum)
	from.Hook, from.Session, from.Seated = methodPermission, r.session, true
	context, err := jcs.Marshal(from)
	if err != nil {
		return permission{}, false
	}
	r.ask, err = askback.Request{
		Agent: label(from.Agent), SessionKey: r.session, Key: "acp:" + hex.EncodeToString(key[:]), Context: context,
		Confirmation: &askback.Confirmation{ToolName: name, Input: input, Description: word(shown["title"]), NoEdit: true},
	}.Normalize()
	return r, err == nil
}

// shownMembers are the members of a tool call that describe what will run.
var shownMembers = []string{"name", "kind", "title", "content", "locations", "rawInput"}

// readOptions finds the options to choose. Their ids must differ, because only the id is sent.
func (r *permission) readOptions(p jcs.Value) bool {
	options, _ := p.Get("options")
	var ids []string
	once := 0
	for _, o := range options.Elements() {
		id := text(o, "optionId")
		if id == "" || slices.Contains(ids, id) {
			return false
		}
		ids = append(ids, id)
		switch kind := text(o, "kind"); {
		case kind == allowOnce:
			once++
			r.allow = id
		case kind == rejectOnce && r.reject == "":
			r.reject = id
		}
	}
	return once == 1
}

// outcome returns the result of the request for a settled ask, or false without one.
func (r *permission) outcome(ask askback.Ask) (any, bool) {
	switch o := ask.Outcome; {
	case o.Approved() && len(o.Input) == 0:
		return selected(r.allow), true
	case o.Status == askback.Answered && o.Decision == askback.Deny && r.reject != "":
		return selected(r.reject), true
	case o.Status == askback.Answered && o.Decision == askback.Deny:
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, true
	}
	return nil, false
}

func selected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// label returns the name of an agent that people know.
func label(agent string) string {
	for _, known := range []struct{ part, label string }{
		{"claude", hook.ClaudeCode},
		{"codex", hook.Codex},
		{"gemini", hook.Gemini},
		{"opencode", hook.OpenCode},
		{"copilot", hook.Copilot},
		{"cursor", hook.Cursor},
	} {
		if strings.Contains(strings.ToLower(agent), known.part) {
			return known.label
		}
	}
	return hook.ACP
}

// text returns a member that is a string, or "".
func text(v jcs.Value, name string) string {
	if m, ok := v.Get(name); ok && m.Kind == jcs.String {
		return m.Text()
	}
	return ""
}

// word returns the text of a JSON string, or "".
func word(raw json.RawMessage) string {
	v, err := jcs.Parse(raw)
	if err != nil || v.Kind != jcs.String {
		return ""
	}
	return v.Text()
}
