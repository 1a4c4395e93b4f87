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
	client  string // the name of the client, if the request does not declare it
	label   string // what people know it by; "" is the client's name
	stdio   bool
	live    context.Context // ends when nobody reads the reply any more; the one of a call need not

	acks  *group
	leave context.CancelFunc // ends live; nil where the protocol ends the call

	mu       sync.Mutex
	given    []gift // by this request
	replying bool   // its reply is being written: a cancellation changes nothing any more
	over     bool   // it is replied to, or cancelled: nothing is given any more
}

// A gift is a settled ask that was given to the agent, and its mark.
type gift struct{ id, mark string }

type callerKey struct{}

func callerOf(ctx context.Context) (*caller, error) {
	who, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, errors.New("a request came without its caller")
	}
	return who, nil
}

// tell notes that a settled ask is given to the agent. It has no receipt before the
// reply was sent.
func (s *Server) tell(w *caller, ask askback.Ask, mark string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	s.memory.tell(mark)
	w.given = append(w.given, gift{ask.ID, mark})
}

// gave says whether a request gave anything. One that did not gives nothing any
// more: its call may still run, and nobody reads what it finds.
func (w *caller) gave() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = w.over || len(w.given) == 0
	return len(w.given) > 0
}

// startReply records that the reply which gives something is being written. From here
// on only a write that fails takes the answer back, and no cancellation: some clients
// send one for each call whose reply they have. A client that is gone by now is given
// nothing.
func (s *Server) startReply(w *caller, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(w.given) == 0 || w.replying:
	case gone:
		s.takeBack(w)
	default:
		w.replying = true
	}
}

// cancel ends a request whose reply is not being written yet. It gives nothing: the
// client does not read the reply.
func (s *Server) cancel(w *caller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.replying || w.over {
		return
	}
	if w.leave != nil {
		w.leave()
	}
	s.takeBack(w)
}

// takeBack makes what a request gave count as not given, and lets it give nothing
// more. The caller holds the lock.
func (s *Server) takeBack(w *caller) {
	for _, g := range w.given {
		s.memory.forget(g.mark)
	}
	w.given, w.over = nil, true
}

// replied leaves receipts for what a request gave, once its reply is written; or takes
// it back, when the reply could not be written.
func (s *Server) replied(w *caller, arrived bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !arrived {
		s.takeBack(w)
		return
	}
	for _, g := range w.given {
		s.ack(w, g)
	}
	w.given, w.over = nil, true
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
	return clientOf(c.req.Params.Meta, c.req.Session, c.who)
}

// clientOf is the name of the program that makes a request: as the request declares it,
// or the session of the client.
func clientOf(meta mcp.Meta, session *mcp.ServerSession, who *caller) string {
	if name, _ := declared(meta, mcp.MetaKeyClientInfo)["name"].(string); name != "" {
		return name
	}
	if begun := session.InitializeParams(); begun != nil && begun.ClientInfo != nil && begun.ClientInfo.Name != "" {
		return begun.ClientInfo.Name
	}
	return who.client
}

// label is what people know this agent by. It is no identity: that is the token's. A
// call with a key of its own is the same in every folder, and the label is part of what
// is asked.
func (c *call) label(k key) string {
	if c.who.label != "" {
		return c.who.label
	}
	folder := ""
	if c.who.stdio && !k.own {
		folder = c.options.Folder
	}
	return label(c.client(), folder)
}

// declared is an object that one request has in its _meta, read where it stands:
// to make a typed value of it costs the SDK as much as to read the request.
func declared(meta mcp.Meta, key string) map[string]any {
	object, _ := meta[key].(map[string]any)
	return object
}

// linked gives an ask the address of its page, if it has none and there is one.
func (s *Server) linked(ask askback.Ask) askback.Ask {
	if ask.PageURL != "" {
		return ask
	}
	return ask.WithPageURL(s.options.PublicURL)
}
