package mcpserver

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// checkTaskHeader refuses a request whose header names another task than its body,
// and says whether it did. The header is there so that a proxy can send a request
// where its task is; the SDK checks it for the methods that it knows.
func checkTaskHeader(m *message, w http.ResponseWriter, r *http.Request) (refused bool) {
	if m == nil || beforeStateless(r) || !aboutTask(r) {
		return false
	}
	var task string
	if len(m.task) > 0 && json.Unmarshal(m.task, &task) != nil || task == r.Header.Get("Mcp-Name") {
		return false // the protocol says what else is wrong with it
	}
	refuseMessage(w, m.id, mcp.CodeHeaderMismatch, "header mismatch: Mcp-Name is not the taskId of the body")
	return true
}

// refuseMessage is the protocol's own way to refuse a message that it never reads.
func refuseMessage(w http.ResponseWriter, id json.RawMessage, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{ // whoever went away does not read it
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text},
	})
}
