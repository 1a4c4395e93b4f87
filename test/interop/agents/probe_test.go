package agents_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// probeWord is the argument with which the test binary runs as an MCP server.
const probeWord = "mcp-probe"

// serveProbe runs an MCP server with one tool that has side effects, so that
// clients ask for a permission.
func serveProbe(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &call) != nil || call.ID == nil {
			continue
		}
		var result any
		switch call.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "probe", "version": "1"},
			}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{
				"name": "write", "description": "Writes something.",
				"inputSchema": map[string]any{
					"type": "object", "properties": map[string]any{"x": map[string]any{"type": "string"}},
				},
			}}}
		case "tools/call":
			result = map[string]any{
				"content": []any{map[string]any{"type": "text", "text": "wrote " + string(call.Params.Arguments)}},
			}
		default:
			result = map[string]any{}
		}
		raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(out, "%s\n", raw); err != nil {
			return
		}
	}
}
