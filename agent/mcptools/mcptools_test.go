package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/agent/mcptools"
)

// If the environment variable modeVariable is set, the test binary runs as an MCP server on standard input
// and output.
const modeVariable = "MCPTOOLS_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveCommand(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// A logBuffer is a log that tests read while the server writes it.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits until a condition is true. After two minutes, it fails the test.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// newServer returns a server that is closed at the end of the test, and its log.
func newServer(t *testing.T, o mcptools.Options) (*mcptools.Server, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	if o.Stop == 0 {
		o.Stop = 200 * time.Millisecond
	}
	s, err := mcptools.New("files", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, log
}

// newCommand returns a server whose command is this test binary in a mode, and the log of the server.
func newCommand(t *testing.T, mode string, change ...func(*mcptools.Options)) (*mcptools.Server, *logBuffer) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := mcptools.Options{Command: []string{binary}, Env: map[string]string{modeVariable: mode}}
	for _, f := range change {
		f(&o)
	}
	return newServer(t, o)
}

// call calls a tool and returns the text of the result. The test fails if the result is an error.
func call(t *testing.T, s *mcptools.Server, tool, input string) string {
	t.Helper()
	e := s.Call(t.Context(), tool, json.RawMessage(input))
	if e.IsError {
		t.Fatalf("%s %s: got the error %.500q", tool, input, e.Text)
	}
	return e.Text
}

// fails calls a tool and requires that the result is an error whose text contains want.
func fails(t *testing.T, s *mcptools.Server, ctx context.Context, tool, input, want string) {
	t.Helper()
	if e := s.Call(ctx, tool, json.RawMessage(input)); !e.IsError || !strings.Contains(e.Text, want) {
		t.Errorf("%s %s: got %v, %.500q; want an error with %q", tool, input, e.IsError, e.Text, want)
	}
}

// names returns the names of the tools of a server.
func names(t *testing.T, s *mcptools.Server) (all []string) {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return all
}

// find returns a tool by name.
func find(t *testing.T, s *mcptools.Server, name string) agent.ToolInfo {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %q", name)
	return agent.ToolInfo{}
}

// object is the schema of tools in tests.
var object = json.RawMessage(`{"type":"object"}`)

// text returns a result with a text.
func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// newMCP returns an MCP server with the tool echo.
func newMCP() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"},
		&mcp.ServerOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: object},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(string(r.Params.Arguments)), nil
		})
	return server
}
