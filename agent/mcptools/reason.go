package mcptools

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// failures records the errors of the requests in a session. The client returns the reason of a broken
// connection only to the request that broke the connection. Other requests get the error that the connection
// is closed. The broken request may also be a request of the client itself, such as server/discover, whose
// error the client ignores.
type failures struct {
	mu       sync.Mutex
	last     error         // nil if a request that began later was answered
	count    int           // the number of failed requests
	requests int           // the number of requests in progress
	idle     chan struct{} // closed when no requests are in progress; nil before the first request
}

// watch is middleware for the requests of a client.
func (f *failures) watch(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		before := f.begin()
		result, err := next(ctx, method, r)
		f.finish(ctx, before, err)
		return result, err
	}
}

// begin counts a request, and returns the number of requests that have failed so far.
func (f *failures) begin() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests == 0 {
		f.idle = make(chan struct{})
	}
	f.requests++
	return f.count
}

func (f *failures) finish(ctx context.Context, before int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil || isReply(err):
		if f.count == before {
			f.last = nil
		}
	case ctx.Err() == nil && !isBroken(err):
		f.last = err
		f.count++
	}
	f.requests--
	if f.requests == 0 {
		close(f.idle)
	}
}

// reason returns the error of the last failed request, or nil. It is called when the connection has ended. It
// first waits up to a second for the requests in progress, because the reason may be the error of such a
// request.
func (f *failures) reason() error {
	f.mu.Lock()
	idle := f.idle
	f.mu.Unlock()
	if idle != nil {
		wait(idle, time.Second)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// isBroken reports whether an error means that the connection cannot be used any more.
func isBroken(err error) bool {
	return !isUndelivered(err) &&
		(errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe))
}

// isReply reports whether err is an error that the server returned.
func isReply(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && !isTransport(e)
}

// isUndelivered reports whether err is the error of a request over HTTP that did not reach the server. This
// includes a request that the server was too busy to accept. The connection can still be used.
func isUndelivered(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && isTransport(e)
}

// undelivered is the text before the reason in an error of the client.
const undelivered = "rejected by transport"

// isTransport reports whether e is from the client and not from the server. Both have the same type, and the
// client does not export its error.
func isTransport(e *jsonrpc.Error) bool { return e.Code == -32005 && e.Message == undelivered }
