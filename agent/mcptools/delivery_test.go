package mcptools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/askback/askback/conversation"
)

// restarting is the handler of an MCP server over HTTP that forgets its sessions. The tool pay is slow: a
// call of pay ends when paid is closed.
type restarting struct {
	started chan struct{}
	paid    chan struct{}
	pays    atomic.Int32

	mu       sync.Mutex
	sessions int
	session  string // the valid session
}

func (h *restarting) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = ""
}

// open starts a session.
func (h *restarting) open() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions++
	h.session = fmt.Sprint("s", h.sessions)
	return h.session
}

func (h *restarting) knows(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session == session
}

func (h *restarting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case json.NewDecoder(r.Body).Decode(&m) != nil || m.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
		return
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", h.open())
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		return
	case !h.knows(r.Header.Get("Mcp-Session-Id")):
		w.WriteHeader(http.StatusNotFound)
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Params.Name == "pay":
		if h.pays.Add(1) == 1 {
			close(h.started)
		}
		<-h.paid
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, m.ID)
}

// A call that the server has received is never repeated. This holds even if the session of all calls ends
// because another request got the error that the session is unknown.
func TestReceivedCallIsNotRepeated(t *testing.T) {
	h := &restarting{started: make(chan struct{}), paid: make(chan struct{})}
	s, _ := connectTo(t, newRemote(t, h))
	t.Cleanup(sync.OnceFunc(func() { close(h.paid) }))
	paid := make(chan conversation.Executed, 1)
	go func() { paid <- s.Call(t.Context(), "pay", json.RawMessage(`{}`)) }()
	<-h.started
	h.forget()
	// the request of this call got the error, so the call is repeated
	if got := call(t, s, "other", `{}`); got != "done" {
		t.Errorf("got %q", got)
	}
	select {
	case e := <-paid:
		if !e.IsError || !strings.Contains(e.Text, "the effect of the tool is not known") {
			t.Errorf("got %v, %q", e.IsError, e.Text)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the call has not ended; it may have been repeated")
	}
	if n := h.pays.Load(); n != 1 {
		t.Errorf("the tool ran %d times", n)
	}
}

// The reply to a failed request is limited, even if its type is a stream.
func TestReplyOfFailedRequestIsLimited(t *testing.T) {
	var whole atomic.Bool
	s, _ := connectTo(t, newRemote(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusBadRequest)
		chunk := make([]byte, 1<<20)
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		whole.Store(true)
	})))
	if _, err := s.Tools(t.Context()); err == nil {
		t.Error("got no error")
	}
	if whole.Load() {
		t.Error("a reply of 64 MB was read to its end")
	}
}
