package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/conversation"
)

// executed returns r as a text for the model. Models of all providers read text; other content is described
// in words.
func executed(r *mcp.CallToolResult) conversation.Executed {
	if r.NeedsInput() {
		return failed("The tool did not finish: it wants to ask a person by itself, which Askback does not support.")
	}
	var parts []string
	text := false
	for _, content := range r.Content {
		if _, ok := content.(*mcp.TextContent); ok {
			text = true
		}
		if part := describe(content); part != "" {
			parts = append(parts, part)
		}
	}
	// The specification requires that a text repeats the structured content.
	if !text && r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	e := conversation.Executed{Text: plain(strings.Join(parts, "\n\n")), IsError: r.IsError}
	switch {
	case e.Text != "":
	case e.IsError:
		e.Text = "The tool failed, and gave no reason."
	default:
		e.Text = "The tool returned nothing."
	}
	return e
}

// describe returns a part of a result as a text. The text may be "".
func describe(content mcp.Content) string {
	switch c := content.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("[An image, which is not shown: %s, %d bytes]", line(c.MIMEType), len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[A sound, which cannot be heard: %s, %d bytes]", line(c.MIMEType), len(c.Data))
	case *mcp.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("[A link to %s: %s] %s", line(c.Name), line(c.URI), c.Description))
	case *mcp.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return ""
		case r.Text != "" || len(r.Blob) == 0:
			return fmt.Sprintf("[%s]\n%s", line(r.URI), r.Text)
		default:
			return fmt.Sprintf("[%s, which is not shown: %s, %d bytes]", line(r.URI), line(r.MIMEType), len(r.Blob))
		}
	}
	return "[A part of the result, which is not shown]"
}

// line returns s on one line, truncated to 300 bytes.
func line(s string) string { return cut(strings.Join(strings.Fields(s), " "), 300) }

// plain returns a text that every provider accepts: valid UTF-8 without NUL.
func plain(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�") }
