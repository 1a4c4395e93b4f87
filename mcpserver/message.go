package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A message has the fields of a request that this package reads before the protocol does.
// Like the protocol, it finds members by their exact names.
type message struct {
	method                      string
	id                          json.RawMessage
	cancelled, task, clientInfo json.RawMessage // requestId, taskId and clientInfo of params
}

func readMessage(raw []byte) *message {
	var all, params map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	m := &message{id: all["id"]}
	_ = json.Unmarshal(all["method"], &m.method) // the protocol reports invalid JSON
	_ = json.Unmarshal(all["params"], &params)
	m.cancelled, m.task, m.clientInfo = params["requestId"], params["taskId"], params["clientInfo"]
	return m
}

// A body is the body of a request whose beginning was already read.
type body struct {
	io.Reader
	io.Closer
}

// peek reads the message of a request and restores the body. It returns nil if this package
// does not need the message, or if the message is invalid, which the protocol reports.
func peek(r *http.Request) *message {
	if r.Method != http.MethodPost || !beforeStateless(r) && !aboutTask(r) {
		return nil
	}
	raw, _ := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = body{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
	return readMessage(raw)
}

// maxBlank bounds the white space in front of a message, in bytes.
const maxBlank = 64

// isBatch reports whether the body of a request is a list of messages, which one old revision
// allows. It reads only the first maxBlank bytes, and returns true if all of them are white
// space. Batches are rejected, because the reply to one message of a batch can neither be
// cancelled nor be bounded.
func isBatch(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Body == nil {
		return false
	}
	in := bufio.NewReaderSize(r.Body, maxBlank)
	r.Body = body{in, r.Body}
	begin, _ := in.Peek(maxBlank) // the next reader reports a body that is too short or breaks off
	message := bytes.TrimLeft(begin, " \t\r\n")
	return len(message) > 0 && message[0] == '[' || len(message) == 0 && len(begin) == maxBlank
}

// beforeStateless reports whether a request uses a revision with sessions.
func beforeStateless(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") < statelessVersion
}

// aboutTask reports whether the header of a request names a method of the tasks extension.
func aboutTask(r *http.Request) bool {
	return slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel"}, r.Header.Get("Mcp-Method"))
}

// checkTaskHeader rejects a request whose header and body name different tasks, and reports
// whether it did. A proxy may route by the header. The SDK checks the header only for
// methods that it knows.
func checkTaskHeader(m *message, w http.ResponseWriter, r *http.Request) (rejected bool) {
	if m == nil || beforeStateless(r) || !aboutTask(r) {
		return false
	}
	var task string
	if len(m.task) > 0 && json.Unmarshal(m.task, &task) != nil || task == r.Header.Get("Mcp-Name") {
		return false // the protocol reports other errors
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
