package claudecode

import (
	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/hook"
)

// A form is a request for the input that another MCP server asks for.
type form struct {
	hook.Form
	request askback.Request
}

// readForm returns the form of an elicitation, with a question for each property. It returns false if the
// elicitation comes from Askback or is not a form. It also returns false if the form has no properties, or a
// property that cannot be asked. Claude Code then shows its own dialog.
func readForm(ev Event) (form, bool) {
	if ev.Server == hook.OwnServer || ev.Server == pluginName || ev.Mode != "" && ev.Mode != "form" {
		return form{}, false
	}
	read, ok := hook.ReadForm(ev.Schema)
	if !ok {
		return form{}, false
	}
	f := form{Form: read}
	f.SetTitle(&f.request, fullMessage(ev))
	return f, true
}

// fullMessage returns the message of an elicitation after the name of its MCP server. Without the name,
// people could think that the agent wrote the message.
func fullMessage(ev Event) string { return ev.Server + ": " + ev.Message }
