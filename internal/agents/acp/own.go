package acp

import (
	"errors"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/wire/jcs"
)

// ownPrefixes and ownSuffix are what agents write before and after the name of a tool of Askback's MCP
// server.
var ownPrefixes = []string{
	"mcp__" + hook.OwnServer + "__", "mcp__plugin_askback_askback__", "mcp_" + hook.OwnServer + "_",
	hook.OwnServer + "__", hook.OwnServer + "_", hook.OwnServer + "/", hook.OwnServer + ".", hook.OwnServer + ":",
}

const ownSuffix = " (" + hook.OwnServer + " MCP Server)"

// isOwnTool reports whether a permission is for a tool of Askback. People are not asked about such a tool,
// because it only asks people. Another program could use the same name, so nothing is approved either: the
// permission is left to the editor.
func isOwnTool(tool jcs.Value, shown members) bool {
	if slices.ContainsFunc(toolNames(tool, shown), isOwnName) {
		return true
	}
	// Codex and Cursor send the server and the tool as arguments.
	input, err := jcs.Parse(shown["rawInput"])
	if err != nil {
		return false
	}
	if inner, ok := input.Get("invocation"); ok {
		input = inner
	}
	return hook.IsOwnTool(firstText(input, "server", "serverName", "providerIdentifier"),
		firstText(input, "tool", "toolName"))
}

// isOwnName reports whether an agent names a tool of Askback in this way.
func isOwnName(name string) bool {
	name = strings.TrimPrefix(name, "Tool: ")
	if tool, ok := strings.CutSuffix(name, ownSuffix); ok {
		return slices.Contains(hook.OwnTools, tool)
	}
	return slices.ContainsFunc(ownPrefixes, func(prefix string) bool {
		tool, ok := strings.CutPrefix(name, prefix)
		return ok && slices.Contains(hook.OwnTools, tool)
	})
}

// errOwn is the reason why a permission for a tool of Askback is left to the editor.
var errOwn = errors.New("the agent wants to use a tool of Askback, which only asks people; allow these tools for " +
	"always in the editor, so that questions reach you when you are away")
