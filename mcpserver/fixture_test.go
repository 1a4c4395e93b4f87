package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/memstore"
)

// The last revision of the protocol with sessions, and the first revision without sessions.
const (
	withSessions = "2025-11-25"
	stateless    = "2026-07-28"
)

var (
	ana = askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}
	bot = askback.Principal{Kind: askback.Agent, Name: "bot"}
)

// A fixture is a store with an engine and a server.
type fixture struct {
	t       *testing.T
	store   engine.Store
	options mcpserver.Options
	engine  *engine.Engine
	server  *mcpserver.Server
	admin   askback.Client
	tokens  map[string]string
	wrap    func(askback.Client) askback.Client // wraps the client of stdio
	serving atomic.Int32                        // requests over HTTP
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, store: memstore.New(), tokens: map[string]string{},
		wrap: func(c askback.Client) askback.Client { return c }, options: mcpserver.Options{
			PublicURL: "https://ask.example.com", Secret: []byte(strings.Repeat("s", 32)), Version: "test",
		},
	}
	f.restart()
	return f
}

// restart creates a new engine and a new server, as after a crash.
func (f *fixture) restart() {
	f.engine = engine.New(f.store, nil)
	f.server = mcpserver.New(&f.options)
	f.admin = f.engine.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal})
	server := f.server
	f.t.Cleanup(func() { server.Stop(); server.Finish() })
}

// connectStdio connects a client to a server on stdio.
func (f *fixture) connectStdio(program, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	f.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(f.t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = f.server.ServeStdio(ctx, f.wrap(f.engine.As(bot)), inR, outW)
		_ = outW.Close()
	}()
	f.t.Cleanup(func() { cancel(); _ = inW.Close(); _ = outR.Close(); <-served })
	return connect(f.t, &mcp.IOTransport{Reader: outR, Writer: inW}, program, version, o)
}

func connect(t *testing.T, transport mcp.Transport, program, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: program, Version: "1"}, o)
	cs, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

// secret returns the token of a principal. The first call creates the token.
func (f *fixture) secret(kind askback.Kind, name string) string {
	f.t.Helper()
	if f.tokens[name] == "" {
		_, secret, err := f.admin.CreateToken(f.t.Context(), askback.TokenRequest{Kind: kind, Name: name})
		if err != nil {
			f.t.Fatal(err)
		}
		f.tokens[name] = secret
	}
	return f.tokens[name]
}

// connectHTTP connects a client of an agent over HTTP, within the process.
func (f *fixture) connectHTTP(agent, program, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	f.t.Helper()
	return connect(f.t, &mcp.StreamableClientTransport{
		Endpoint: "http://askback.test/mcp", HTTPClient: f.httpClient(agent), DisableStandaloneSSE: true,
		MaxRetries: -1,
	}, program, version, o)
}

// httpClient returns an HTTP client with the token of an agent. The client calls the handler without a
// network, so that the time of a bubble can advance. The client can be used after a restart.
func (f *fixture) httpClient(agent string) *http.Client {
	return &http.Client{Transport: &handlerTransport{
		handler: func() http.Handler { return f.server.Handler(f.engine) }, serving: &f.serving,
		secret: f.secret(askback.Agent, agent),
	}}
}

// handlerTransport passes requests to a handler, and streams the body of the reply.
type handlerTransport struct {
	handler func() http.Handler
	serving *atomic.Int32
	secret  string
}

func (f *handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.Header.Set("Authorization", "Bearer "+f.secret)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, body: pw, ready: make(chan struct{})}
	f.serving.Add(1)
	go func() {
		defer f.serving.Add(-1)
		f.handler().ServeHTTP(w, in)
		w.WriteHeader(http.StatusOK)
		_ = pw.Close()
		cancel()
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done(): // the context of the client; the context of the handler ends when its reply is written
		_ = pr.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Request: r, ProtoMajor: 1,
		ProtoMinor: 1,
		Body:       &replyBody{pr, func() { stop(); cancel() }},
	}, nil
}

// A replyBody is the body of a reply. Close ends the request.
type replyBody struct {
	*io.PipeReader
	cancel func()
}

func (r *replyBody) Close() error { r.cancel(); return r.PipeReader.Close() }

type pipeWriter struct {
	header http.Header
	status int
	once   sync.Once
	ready  chan struct{}
	body   *io.PipeWriter
}

func (s *pipeWriter) Header() http.Header { return s.header }
func (s *pipeWriter) Flush()              { s.WriteHeader(http.StatusOK) }
func (s *pipeWriter) WriteHeader(status int) {
	s.once.Do(func() { s.status = status; close(s.ready) })
}

func (s *pipeWriter) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.body.Write(p)
}

// pendingAsks returns the pending asks, oldest first.
func (f *fixture) pendingAsks() []askback.Ask {
	f.t.Helper()
	p, err := f.engine.As(ana).List(f.t.Context(), askback.Query{})
	if err != nil {
		f.t.Fatal(err)
	}
	return p.Items
}

// pendingAsk returns the only pending ask.
func (f *fixture) pendingAsk() askback.Ask {
	f.t.Helper()
	asks := f.pendingAsks()
	if len(asks) != 1 {
		f.t.Fatalf("%d asks are open, want 1: %v", len(asks), asks)
	}
	return asks[0]
}

// answer answers an ask as ana.
func (f *fixture) answer(id string, a askback.Answer) askback.Ask {
	f.t.Helper()
	ask, err := f.engine.As(ana).Answer(f.t.Context(), id, a)
	if err != nil {
		f.t.Fatal(err)
	}
	return ask
}

// decline declines an ask as ana.
func (f *fixture) decline(id string) {
	f.t.Helper()
	if _, err := f.engine.As(ana).Decline(f.t.Context(), id, "not now"); err != nil {
		f.t.Fatal(err)
	}
}

// A reply is the result or the error of a call.
type reply struct {
	*mcp.CallToolResult
	err error
}

// text returns the text that a model reads.
func (r reply) text(t *testing.T) string {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%d parts, want 1", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// structured returns the structured content.
func (r reply) structured(t *testing.T) map[string]any {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return m
}

// callTool calls a tool and waits for its result.
func callTool(ctx context.Context, cs *mcp.ClientSession, tool, args string) reply {
	r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	return reply{r, err}
}

// startCall starts a call of a tool and returns a channel for the reply. It returns once the call waits for a
// person or has ended.
func startCall(ctx context.Context, cs *mcp.ClientSession, tool, args string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- callTool(ctx, cs, tool, args) }()
	synctest.Wait()
	return done
}

// post sends a body with the headers of the revision without sessions, and returns the JSON
// of the reply.
func post(t *testing.T, c *http.Client, method, name, body string) (status int, reply map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": stateless, "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(k, v)
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			raw = data
		}
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		t.Fatalf("%d %s: %v", res.StatusCode, raw, err)
	}
	return res.StatusCode, reply
}

const database = `{"questions": [{"question": "Which database?", "options": [{"label": "PostgreSQL"}, {"label": "SQLite"}]}]}`
