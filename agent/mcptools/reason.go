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

// A failures remembers why requests of a session failed. The client returns why a connection broke
// only to the request that broke it. Others get that it is closed; and the request may be one of
// the client itself, which begins with server/discover and then ignores its error.
type failures struct {
	mu       sync.Mutex
	last     error         // nil: a request that began later was answered
	count    int           // how many there were
	requests int           // in progress
	idle     chan struct{} // closed when there are no requests in progress; nil: there were none
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

// begin returns how many requests have failed.
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

// reason returns why the last request failed. It is called when the connection has ended: then
// the requests in progress end as well, one of them with the reason, and it waits for them.
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

// isReply reports whether an error is one that the server returned.
func isReply(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && !isTransport(e)
}

// isUndelivered reports whether an error is one of a request over HTTP after which the connection
// can still be used: the server was not reached, or was too busy.
func isUndelivered(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && isTransport(e)
}

// undelivered is the text of an error of the client that stands before the reason.
const undelivered = "rejected by transport"

// isTransport reports whether an error is of the client and not of the server, though it has the
// same type. The client does not export it.
func isTransport(e *jsonrpc.Error) bool { return e.Code == -32005 && e.Message == undelivered }
