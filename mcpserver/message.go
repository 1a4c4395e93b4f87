package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A message holds the fields of a request that this package reads before the protocol does. Like the
// protocol, it finds members by their exact names.
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

// readBody reads the body of a POST and restores it for the protocol, which reports a body
// that is too long or breaks off. The error is not nil if raw is not the whole body.
func readBody(r *http.Request) (raw []byte, err error) {
	if r.Method != http.MethodPost || r.Body == nil {
		return nil, nil
	}
	raw, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = body{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
	if err == nil && len(raw) > maxBody {
		err = errors.New("the body is too long")
	}
	return raw, err
}

// peek returns the message in the body of a request. It returns nil if this package does not
// need the message, or if the message is invalid, which the protocol reports.
func peek(r *http.Request, raw []byte) *message {
	if r.Method != http.MethodPost || !beforeStateless(r) && !aboutTask(r) {
		return nil
	}
	return readMessage(raw)
}

// maxBlank bounds the white space in front of a message, in bytes.
const maxBlank = 64

// isBatch reports whether the body of a request is a list of messages, which one old revision
// allows. If the first maxBlank bytes are white space, it returns true. Batches are rejected,
// because the reply to one message of a batch can neither be cancelled nor be bounded.
func isBatch(raw []byte) bool {
	begin := raw[:min(len(raw), maxBlank)]
	message := bytes.TrimLeft(begin, " \t\r\n")
	return len(message) > 0 && message[0] == '[' || len(message) == 0 && len(begin) == maxBlank
}

// beforeStateless reports whether a request uses a revision with sessions.
func beforeStateless(r *http.Request) bool {
	return r.Header.Get(versionHeader) < statelessVersion
}

// aboutTask reports whether the header of a request names a method of the tasks extension.
func aboutTask(r *http.Request) bool {
	return slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel"}, r.Header.Get(methodHeader))
}

// checkTaskHeader rejects a request whose header and body name different tasks. It reports whether it
// rejected the request. A proxy may route by the header. The SDK checks the header only for the methods that
// it supports.
func checkTaskHeader(m *message, w http.ResponseWriter, r *http.Request) (rejected bool) {
	if m == nil || beforeStateless(r) || !aboutTask(r) {
		return false
	}
	var task string
	if len(m.task) > 0 && json.Unmarshal(m.task, &task) != nil || task == r.Header.Get(nameHeader) {
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
