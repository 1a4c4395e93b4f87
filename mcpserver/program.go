package mcpserver

import (
	"cmp"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/claudecode"
	"github.com/askback/askback/internal/agents/hook"
)

// A program is a known client.
type program struct {
	label string        // shown to people
	wait  time.Duration // how long a call may wait; 0 means defaultWait
	pages bool          // the client may be asked to show the page of an ask
}

// inspector is the beginning of the name of the MCP inspector. Only the inspector is asked to show the page
// of an ask, because its user wants to see each request. Codex and Copilot block: they show the URL at the
// terminal and call again only after a key is pressed there, even if the ask is answered meanwhile. Without a
// terminal, Codex, Copilot and Claude Code decline each page immediately.
const inspector = "mcp-inspector"

// programOf returns the program with a name, ignoring case. For an unknown name it returns the zero
// value.
func programOf(name string) program {
	if strings.HasPrefix(strings.ToLower(name), inspector) {
		return program{label: inspector, pages: true}
	}
	a, _ := agents.OverMCP(name)
	return program{label: a.Name, wait: a.MCPWait}
}

// claudeCode reports whether the client is Claude Code.
func (p program) claudeCode() bool { return p.label == claudecode.Name }

// label returns the label of an agent: the name of its program and the project's folder, as in "codex · shop". If
// the label is "", people see the name of the token.
func label(clientName, folder string) string {
	return hook.Label(cmp.Or(programOf(clientName).label, hook.ReadableName(clientName)), folder)
}
