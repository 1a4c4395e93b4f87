package mcpserver

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// checkTaskHeader rejects a request whose header and body name different tasks, and reports
// whether it did. A proxy may route by the header. The SDK checks it only for methods that
// it knows.
func checkTaskHeader(m *message, w http.ResponseWriter, r *http.Request) (refused bool) {
	if m == nil || beforeStateless(r) || !aboutTask(r) {
		return false
	}
	var task string
	if len(m.task) > 0 && json.Unmarshal(m.task, &task) != nil || task == r.Header.Get("Mcp-Name") {
		return false // the protocol reports what else is wrong
	}
	rejectMessage(w, m.id, mcp.CodeHeaderMismatch, "header mismatch: Mcp-Name is not the taskId of the body")
	return true
}

// rejectMessage rejects a message in the form of the protocol.
func rejectMessage(w http.ResponseWriter, id json.RawMessage, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may be gone
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text},
	})
}
