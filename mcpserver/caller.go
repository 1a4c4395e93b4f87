package mcpserver

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// A caller is who makes a request, and how it came. Over HTTP there is one for
// each request, made of the token it shows: two agents never share one.
type caller struct {
	seat    Agent
	name    string // of the principal; "" on stdio, which has one
	session string // the client's session; "" is none
	client  string // the name of the client, where the request does not say it
	stdio   bool
	live    context.Context // ends when nobody reads the reply any more; the one of a call need not

	mu   sync.Mutex
	told []string // what this request gave to the agent; over HTTP only
}

type callerKey struct{}

func callerOf(ctx context.Context) (*caller, error) {
	who, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, errors.New("a request came without its caller")
	}
	return who, nil
}

// tell notes that a settled ask is given to the agent.
func (w *caller) tell(m *memory, mark string) {
	m.tell(mark)
	if w.stdio {
		return // when that breaks, nobody is left to tell
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, mark)
}

// takeBack forgets what this request gave: its reply did not arrive.
func (w *caller) takeBack(m *memory) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, mark := range w.told {
		m.forget(mark)
	}
}

// A call is one call of a tool.
type call struct {
	*Server
	who *caller
	req *mcp.CallToolRequest
}

// ended says whether nobody reads the result any more.
func (c *call) ended(ctx context.Context) bool { return ctx.Err() != nil || c.who.live.Err() != nil }

// input is what the model wrote, untouched.
func (c *call) input() []byte {
	if len(c.req.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return c.req.Params.Arguments
}

// modern says whether this very request speaks protocol 2026-07-28, where each
// one declares what its client can do. What was said before does not count.
func (c *call) modern() bool {
	version, _ := c.req.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	return version >= statelessVersion
}

// client is the name of the program that calls.
func (c *call) client() string {
	if info := c.req.ClientInfo(); info != nil && info.Name != "" {
		return info.Name
	}
	return c.who.client
}

// linked gives an ask the address of its page, if it has none and there is one.
func (s *Server) linked(ask askback.Ask) askback.Ask {
	if ask.PageURL == "" && s.options.PublicURL != "" {
		ask.PageURL = s.options.PublicURL + "/asks/" + ask.ID
	}
	return ask
}
