package mcpserver

import (
	"strings"
	"time"
)

// A program is what is known of a client by the name in its clientInfo.
type program struct {
	prefix string        // of the name, in lower case
	label  string        // what people know it by
	wait   time.Duration // how long it is known to wait for a result; 0 is shortWait
	pages  bool          // whether its user profits from the page of an ask
}

// programs are the known ones; the first that fits counts.
//
// The page of an ask is shown only by clients whose user profits from it. Codex and
// Copilot block: they show the address at the terminal and call again only after a
// key is pressed there, whatever was answered meanwhile. Without a terminal they, and Claude Code,
// refuse each page at once. The user of the MCP inspector wants to see each request.
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

// programOf returns what is known of the client with this name.
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
