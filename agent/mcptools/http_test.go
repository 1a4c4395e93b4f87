package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/agent/mcptools"
	"github.com/askback/askback/test/kit/racedetector"
)

// remote is an MCP server over HTTP. Another server can replace it at the same address.
type remote struct {
	*httptest.Server
	handler atomic.Pointer[http.Handler]
	mu      sync.Mutex
	secrets []string // the header X-Secret of each request
}

func (r *remote) serve(h http.Handler) { r.handler.Store(&h) }

func newRemote(t *testing.T, h http.Handler) *remote {
	t.Helper()
	r := &remote{}
	r.serve(h)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.secrets = append(r.secrets, req.Header.Get("X-Secret"))
		r.mu.Unlock()
		(*r.handler.Load()).ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

// handler returns the endpoint of an MCP server.
func handler(server *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// add adds a tool with a fixed result.
func add(server *mcp.Server, tool *mcp.Tool, result *mcp.CallToolResult, err error) {
	if tool.InputSchema == nil {
		tool.InputSchema = object
	}
	server.AddTool(tool,
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, err })
}

func connectTo(t *testing.T, r *remote, change ...func(*mcptools.Options)) (*mcptools.Server, *logBuffer) {
	t.Helper()
	o := mcptools.Options{
		URL: r.URL + "/mcp?key=hunter2hunter2", Headers: map[string]string{"X-Secret": "hunter2hunter2"},
	}
	for _, f := range change {
		f(&o)
	}
	s, log := newServer(t, o)
	t.Cleanup(func() {
		if strings.Contains(log.String(), "hunter2") {
			t.Error("the log has a secret")
		}
	})
	return s, log
}

// Annotations of a server state which tools are read-only or destructive. A tool without the hint is
// destructive only if its name says so (D5).
func TestAnnotationsAreRead(t *testing.T) {
	server := newMCP()
	no, yes := false, true
	add(server, &mcp.Tool{Name: "both", Annotations: &mcp.ToolAnnotations{
		ReadOnlyHint: true, DestructiveHint: &yes, IdempotentHint: true,
	}}, text(""), nil)
	add(server,
		&mcp.Tool{Name: "neither", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no}},
		text(""), nil)
	add(server, &mcp.Tool{Name: "again", Annotations: &mcp.ToolAnnotations{IdempotentHint: true}}, text(""), nil)
	add(server, &mcp.Tool{Name: "read", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, Title: "Read it"}},
		text(""), nil)
	add(server, &mcp.Tool{Name: "append", Title: "Append", Annotations: &mcp.ToolAnnotations{
		DestructiveHint: &no,
	}, Description: "Appends."}, text(""), nil)
	add(server, &mcp.Tool{Name: "unknown", Annotations: &mcp.ToolAnnotations{}}, text(""), nil)
	add(server, &mcp.Tool{Name: "drop_table"}, text(""), nil)
	add(server, &mcp.Tool{Name: "deleteDraft", Annotations: &mcp.ToolAnnotations{DestructiveHint: &no}}, text(""), nil)
	add(server, &mcp.Tool{Name: "remove_none", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, text(""), nil)
	s, _ := connectTo(t, newRemote(t, handler(server)))
	for _, c := range []struct {
		name, title           string
		readOnly, destructive bool
	}{
		{"both", "", false, true},
		{"neither", "", true, false},
		{"again", "", false, false},
		{"read", "Read it", true, false},
		{"append", "Append", false, false},
		{"unknown", "", false, false},
		{"echo", "", false, false},
		{"drop_table", "", false, true},
		{"deleteDraft", "", false, false},
		{"remove_none", "", true, false},
	} {
		if got := find(t, s, c.name); got.Title != c.title || got.ReadOnly != c.readOnly ||
			got.Destructive != c.destructive {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
	if d := find(t, s, "append").Description; d != "Appends." {
		t.Errorf("got the description %q", d)
	}
}

// The tools are listed again only when the server announces that they changed.
func TestChangedToolsAreListedAgain(t *testing.T) {
	server := newMCP()
	var lists atomic.Int32
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	s, _ := connectTo(t, newRemote(t, handler(server)))
	for range 3 {
		if got := names(t, s); !slices.Equal(got, []string{"echo"}) {
			t.Fatalf("got %q", got)
		}
	}
	if n := lists.Load(); n != 1 {
		t.Errorf("the tools were listed %d times", n)
	}
	var added time.Time
	eventually(t, "the new tool is listed", func() bool {
		if time.Since(added) > time.Second/4 { // again, because the stream for announcements may not have been open
			added = time.Now()
			add(server, &mcp.Tool{Name: "new"}, text(""), nil)
		}
		return slices.Contains(names(t, s), "new")
	})
}

// Every kind of content that a tool can return becomes a text for the model.
func TestEveryResultBecomesText(t *testing.T) {
	size := int64(3)
	for _, c := range []struct {
		name    string
		result  *mcp.CallToolResult
		want    string
		isError bool
	}{
		{
			"several texts",
			&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a"}, &mcp.TextContent{Text: "b"}}},
			"a\n\nb", false,
		},
		{
			"an error",
			&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "no such file"}}, IsError: true},
			"no such file", true,
		},
		{"nothing", &mcp.CallToolResult{Content: []mcp.Content{}}, "The tool returned nothing.", false},
		{
			"an error without a reason", &mcp.CallToolResult{Content: []mcp.Content{}, IsError: true},
			"The tool failed, and gave no reason.", true,
		},
		{
			"structured content",
			&mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"a": 1}}, `{"a":1}`, false,
		},
		{"structured content and its text", &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: "a is 1"}}, StructuredContent: map[string]any{"a": 1},
		}, "a is 1", false},
		{"media", &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")},
			&mcp.AudioContent{MIMEType: "audio/ogg\nx", Data: []byte("abcd")},
		}}, "[An image, which is not shown: image/png, 3 bytes]\n\n[A sound, which cannot be heard: audio/ogg " +
			"x, 4 bytes]", false},
		{"resources", &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ResourceLink{Name: "notes", URI: "file:///n.txt", Description: "My notes", Size: &size},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", Text: "hello"}},
			&mcp.EmbeddedResource{
				Resource: &mcp.ResourceContents{URI: "file:///b.bin", MIMEType: "application/x", Blob: []byte("12345")},
			},
		}}, "[A link to notes: file:///n.txt] My notes\n\n[file:///a.txt]\nhello\n\n[file:///b.bin, which is not " +
			"shown: application/x, 5 bytes]", false},
	} {
		server := newMCP()
		add(server, &mcp.Tool{Name: "tool"}, c.result, nil)
		s, _ := connectTo(t, newRemote(t, handler(server)))
		if got := s.Call(t.Context(), "tool", json.RawMessage(`{}`)); got.Text != c.want || got.IsError != c.isError {
			t.Errorf("%s: got %v, %q; want %v, %q", c.name, got.IsError, got.Text, c.isError, c.want)
		}
	}
}

// A call that the server rejects is an error for the model.
func TestRejectedCallIsAnError(t *testing.T) {
	server := newMCP()
	add(server, &mcp.Tool{Name: "fails"}, nil, errors.New("the disk of hunter2hunter2 is full"))
	s, _ := connectTo(t, newRemote(t, handler(server)))
	fails(t, s, t.Context(), "none", `{}`, `The server files rejected the call: unknown tool "none"`)
	fails(t, s, t.Context(), "fails", `{}`, "the disk of … is full")
}

// After a restart of the server, its session does not exist any more. The client makes a new session, and
// repeats the call that was rejected because of the old session.
func TestRestartedServerIsConnectedAgain(t *testing.T) {
	first := newMCP()
	r := newRemote(t, handler(first))
	s, _ := connectTo(t, r)
	call(t, s, "echo", `{}`)
	t.Cleanup(func() {
		for session := range first.Sessions() {
			_ = session.Close()
		}
	})
	next := newMCP()
	add(next, &mcp.Tool{Name: "next"}, text("of the next one"), nil)
	r.serve(handler(next))
	if got := call(t, s, "next", `{}`); got != "of the next one" {
		t.Errorf("got %q", got)
	}
	eventually(t, "the tools are the tools of the next server",
		func() bool { return slices.Contains(names(t, s), "next") })
}

// A server that cannot be reached, rejects every request, or is not an MCP server is an error without the
// secrets of the settings. Its tools can be used as soon as the server replies.
func TestUnreachableServerIsAnError(t *testing.T) {
	r := newRemote(t, http.NotFoundHandler())
	s, _ := connectTo(t, r)
	check := func(what, want string) {
		t.Helper()
		_, err := s.Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", what, err, want)
		}
		fails(t, s, t.Context(), "echo", `{}`, "cannot be reached")
	}
	check("no endpoint", "Not Found")
	r.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	check("no access", "Unauthorized")
	r.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>Welcome"))
	}))
	check("a web site", "text/html")
	r.serve(handler(newMCP()))
	call(t, s, "echo", `{}`)
}

// A reply over HTTP is limited in size.
func TestEndlessReplyIsAnError(t *testing.T) {
	racedetector.Omit(t)
	s, _ := connectTo(t, newRemote(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 17 {
			_, _ = w.Write([]byte(strings.Repeat(" ", 1<<20)))
		}
	})))
	if _, err := s.Tools(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "the reply has more than 16777216 bytes") {
		t.Errorf("got %v", err)
	}
}

// A reply of exactly the maximum size is read.
func TestLargestReplyIsRead(t *testing.T) {
	racedetector.Omit(t)
	s, _ := connectTo(t, newRemote(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		if request.Method == "tools/list" {
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		}
		reply := `{"jsonrpc":"2.0","id":` + string(request.ID) + `,"result":` + result + `}`
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(reply + strings.Repeat(" ", 1<<24-len(reply))))
	})))
	if tools, err := s.Tools(t.Context()); err != nil || len(tools) != 1 {
		t.Errorf("got %d tools, %v; want 1", len(tools), err)
	}
}

// If a connected server fails, each request in progress returns the reason.
func TestFailedRequestReturnsTheReason(t *testing.T) {
	for _, c := range []struct {
		what, reason string
		answer       http.HandlerFunc
	}{
		{"a web site", `unsupported content type "text/html"`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
		}},
		{"no access", "Unauthorized", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}},
		{"half a reply", "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{"))
		}},
		{"too busy", `sending "tools/call": Service Unavailable`, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		{"no reply", "EOF", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		server := newMCP()
		r := newRemote(t, handler(server))
		s, log := connectTo(t, r)
		call(t, s, "echo", `{}`)
		r.serve(c.answer)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				e := s.Call(t.Context(), "echo", json.RawMessage(`{}`))
				if !e.IsError || !strings.Contains(e.Text, c.reason) || strings.Contains(e.Text, "rejected") ||
					strings.Contains(e.Text, "hunter2") {
					t.Errorf("%s: got %q, want %q", c.what, e.Text, c.reason)
				}
			})
		}
		all.Wait()
		r.serve(handler(newMCP()))
		s.Close()
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "ended") && !strings.Contains(strings.ReplaceAll(line, `\"`, `"`), c.reason) {
				t.Errorf("%s: got the log %s", c.what, line)
			}
		}
		for session := range server.Sessions() {
			_ = session.Close()
		}
	}
}

// A redirect within the server is followed. A redirect to another server is not followed, so the headers,
// which have secrets, never reach the other server.
func TestHeadersAreSentToOneServerOnly(t *testing.T) {
	other := newRemote(t, handler(newMCP()))
	r := newRemote(t, nil)
	inner := handler(newMCP())
	r.serve(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/mcp" {
			http.Redirect(w, req, "/mcp/", http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, req)
	}))
	s, _ := connectTo(t, r)
	if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
		t.Errorf("got %q", got)
	}
	s.Close()
	r.mu.Lock()
	for _, secret := range r.secrets {
		if secret != "hunter2hunter2" {
			t.Errorf("a request has the header %q", secret)
		}
	}
	r.mu.Unlock()

	r.serve(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	s, _ = connectTo(t, r)
	if _, err := s.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "it redirects to another server") {
		t.Errorf("got %v", err)
	}
	if len(other.secrets) > 0 {
		t.Errorf("the other server got %d requests", len(other.secrets))
	}
}

// A server that does not reply blocks no caller after the end of its context, and gets a cancellation of the
// call.
func TestHangingEndpointBlocksNoCaller(t *testing.T) {
	began, cancelled := make(chan struct{}), make(chan struct{})
	server := newMCP()
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: object},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(began)
			<-ctx.Done()
			close(cancelled)
			return nil, ctx.Err()
		})
	s, _ := connectTo(t, newRemote(t, handler(server)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan time.Time, 1)
	go func() {
		fails(t, s, ctx, "wait", `{}`, "The call was cancelled")
		ended <- time.Now()
	}()
	<-began
	before := time.Now()
	cancel()
	if d := (<-ended).Sub(before); d > time.Second {
		t.Errorf("it took %v", d)
	}
	<-cancelled
}

// A call ends after the time limit for calls, even if the server never replies.
func TestCallsTimeOut(t *testing.T) {
	server := newMCP()
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: object},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	s, _ := connectTo(t, newRemote(t, handler(server)), func(o *mcptools.Options) { o.Call = 300 * time.Millisecond })
	fails(t, s, t.Context(), "wait", `{}`, "has not replied within 300ms")
}

// Closing ends the calls in progress.
func TestCloseEndsCalls(t *testing.T) {
	began := make(chan struct{})
	server := newMCP()
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: object},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	s, _ := connectTo(t, newRemote(t, handler(server)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		fails(t, s, t.Context(), "wait", `{}`, "ended before the result")
	}()
	<-began
	s.Close()
	<-ended
}

// Concurrent runs can call tools and list them over one connection.
func TestCallsRunConcurrently(t *testing.T) {
	s, _ := connectTo(t, newRemote(t, handler(newMCP())))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := call(t, s, "echo", `{"a":1}`); got != `{"a":1}` {
				t.Errorf("got %q", got)
			}
			names(t, s)
		})
	}
	all.Wait()
}

func TestOptionsOfAServerAreChecked(t *testing.T) {
	for want, o := range map[string]mcptools.Options{
		"neither a command nor a URL":         {},
		"both a command and a URL":            {Command: []string{"x"}, URL: "https://x.example.com"},
		"must begin with http:// or https://": {URL: "ftp://x.example.com"},
	} {
		if _, err := mcptools.New("files", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
