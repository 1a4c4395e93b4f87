package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// headed stands before the protocol too: a request about a task names it in a
// header as well, so that a proxy can send it where the task is. One that names
// another is refused, as the SDK does for the methods that it knows.
func headed(protocol http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Mcp-Protocol-Version") < statelessVersion ||
			!strings.HasPrefix(r.Header.Get("Mcp-Method"), "tasks/") {
			protocol.ServeHTTP(w, r)
			return
		}
		var message struct {
			ID     json.RawMessage `json:"id"`
			Params struct {
				Task string `json:"taskId"`
			} `json:"params"`
		}
		if json.Unmarshal(peek(r), &message) != nil || message.Params.Task == r.Header.Get("Mcp-Name") {
			protocol.ServeHTTP(w, r) // which says what else is wrong with it
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{ // whoever went away does not read it
			"jsonrpc": "2.0", "id": message.ID, "error": map[string]any{
				"code": mcp.CodeHeaderMismatch, "message": "header mismatch: Mcp-Name is not the taskId of the body",
			},
		})
	})
}
