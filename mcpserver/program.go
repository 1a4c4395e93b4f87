package mcpserver

import (
	"cmp"
	"strings"
	"time"
	"unicode"
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

// maxLabel bounds each part of the name of an agent, in characters: it is read on cards
// and in lists.
const maxLabel = 40

// label is what people know an agent by: the client's name and the project's folder, as
// in "codex · shop". "" leaves it to the token.
func label(client, folder string) string {
	name := cmp.Or(programOf(client).label, cleaned(client))
	if folder = cleaned(folder); name != "" && folder != "" {
		name += " · " + folder
	}
	return name
}

// cleaned is a name of a client, or of a folder, in one short line.
func cleaned(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, " "))
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxLabel {
		name = strings.TrimSpace(string(r[:maxLabel-1])) + "…"
	}
	return name
}
