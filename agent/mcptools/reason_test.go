package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	errReason = errors.New("unsupported content type")
	errGone   = fmt.Errorf("%w: EOF", mcp.ErrConnectionClosed)
)

// send performs a request that ends with an error.
func (c *session) send(ctx context.Context, err error) {
	_, _ = c.failures.watch(func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, err })(ctx,
		"tools/call", nil)
}

// The reason for the end of a session is the error of the last request that failed, unless a later request
// was answered.
func TestReasonIsErrorOfLastFailedRequest(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	other := errors.New("no route")
	rejected := fmt.Errorf("sending: %w: %w", &jsonrpc.Error{Code: -32005, Message: undelivered}, io.EOF)
	for _, c := range []struct {
		what     string
		requests []error
		end      error
		want     error
	}{
		{"no request failed", []error{nil}, nil, errEnded},
		{"no request failed, and the client knows that it is closed", nil, errGone, errGone},
		{"the client knows the reason", []error{other}, errReason, errReason},
		{"a request failed", []error{errReason}, nil, errReason},
		{"later ones found it closed", []error{errReason, errGone, io.EOF}, errGone, errReason},
		{"the last counts", []error{other, errReason}, io.EOF, errReason},
		{"a later one was answered", []error{other, nil}, nil, errEnded},
		{
			"a later one was answered with an error",
			[]error{other, &jsonrpc.Error{Message: "no such tool"}},
			nil,
			errEnded,
		},
		{"one was not delivered", []error{rejected}, errGone, rejected},
	} {
		s := &session{}
		for _, err := range c.requests {
			s.send(t.Context(), err)
		}
		s.send(cancelled, context.Canceled)
		if got := s.reason(c.end); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

// The end of the connection may be detected before the request with the reason returns. A request that began
// earlier may return later.
func TestReasonWaitsForFailingRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, end, answer := &session{}, make(chan struct{}), make(chan struct{})
		go c.failures.watch(func(context.Context, string, mcp.Request) (mcp.Result, error) {
			<-answer
			return nil, nil
		})(t.Context(), "ping", nil)
		go c.failures.watch(func(context.Context, string, mcp.Request) (mcp.Result, error) {
			<-end
			return nil, errReason
		})(t.Context(), "ping", nil)
		synctest.Wait()
		got := make(chan error)
		go func() { got <- c.reason(nil) }()
		synctest.Wait()
		close(end)
		synctest.Wait()
		close(answer)
		if err := <-got; err != errReason {
			t.Errorf("got %v", err)
		}
	})
}
