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

// A failures records the errors of requests of a session. The client returns the reason of a broken
// connection only to the request that broke it; other requests get the error that the connection is closed.
// The request that broke it may also belong to the client itself, which begins with server/discover and
// ignores its error.
type failures struct {
	mu       sync.Mutex
	last     error         // nil: a request that began later was answered
	count    int           // the number of failed requests
	requests int           // in progress
	idle     chan struct{} // closed when no requests are in progress; nil: none has begun
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

// begin counts a request, and returns the number of requests that have failed.
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

// reason returns the error of the last failed request. It is called when the connection has ended. It waits
// for the requests in progress, because they end as well, one of them with the reason.
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

// isReply reports whether the server returned this error.
func isReply(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && !isTransport(e)
}

// isUndelivered reports whether a request over HTTP failed with this error because the server was not
// reached, or was too busy. The connection can still be used.
func isUndelivered(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && isTransport(e)
}

// undelivered is the text in front of the reason in an error of the client.
const undelivered = "rejected by transport"

// isTransport reports whether an error is from the client and not from the server, which have the same type.
// The client does not export its error.
func isTransport(e *jsonrpc.Error) bool { return e.Code == -32005 && e.Message == undelivered }
