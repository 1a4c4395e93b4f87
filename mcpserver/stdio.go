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

// maxLine is the maximum length of a message on stdio, in bytes. A longer message ends the connection. The
// limit is far above [maxArguments], so that the model gets an error for most arguments that are too long.
const maxLine = 16 << 20

// ServeStdio serves one agent, with one message on each line, until in or ctx ends. If in ends, it returns
// nil, and pending asks stay pending. If ctx ends, it returns the cause of ctx. It also returns after any
// other error, such as a message that is too long.
func (s *Server) ServeStdio(ctx context.Context, agent Agent, in io.Reader, out io.Writer) error {
	if err := s.requests.begin(); err != nil {
		return err
	}
	defer s.requests.end()
	connected, stopWaiting := context.WithCancel(ctx)
	defer stopWaiting()
	c := &stdioConn{
		server: s, agent: agent, session: rand.Text(), connected: connected, stopWaiting: stopWaiting,
		out: &countingWriter{Writer: out}, calls: map[jsonrpc.ID]*caller{},
		transport: &mcp.IOTransport{Reader: io.NopCloser(in), MaxLineLength: maxLine}, acks: group{limit: maxAcks},
	}
	defer c.finish()
	err := s.protocol.Run(ctx, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A stdioConn is the connection of one agent on stdio. It gives each request a caller. After a reply is
// written, it acknowledges the outcomes in the reply.
type stdioConn struct {
	mcp.Connection
	transport   *mcp.IOTransport
	server      *Server
	agent       Agent
	session     string
	connected   context.Context
	stopWaiting context.CancelFunc // ends connected
	acks        group

	writing sync.Mutex
	out     *countingWriter

	listening sync.WaitGroup // subscriptions

	mu      sync.Mutex
	listens map[jsonrpc.ID]context.CancelFunc
	calls   map[jsonrpc.ID]*caller // requests without a reply
	drained chan struct{}          // closed when calls is empty, after the end of the input
	closed  bool
}

// Connect implements [mcp.Transport].
func (c *stdioConn) Connect(ctx context.Context) (mcp.Connection, error) {
	c.transport.Writer = c.out
	conn, err := c.transport.Connect(ctx)
	c.Connection = conn
	return c, err
}

// callerExtra is the key of the caller in the extra fields of a request on stdio.
const callerExtra = "askback caller"

// Read implements [mcp.Connection].
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	req, ok := m.(*jsonrpc.Request)
	for ok && err == nil && c.listen(ctx, req) {
		m, err = c.Connection.Read(ctx)
		req, ok = m.(*jsonrpc.Request)
	}
	if errors.Is(err, io.EOF) {
		c.drain(ctx)
	}
	switch {
	case !ok || err != nil:
	case req.IsCall():
		req.Extra = &mcp.RequestExtra{
			TokenInfo: &auth.TokenInfo{Extra: map[string]any{callerExtra: c.newCaller(req.ID)}},
		}
	case req.Method == cancelledMethod:
		c.cancelled(req.Params)
	}
	return m, err
}

// listen serves a request for notifications about tasks in the background. It reports whether it serves req.
// The protocol handles other requests, and requests whose id is in use.
func (c *stdioConn) listen(ctx context.Context, req *jsonrpc.Request) bool {
	if !req.IsCall() || req.Method != listenMethod {
		return false
	}
	id, err := json.Marshal(req.ID.Raw())
	sub := newSubscription(id, req.Params)
	if err != nil || sub == nil {
		return false
	}
	connected, end := context.WithCancel(c.connected)
	c.mu.Lock()
	if c.calls[req.ID] != nil || c.listens[req.ID] != nil || c.closed {
		c.mu.Unlock()
		end()
		return false
	}
	if c.listens == nil {
		c.listens = map[jsonrpc.ID]context.CancelFunc{}
	}
	c.listens[req.ID] = end
	c.mu.Unlock()
	from := &caller{client: c.agent, session: c.session, stdio: true, acks: &c.acks}
	c.listening.Go(func() {
		defer end()
		newCaller := func() *caller { return from.forNotification(connected) }
		result, failed := c.server.listen(connected, sub, newCaller, func(method string, params any) error {
			m, err := notification(method, params)
			if err != nil {
				return err
			}
			return c.Write(ctx, m)
		})
		c.mu.Lock()
		delete(c.listens, req.ID)
		c.mu.Unlock()
		if connected.Err() != nil {
			return // cancelled, or the client is gone
		}
		if m, err := reply(sub.id, result, failed); err == nil {
			_ = c.Write(ctx, m)
		}
	})
	return true
}

// cancelled ends the call or the subscription that params names. A call whose reply is being written
// continues.
func (c *stdioConn) cancelled(params json.RawMessage) {
	var members map[string]any // a map finds exact names only, as the protocol does
	_ = json.Unmarshal(params, &members)
	id, err := jsonrpc.MakeID(members["requestId"])
	if err != nil {
		return
	}
	c.mu.Lock()
	caller, endListen := c.calls[id], c.listens[id]
	c.mu.Unlock()
	if caller != nil {
		c.server.cancel(caller)
	}
	if endListen != nil {
		endListen()
	}
}

// withStdioCaller returns a context with the caller of a request on stdio.
func withStdioCaller(ctx context.Context, req mcp.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return ctx
	}
	if caller, ok := extra.TokenInfo.Extra[callerExtra].(*caller); ok {
		return context.WithValue(ctx, callerKey{}, caller)
	}
	return ctx
}

// newCaller returns the caller of a request. The protocol drops a request whose id is in
// use, so its caller delivers nothing.
func (c *stdioConn) newCaller(id jsonrpc.ID) *caller {
	caller := &caller{
		client: c.agent, session: c.session, stdio: true, started: time.Now(), connected: c.connected, acks: &c.acks,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[id] != nil || c.closed {
		caller.closed = true
		return caller
	}
	c.calls[id] = caller
	return caller
}

// Write implements [mcp.Connection]. A reply that the protocol buffers for a batch counts
// as not written, so its outcomes are delivered again.
func (c *stdioConn) Write(ctx context.Context, m jsonrpc.Message) error {
	var caller *caller
	if reply, ok := m.(*jsonrpc.Response); ok {
		// remove the call before the write, because a client may use the id again after the write
		caller = c.removeCall(reply.ID)
	}
	if caller != nil {
		c.server.startReply(caller, false)
	}
	c.writing.Lock()
	before := c.out.n
	err := c.Connection.Write(ctx, m)
	arrived := err == nil && c.out.n > before
	c.writing.Unlock()
	if caller != nil {
		c.server.finishReply(caller, arrived)
	}
	return err
}

// removeCall removes and returns the caller of a request, or nil if there is no such caller.
func (c *stdioConn) removeCall(id jsonrpc.ID) *caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller := c.calls[id]
	delete(c.calls, id)
	if c.drained != nil && len(c.calls) == 0 {
		close(c.drained)
		c.drained = nil
	}
	return caller
}

// drainTime bounds the wait for replies after the input has ended.
const drainTime = 2 * time.Second

// drain ends all waits, and then waits up to drainTime until the replies to the last requests
// are written.
func (c *stdioConn) drain(ctx context.Context) {
	c.stopWaiting()
	c.mu.Lock()
	drained := make(chan struct{})
	if len(c.calls) == 0 {
		close(drained)
	} else {
		c.drained = drained
	}
	c.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
	case <-time.After(drainTime):
	}
}

// finish discards the outcomes in replies that were not written. It waits until all other outcomes are
// acknowledged.
func (c *stdioConn) finish() {
	c.mu.Lock()
	c.closed = true
	calls := c.calls
	c.calls = nil
	c.mu.Unlock()
	for _, caller := range calls {
		c.server.finishReply(caller, false)
	}
	c.stopWaiting()
	c.server.waiting.EndClient((&caller{session: c.session}).id())
	c.listening.Wait()
	<-c.acks.close() // each call of Ack has a timeout
}

// A countingWriter counts the bytes that are written. Its Close does not close the output.
type countingWriter struct {
	io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

func (*countingWriter) Close() error { return nil }
