package mcptools

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/agent"
)

// maxMessage is the maximum size of a message of a server in bytes. A larger message ends the connection.
const maxMessage = 16 << 20

// A session is a connection to a server.
type session struct {
	server *Server
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	ready  chan struct{} // closed when the session is connected or has failed to connect

	// The next fields are set before ready is closed.
	process *process // nil if the server is not a command
	client  *mcp.ClientSession
	failed  error // the reason why the session could not connect

	failures   failures
	probing    atomic.Bool
	unfinished atomic.Int32 // requests in progress, and cancelled requests

	mu      sync.Mutex
	listed  []agent.ToolInfo // nil if not listed yet, or changed since
	changes int              // the number of announced changes
}

func newSession(s *Server) *session {
	c := &session{server: s, ready: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	return c
}

// end ends the session for the given reason. The next caller makes a new session.
func (c *session) end(reason error) {
	c.server.forget(c)
	c.cancel(reason)
}

// run connects. It keeps the connection until the connection ends or the server is closed.
func (c *session) run() {
	s := c.server
	var stop func()
	c.client, stop, c.failed = c.connect()
	if c.failed != nil {
		s.log.Warn("MCP server cannot be reached", "error", s.clean(c.failed))
		c.end(c.failed)
		close(c.ready)
		return
	}
	close(c.ready)
	ended := make(chan error, 1)
	go func() { ended <- c.client.Wait() }()
	select {
	case err := <-ended:
		c.end(c.reason(err))
	case <-c.ctx.Done():
		s.forget(c)
	}
	stop()
	if cause := context.Cause(c.ctx); s.ctx.Err() == nil {
		s.log.Warn("connection to MCP server ended", "error", s.clean(cause))
	}
}

// reason returns the reason why the connection ended. For a command, the reason is the outcome of its
// process. If err only states that the connection is closed, the reason is the error of the last failed
// request.
func (c *session) reason(err error) error {
	if p := c.process; p != nil && wait(p.done, time.Second) {
		return p.outcome()
	}
	if err != nil && !isBroken(err) {
		return err
	}
	return cmp.Or(c.failures.reason(), err, errEnded)
}

// connect starts the command, if the server has one, and connects. If the error is nil, stop ends the
// connection and the command.
func (c *session) connect() (client *mcp.ClientSession, stop func(), err error) {
	s := c.server
	ctx, cancel := context.WithTimeout(c.ctx, s.o.Start)
	defer cancel()
	var transport mcp.Transport
	var end func()
	if len(s.o.Command) > 0 {
		p, err := start(s)
		if err != nil {
			return nil, nil, err
		}
		c.process, end = p, p.stop
		transport = &budgeted{&mcp.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: maxMessage}, c.end}
	} else {
		h := newHTTPClient(s, c.end)
		end = h.CloseIdleConnections
		transport = &mcp.StreamableClientTransport{Endpoint: s.o.URL, HTTPClient: h, MaxEventSize: maxMessage}
	}
	// The client declares no capabilities, so a server can neither read local files nor ask models or people.
	o := &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changed() },
	}
	implementation := &mcp.Implementation{Name: "askback", Title: "Askback", Version: "1"}
	client, err = within(ctx, func() (*mcp.ClientSession, error) {
		client := mcp.NewClient(implementation, o)
		client.AddSendingMiddleware(c.failures.watch)
		return client.Connect(ctx, transport, nil)
	})
	if err != nil {
		switch {
		case ctx.Err() == nil:
			err = c.reason(err)
		case c.ctx.Err() == nil:
			err = fmt.Errorf("it was not ready within %v", s.o.Start)
		default:
			err = context.Cause(c.ctx)
		}
		end()
		return nil, nil, err
	}
	return client, func() {
		// The client waits for the results of calls, and a process that hangs sends none.
		if c.unfinished.Load() > 0 && len(s.o.Command) == 0 {
			wait(nil, cancelTime)
		}
		closed := make(chan struct{})
		go func() { defer close(closed); _ = client.Close() }()
		if len(s.o.Command) == 0 {
			wait(closed, s.o.Stop)
		}
		end()
	}, nil
}

// cancelTime is a pause before the connection to an endpoint ends. During the pause, the client sends
// cancellations in the background. A connection to a command has no pause, because the command ends.
const cancelTime = 100 * time.Millisecond

// wait waits until done is closed, at most for d. It reports whether done was closed.
func wait(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// within returns the result of f, or the error of ctx if ctx ends before f returns. In that case f continues.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		select { // f may have returned, too
		case o := <-done:
			return o.value, o.err
		default:
		}
		var none T
		return none, ctx.Err()
	}
}

// perform performs a request in a session. It returns as soon as ctx or the session ends, even if the server
// no longer reads its input. If the connection has failed, perform ends the session.
func perform[T any](ctx context.Context, c *session, request func(context.Context) (T, error)) (T, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	c.unfinished.Add(1)
	value, err := within(inner, func() (T, error) { return request(inner) })
	if inner.Err() == nil {
		c.unfinished.Add(-1)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
		c.probe()
	case c.ctx.Err() != nil:
		err = context.Cause(c.ctx)
	case isBroken(err) || !isReply(err) && c.isBroken():
		wait(c.ctx.Done(), time.Second) // the session ends with a more precise reason
		c.end(err)
		err = context.Cause(c.ctx)
	}
	return value, err
}

// isBroken reports whether the connection has failed. If the client cannot read a message, the waiting
// request gets the error of the read. Only later requests get the error that the connection is closed.
func (c *session) isBroken() bool {
	ctx, cancel := context.WithTimeout(c.ctx, time.Second)
	defer cancel()
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, c.client.Ping(ctx, nil) })
	return err != nil && isBroken(err)
}

// probe sends a ping in the background. If the server does not respond, it ends the session, so that the next
// request makes a new session.
func (c *session) probe() {
	if !c.probing.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer c.probing.Store(false)
		ctx, cancel := context.WithTimeout(c.ctx, c.server.o.Respond)
		defer cancel()
		_, _ = within(ctx, func() (struct{}, error) { return struct{}{}, c.client.Ping(ctx, nil) })
		if ctx.Err() != nil && c.ctx.Err() == nil {
			c.end(fmt.Errorf("it did not respond within %v after a request that did not end", c.server.o.Respond))
		}
	}()
}
