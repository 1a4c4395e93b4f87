package mcpserver

import (
	"cmp"
	"strings"
	"time"

	"github.com/askback/askback/internal/agents/hook"
)

// A program describes the clients whose name in clientInfo starts with its prefix.
type program struct {
	prefix string        // in lower case
	label  string        // shown to people
	wait   time.Duration // for a result; 0 is defaultWait
	pages  bool          // whether to show the page of an ask
}

// programs are the known clients. The first match counts.
//
// Only the MCP inspector is asked to show the page of an ask, because its user wants to see
// each request. Codex and Copilot block: they show the URL at the terminal and call again
// only after a key is pressed there, even if the ask is answered meanwhile. Without a
// terminal they, and Claude Code, decline each page at once.
var programs = []program{
	{prefix: "claude-code", label: "claude-code"},
	{prefix: "codex", label: "codex", wait: 240 * time.Second},
	{prefix: "copilot", label: "copilot"},
	{prefix: "cursor", label: "cursor"},
	{prefix: "gemini-cli", label: "gemini", wait: 9 * time.Minute},
	{prefix: "mcp-inspector", label: "mcp-inspector", pages: true},
	{prefix: "opencode", label: "opencode"},
	{prefix: "visual studio code", label: "vscode"},
}

// programOf returns the first program whose prefix begins the name, ignoring case. For an
// unknown name it returns the zero value.
func programOf(name string) program {
	name = strings.ToLower(name)
	for _, p := range programs {
		if strings.HasPrefix(name, p.prefix) {
			return p
		}
	}
	return program{}
}

// claudeCode reports whether the client is Claude Code.
func (p program) claudeCode() bool { return p.prefix == "claude-code" }

// label returns the label of an agent: the client's name and the project's folder, as in
// "codex · shop". If it is "", people see the name of the token.
func label(clientName, folder string) string {
	return hook.Label(cmp.Or(programOf(clientName).label, clientName), folder)
}
