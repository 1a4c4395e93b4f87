package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message on stdio. The protocol ends with one that is longer, so
// this is far above what a tool takes, which it can explain ([maxArguments]).
const maxLine = 16 << 20

// ServeStdio serves one agent, one message a line, until in ends or ctx does.
// When in ends it returns nil, and every ask stays as it is.
func (s *Server) ServeStdio(ctx context.Context, agent Agent, in io.Reader, out io.Writer) error {
	if err := s.requests.begin(); err != nil {
		return err
	}
	defer s.requests.end()
	live, hangUp := context.WithCancel(ctx)
	defer hangUp()
	l := &line{
		server: s, agent: agent, session: rand.Text(), live: live, hangUp: hangUp, out: &counted{Writer: out}, open: map[jsonrpc.ID]*caller{},
		transport: &mcp.IOTransport{Reader: io.NopCloser(in), MaxLineLength: maxLine}, acks: group{limit: maxAcks},
	}
	defer l.end()
	err := s.protocol.Run(ctx, l)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A line is the connection of one agent on stdio. It gives each request a caller of
// its own, and knows when the reply to it was written.
type line struct {
	mcp.Connection
	transport *mcp.IOTransport
	server    *Server
	agent     Agent
	session   string
	live      context.Context
	hangUp    context.CancelFunc // ends all waiting
	acks      group

	writing sync.Mutex
	out     *counted

	mu    sync.Mutex
	open  map[jsonrpc.ID]*caller // of requests without a reply
	quiet chan struct{}          // closed when there is none, once the input ended
	ended bool
}

// Connect implements [mcp.Transport].
func (l *line) Connect(ctx context.Context) (mcp.Connection, error) {
	l.transport.Writer = l.out
	conn, err := l.transport.Connect(ctx)
	l.Connection = conn
	return l, err
}

// callerExtra is where a request of stdio has its caller.
const callerExtra = "askback caller"

// Read implements [mcp.Connection].
func (l *line) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := l.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		l.drain(ctx)
	}
	req, ok := m.(*jsonrpc.Request)
	switch {
	case !ok || err != nil:
	case req.IsCall():
		req.Extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{callerExtra: l.admit(req.ID)}}}
	case req.Method == cancelledMethod:
		l.cancelled(req.Params)
	}
	return m, err
}

// cancelled ends a call of a client that does not wait for its reply any more. One whose
// reply is being written, or was, stays as it is.
func (l *line) cancelled(params json.RawMessage) {
	var members map[string]any // found by their exact names, as the protocol does
	_ = json.Unmarshal(params, &members)
	id, err := jsonrpc.MakeID(members["requestId"])
	if err != nil {
		return
	}
	l.mu.Lock()
	who := l.open[id]
	l.mu.Unlock()
	if who != nil {
		l.server.cancel(who)
	}
}

// onStdio returns a context with the caller of a request that came by a line.
func onStdio(ctx context.Context, req mcp.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return ctx
	}
	if who, ok := extra.TokenInfo.Extra[callerExtra].(*caller); ok {
		return context.WithValue(ctx, callerKey{}, who)
	}
	return ctx
}

// admit makes the caller of a request. One whose id is in use is dropped by the
// protocol, and gives nothing.
func (l *line) admit(id jsonrpc.ID) *caller {
	who := &caller{seat: l.agent, session: l.session, stdio: true, live: l.live, acks: &l.acks}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id] != nil || l.ended {
		who.over = true
		return who
	}
	l.open[id] = who
	return who
}

// Write implements [mcp.Connection]. A reply that the protocol keeps back, for a
// batch, counts as one that did not arrive: then the answer is offered once more.
func (l *line) Write(ctx context.Context, m jsonrpc.Message) error {
	var who *caller
	if reply, ok := m.(*jsonrpc.Response); ok {
		who = l.answered(reply.ID) // before it is written: after that the id is free
	}
	if who != nil {
		l.server.startReply(who, false)
	}
	l.writing.Lock()
	before := l.out.n
	err := l.Connection.Write(ctx, m)
	arrived := err == nil && l.out.n > before
	l.writing.Unlock()
	if who != nil {
		l.server.replied(who, arrived)
	}
	return err
}

// answered takes the caller of a request that is replied to.
func (l *line) answered(id jsonrpc.ID) *caller {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.open[id]
	delete(l.open, id)
	if l.quiet != nil && len(l.open) == 0 {
		close(l.quiet)
		l.quiet = nil
	}
	return who
}

// drainTime bounds how long the replies take to what was read last.
const drainTime = 2 * time.Second

// drain lets out the replies to what was read before the input ended. Nobody waits
// for a person any more.
func (l *line) drain(ctx context.Context) {
	l.hangUp()
	l.mu.Lock()
	quiet := make(chan struct{})
	if len(l.open) == 0 {
		close(quiet)
	} else {
		l.quiet = quiet
	}
	l.mu.Unlock()
	select {
	case <-quiet:
	case <-ctx.Done():
	case <-time.After(drainTime):
	}
}

// end takes back what was given in replies that were never written, and waits for
// the receipts of the others.
func (l *line) end() {
	l.mu.Lock()
	l.ended = true
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for _, who := range open {
		l.server.replied(who, false)
	}
	<-l.acks.close() // each has its bound
}

// counted is an output that belongs to somebody else. It counts the bytes that it
// took.
type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

func (*counted) Close() error { return nil }
