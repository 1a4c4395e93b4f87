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

// The revisions of the protocol that are tried: the one before and the one
// without sessions.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

var (
	ana = askback.Principal{Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb}
	bot = askback.Principal{Kind: askback.Agent, Name: "bot"}
)

// desk is a store, an engine on it and a server before it.
type desk struct {
	t       *testing.T
	store   engine.Store
	options mcpserver.Options
	engine  *engine.Engine
	server  *mcpserver.Server
	admin   askback.Client
	tokens  map[string]string
	seat    func(askback.Client) askback.Client // what stdio is given of a seat
	serving atomic.Int32                        // requests over HTTP
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, store: memstore.New(), tokens: map[string]string{}, seat: func(s askback.Client) askback.Client { return s }, options: mcpserver.Options{
		PublicURL: "https://ask.example.com", Secret: []byte(strings.Repeat("s", 32)), Version: "test",
	}}
	d.restart()
	return d
}

// restart is what is left after a crash: the store, and what is in the options.
func (d *desk) restart() {
	d.engine = engine.New(d.store, nil)
	d.server = mcpserver.New(&d.options)
	d.admin = d.engine.As(askback.Principal{Kind: askback.Admin, Name: "root", Channel: askback.ChannelTerminal})
	server := d.server
	d.t.Cleanup(func() { server.Stop(); server.Finish() })
}

// stdio connects a client to a server of one agent.
func (d *desk) stdio(program, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	d.t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(d.t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = d.server.ServeStdio(ctx, d.seat(d.engine.As(bot)), inR, outW)
		_ = outW.Close()
	}()
	d.t.Cleanup(func() { cancel(); _ = inW.Close(); _ = outR.Close(); <-served })
	return connect(d.t, &mcp.IOTransport{Reader: outR, Writer: inW}, program, version, o)
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

// secret is the token of a principal, made once.
func (d *desk) secret(kind askback.Kind, name string) string {
	d.t.Helper()
	if d.tokens[name] == "" {
		_, secret, err := d.admin.CreateToken(d.t.Context(), askback.TokenRequest{Kind: kind, Name: name})
		if err != nil {
			d.t.Fatal(err)
		}
		d.tokens[name] = secret
	}
	return d.tokens[name]
}

// http connects a client of an agent over HTTP, within the process.
func (d *desk) http(agent, program, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	d.t.Helper()
	return connect(d.t, &mcp.StreamableClientTransport{
		Endpoint: "http://askback.test/mcp", HTTPClient: d.web(agent), DisableStandaloneSSE: true, MaxRetries: -1,
	}, program, version, o)
}

// web is a client that shows the token of an agent and reaches the handler
// without a network, so that time can be stopped. A restart is not seen.
func (d *desk) web(agent string) *http.Client {
	return &http.Client{Transport: &direct{
		handler: func() http.Handler { return d.server.Handler(d.engine) }, serving: &d.serving, secret: d.secret(askback.Agent, agent),
	}}
}

// direct gives requests to a handler. The body of the reply streams.
type direct struct {
	handler func() http.Handler
	serving *atomic.Int32
	secret  string
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, leave := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.Header.Set("Authorization", "Bearer "+d.secret)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &stream{header: http.Header{}, body: pw, ready: make(chan struct{})}
	d.serving.Add(1)
	go func() {
		defer d.serving.Add(-1)
		d.handler().ServeHTTP(w, in)
		w.WriteHeader(http.StatusOK)
		_ = pw.Close()
		leave()
	}()
	select {
	case <-w.ready:
	case <-r.Context().Done(): // not the handler's, which ends when its reply is written
		_ = pr.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(r.Context().Err()) })
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Body: &reading{pr, func() { stop(); leave() }},
	}, nil
}

// reading is the body of a reply. Who closes it is gone.
type reading struct {
	*io.PipeReader
	leave func()
}

func (r *reading) Close() error { r.leave(); return r.PipeReader.Close() }

type stream struct {
	header http.Header
	status int
	once   sync.Once
	ready  chan struct{}
	body   *io.PipeWriter
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) Flush()              { s.WriteHeader(http.StatusOK) }
func (s *stream) WriteHeader(status int) {
	s.once.Do(func() { s.status = status; close(s.ready) })
}

func (s *stream) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.body.Write(p)
}

// open returns the asks that people see, oldest first.
func (d *desk) open() []askback.Ask {
	d.t.Helper()
	p, err := d.engine.As(ana).List(d.t.Context(), askback.Query{})
	if err != nil {
		d.t.Fatal(err)
	}
	return p.Items
}

// only returns the one open ask.
func (d *desk) only() askback.Ask {
	d.t.Helper()
	asks := d.open()
	if len(asks) != 1 {
		d.t.Fatalf("%d asks are open, want 1: %v", len(asks), asks)
	}
	return asks[0]
}

// answer lets ana answer an ask.
func (d *desk) answer(id string, a askback.Answer) askback.Ask {
	d.t.Helper()
	ask, err := d.engine.As(ana).Answer(d.t.Context(), id, a)
	if err != nil {
		d.t.Fatal(err)
	}
	return ask
}

// decline lets ana decline an ask.
func (d *desk) decline(id string) {
	d.t.Helper()
	if _, err := d.engine.As(ana).Decline(d.t.Context(), id, "not now"); err != nil {
		d.t.Fatal(err)
	}
}

// reply is what comes of a call.
type reply struct {
	*mcp.CallToolResult
	err error
}

// text is what a model reads.
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

// structured is what stands beside the text.
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

// call calls a tool and waits for its result.
func call(ctx context.Context, cs *mcp.ClientSession, tool, args string) reply {
	r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	return reply{r, err}
}

// start calls a tool and comes back as soon as the call waits for a person.
func start(ctx context.Context, cs *mcp.ClientSession, tool, args string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- call(ctx, cs, tool, args) }()
	synctest.Wait()
	return done
}

// post sends bytes as they are, with the headers of the revision without
// sessions, and returns the JSON of the reply.
func post(t *testing.T, c *http.Client, method, name, body string) (status int, reply map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://askback.test/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": modern, "Mcp-Method": method, "Mcp-Name": name,
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
