// Package mcptools has the tools of MCP servers for hosted agents. A server is a command, which is started
// when it is first needed, or an endpoint with streamable HTTP.
//
// A server is not trusted. Its results are text for a model; their size is limited, and no reference in them
// is followed. Its annotations are hints: a server that marks a tool as read-only may lie, so the definition
// of an agent decides which servers are trusted in this.
package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback/agent"
	"github.com/askback/askback/conversation"
)

// Options configure a [Server]. They have either a command or a URL.
type Options struct {
	Command []string          // a program and its arguments
	Dir     string            // the working directory of the command, or "" for the directory of this process
	Env     map[string]string // the environment of the command, in addition to PATH, HOME, LANG and TMPDIR

	URL     string // the address of an endpoint with streamable HTTP
	Headers map[string]string

	// Log gets the lines that a command writes to standard error. If it is nil, the lines are discarded.
	Log *slog.Logger
	// Start is the time in which a server must be ready. The default is 1 minute, because a command may have
	// to be downloaded first.
	//
	// Call is the longest time of a call. The default is 1 hour.
	//
	// Stop is the time in which a command must end after the end of its input, and again after a signal. The
	// default is 2 seconds.
	//
	// Respond is the time in which a server must respond after a call that did not end. Otherwise the
	// connection ends, and the next call makes a new connection. The default is 30 seconds.
	Start, Call, Stop, Respond time.Duration
}

// A Server is an MCP server. It connects when it is first needed, and again after its connection has ended.
type Server struct {
	name    string
	o       Options
	secrets []string // the texts to hide, the longest first
	log     *slog.Logger
	ctx     context.Context // ends when the server is closed
	stop    context.CancelFunc

	mu      sync.Mutex
	current *session // nil if there is no connection
	running sync.WaitGroup
	closed  bool
}

var _ agent.Toolset = (*Server)(nil)

// New returns the server with the given name, without connecting to it. It returns an error unless o has
// either a command or an http or https URL.
func New(name string, o Options) (*Server, error) {
	switch {
	case len(o.Command) == 0 && o.URL == "":
		return nil, fmt.Errorf("the server %s has neither a command nor a URL", name)
	case len(o.Command) > 0 && o.URL != "":
		return nil, fmt.Errorf("the server %s has both a command and a URL", name)
	}
	if o.URL != "" {
		if u, err := url.Parse(o.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("the URL of the server %s must begin with http:// or https://", name)
		}
	}
	o.Start, o.Call, o.Stop = cmp.Or(o.Start, time.Minute), cmp.Or(o.Call, time.Hour), cmp.Or(o.Stop, 2*time.Second)
	o.Respond = cmp.Or(o.Respond, 30*time.Second)
	s := &Server{
		name: name, o: o, secrets: secrets(o), log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)).With("server", name),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Name returns the name of the server.
func (s *Server) Name() string { return s.name }

// Close ends the calls in progress and the connection. If the server is a command, Close ends its process and
// the processes that it started, and returns when they have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.running.Wait()
}

// session returns a connected session, which all callers share. It connects if there is no connection.
func (s *Server) session(ctx context.Context) (*session, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	c := s.current
	if c == nil {
		c = newSession(s)
		s.current = c
		s.running.Go(c.run)
	}
	s.mu.Unlock()
	select {
	case <-c.ready:
		return c, c.failed
	case <-ctx.Done():
		return nil, fmt.Errorf("it is not ready yet: %w", ctx.Err())
	}
}

// forget makes the next caller connect again, if c is the current session.
func (s *Server) forget(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == c {
		s.current = nil
	}
}

var (
	errClosed = errors.New("the server of the agents is stopping")
	errEnded  = errors.New("the connection ended")
)

// Tools implements [agent.Toolset]. The tools are listed again after a new connection, and when the server
// announces a change.
func (s *Server) Tools(ctx context.Context) ([]agent.ToolInfo, error) {
	for again := true; ; again = false {
		c, err := s.session(ctx)
		var tools []agent.ToolInfo
		if err == nil {
			tools, err = c.tools(ctx)
		}
		switch {
		case err == nil:
			return tools, nil
		case again && c != nil && c.ctx.Err() != nil && ctx.Err() == nil && s.ctx.Err() == nil && c.failed == nil:
			continue // the connection had ended before
		}
		return nil, errors.New(s.clean(err))
	}
}

// Call implements [agent.Toolset]. It returns as soon as ctx or the time for calls ends, and sends a
// cancellation to the server. If the server has lost the session and has not run the tool, Call calls it
// again in a new session.
func (s *Server) Call(ctx context.Context, tool string, input json.RawMessage) conversation.Executed {
	limited, cancel := context.WithTimeout(ctx, s.o.Call)
	defer cancel()
	for again := true; ; again = false {
		c, err := s.session(limited)
		if err != nil {
			return failed("The tool was not called: the server %s cannot be reached: %s", s.name, s.clean(err))
		}
		var d delivery
		result, err := perform(withDelivery(limited, &d), c, func(ctx context.Context) (*mcp.CallToolResult, error) {
			return c.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
		})
		if errors.Is(err, mcp.ErrSessionMissing) {
			c.end(err) // the request of another call may be the cause
			if again && d.notRun() {
				continue
			}
		}
		switch {
		case err == nil:
			return executed(result)
		case ctx.Err() != nil:
			return failed("The call was cancelled. The tool may have had an effect.")
		case limited.Err() != nil:
			return failed(
				"The server %s has not replied within %v, and the call was cancelled. The tool may have had an effect.",
				s.name, s.o.Call,
			)
		}
		return s.rejected(c, err)
	}
}

// rejected returns the result of a call that the server rejected or did not finish.
func (s *Server) rejected(c *session, err error) conversation.Executed {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && isReply(err) {
		return failed("The server %s rejected the call: %s", s.name, s.clean(errors.New(e.Message)))
	}
	if isUndelivered(err) {
		return failed("The request to the server %s failed, so the effect of the tool is not known: %s", s.name,
			s.clean(err))
	}
	if c.ctx.Err() == nil {
		return failed("The reply of the server %s cannot be read, so the effect of the tool is not known: %s", s.name,
			s.clean(err))
	}
	return failed("The connection to the server %s ended before the result, so the effect of the tool is not known: %s",
		s.name, s.clean(err))
}

func failed(format string, args ...any) conversation.Executed {
	return conversation.Executed{Text: fmt.Sprintf(format, args...), IsError: true}
}

// maxError is the maximum length of an error in bytes.
const maxError = 2000

// clean returns the text of err on one line, without the secrets of the settings. It truncates the text to
// maxError bytes.
func (s *Server) clean(err error) string {
	text := s.hide(strings.ReplaceAll(err.Error(), undelivered+": ", ""))
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return text
}
