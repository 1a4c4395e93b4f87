package hook

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/internal/wire/jcs"
)

// Permission returns the request of an agent for approval of a tool call. name is the full
// name of the tool, such as Bash or mcp__server__tool.
func Permission(agent, name string, input json.RawMessage) askback.Request {
	server, tool := SplitToolName(name)
	return askback.Request{Agent: agent, Confirmation: newConfirmation(server, tool, input)}
}

// newConfirmation returns the confirmation of a tool call. A plan is described by its heading.
func newConfirmation(server, tool string, input json.RawMessage) *askback.Confirmation {
	c := &askback.Confirmation{ToolName: tool, Server: server, Input: input, Description: Description(input)}
	describePlan(c)
	return c
}

// IsShowable reports whether a tool call can be shown to people without changes. It returns false for
// incomplete names, and for arguments without a canonical form. A number that a float64 cannot represent has
// no canonical form.
func IsShowable(name string, input json.RawMessage) bool {
	server, tool := SplitToolName(name)
	if tool == "" || server == "" && strings.HasPrefix(name, mcpPrefix) {
		return false
	}
	_, err := jcs.Canonical(input)
	return err == nil
}

// mcpPrefix is the prefix of the names of tools of MCP servers.
const mcpPrefix = "mcp__"

// SplitToolName splits the name of a tool of an MCP server, mcp__server__tool. It does not split a name
// without a server or a tool, because the rest could be the name of another tool.
func SplitToolName(name string) (server, tool string) {
	rest, ok := strings.CutPrefix(name, mcpPrefix)
	if server, tool, _ := strings.Cut(rest, "__"); ok && server != "" && tool != "" {
		return server, tool
	}
	return "", name
}

// Description returns the description of the call that the model wrote into the arguments. It returns "" if
// the description is missing or too long.
func Description(input json.RawMessage) string {
	v, err := jcs.Parse(input)
	if err != nil {
		return ""
	}
	d, _ := v.Get("description")
	if d.Kind != jcs.String || len(d.Text()) > limits.MaxQuestion {
		return ""
	}
	return d.Text()
}

// Canonical returns the canonical form of raw, or raw itself if it has no canonical form.
func Canonical(raw json.RawMessage) string {
	if c, err := jcs.Canonical(raw); err == nil {
		return string(c)
	}
	return string(raw)
}
