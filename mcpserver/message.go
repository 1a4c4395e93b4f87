package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// A message is what has to be known of a request before the protocol reads it. Its
// members are found by their exact names, as the protocol does.
type message struct {
	method                  string
	id                      json.RawMessage
	cancelled, task, client json.RawMessage // requestId, taskId and clientInfo of its params
}

func readMessage(body []byte) *message {
	var all, params map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	m := &message{id: all["id"]}
	_ = json.Unmarshal(all["method"], &m.method) // what is wrong here the protocol says
	_ = json.Unmarshal(all["params"], &params)
	m.cancelled, m.task, m.client = params["requestId"], params["taskId"], params["clientInfo"]
	return m
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
	return readMessage(body)
}

// maxBlank is how much white space may stand before a message.
const maxBlank = 64

// isBatch says whether the body of a request is a list of messages, without reading
// on. Only one old revision has them, each would be served at once, and a reply to
// one of many can neither be cancelled nor bounded.
func isBatch(r *http.Request) bool {
	if r.Method != http.MethodPost || r.Body == nil {
		return false
	}
	in := bufio.NewReaderSize(r.Body, maxBlank)
	r.Body = struct {
		io.Reader
		io.Closer
	}{in, r.Body}
	begin, _ := in.Peek(maxBlank) // a body that is shorter, or breaks off, is so for the next reader
	message := bytes.TrimLeft(begin, " \t\r\n")
	return len(message) > 0 && message[0] == '[' || len(message) == 0 && len(begin) == maxBlank
}

// beforeStateless says whether a request is of a revision with sessions.
func beforeStateless(r *http.Request) bool {
	return r.Header.Get("Mcp-Protocol-Version") < statelessVersion
}

// aboutTask says whether the header of a request says that it is about a task, by
// one of the methods there are.
func aboutTask(r *http.Request) bool {
	switch r.Header.Get("Mcp-Method") {
	case "tasks/get", "tasks/update", "tasks/cancel":
		return true
	}
	return false
}
