package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/agent"
)

// The limits for the tools of a server. Descriptions and schemas are a part of every request to a model. A
// tool with a longer name or a larger schema is left out, and a longer description is truncated. A server
// with more tools fails.
const (
	maxTools       = 500
	maxName        = 128 // as the specification recommends
	maxDescription = 8 << 10
	maxSchema      = 64 << 10
)

// changed forgets the list of tools. It is called when the server announces that its tools changed.
func (c *session) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = nil
	c.changes++
}

// tools returns the tools of the server. It requests the list if the list is not known, or has changed.
func (c *session) tools(ctx context.Context) ([]agent.ToolInfo, error) {
	c.mu.Lock()
	listed, changes := c.listed, c.changes
	c.mu.Unlock()
	if listed != nil {
		return listed, nil
	}
	listed, err := perform(ctx, c, c.list)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == changes {
		c.listed = listed
	}
	return listed, nil
}

// list requests the tools, page by page. Tools that cannot be used are logged and left out.
func (c *session) list(ctx context.Context) ([]agent.ToolInfo, error) {
	all := []agent.ToolInfo{}
	params := &mcp.ListToolsParams{}
	for range maxTools { // a page may be empty
		page, err := c.client.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			info, problem := convert(t)
			if problem != "" {
				c.server.log.Warn("a tool of an MCP server is left out", "tool", info.Name, "problem", problem)
				continue
			}
			all = append(all, info)
		}
		if len(all) > maxTools {
			return nil, fmt.Errorf("it has more than %d tools", maxTools)
		}
		if page.NextCursor == "" {
			return all, nil
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxTools)
}

// convert returns t as agents use it. problem is the reason why t cannot be used, or "".
func convert(t *mcp.Tool) (info agent.ToolInfo, problem string) {
	hints := cmp.Or(t.Annotations, &mcp.ToolAnnotations{})
	info = agent.ToolInfo{
		Tool:  agent.Tool{Name: t.Name, Description: cut(t.Description, maxDescription)},
		Title: cut(cmp.Or(t.Title, hints.Title), maxName),
		// If hints contradict each other, the stricter hint counts.
		ReadOnly: hints.ReadOnlyHint && (hints.DestructiveHint == nil || !*hints.DestructiveHint),
	}
	// A tool without the hint needs approval, but most servers say nothing: if each of these tools were marked
	// as dangerous, people would learn to approve without reading.
	info.Destructive = hints.DestructiveHint != nil && *hints.DestructiveHint ||
		hints.DestructiveHint == nil && !info.ReadOnly && agent.DangerousName(t.Name)
	switch {
	case strings.TrimSpace(t.Name) == "":
		return info, "it has no name"
	case strings.ContainsFunc(t.Name, unicode.IsControl):
		return info, "its name has control characters"
	case len(t.Name) > maxName:
		info.Name = cut(t.Name, maxName)
		return info, fmt.Sprintf("its name has more than %d bytes", maxName)
	}
	schema, ok := t.InputSchema.(map[string]any)
	if !ok {
		return info, "its schema is not a JSON object"
	}
	if _, typed := schema["type"]; !typed {
		schema = maps.Clone(schema) // the client keeps the schema
		schema["type"] = "object"
	}
	if schema["type"] != "object" {
		return info, "its input is not a JSON object"
	}
	raw, err := json.Marshal(schema)
	if err != nil || len(raw) > maxSchema {
		return info, fmt.Sprintf("its schema has more than %d bytes", maxSchema)
	}
	info.Schema = raw
	return info, ""
}

// cut returns s, truncated to n bytes and "…" if it is longer.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
