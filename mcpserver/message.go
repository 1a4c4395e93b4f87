package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// A message is what has to be known of a request before the protocol reads it.
type message struct {
	Method string          `json:"method"`
	ID     json.RawMessage `json:"id"`
	Params struct {
		Cancelled json.RawMessage `json:"requestId"`
		Task      json.RawMessage `json:"taskId"`
		Client    json.RawMessage `json:"clientInfo"`
	} `json:"params"`
}

// peek reads the message of a request that can still be read after it. It is nil
// where nothing of it has to be known, and where it is none: the protocol says what
// is wrong with it. A body that is too large, or breaks off, is so for the next
// reader too.
func peek(r *http.Request) *message {
	if r.Method != http.MethodPost || !beforeStateless(r) && !aboutTask(r) {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	m := &message{}
	if json.Unmarshal(body, m) != nil {
		return nil
	}
	return m
}

// beforeStateless says whether a request is of a revision with sessions.
func beforeStateless(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") < statelessVersion
}

// aboutTask says whether the header of a request says that it is about a task.
func aboutTask(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Mcp-Method"), "tasks/") }
