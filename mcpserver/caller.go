package mcpserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// A caller is the sender of a request. Over HTTP it is made from the token of the request, so two agents
// never share a caller.
type caller struct {
	client     Agent
	name       string // name of the principal, or "" on stdio, which serves one agent
	session    string // the client's session, or ""
	clientName string // the name of the client, for requests that declare no name
	label      string // the label for people; if "", the name of the client is used
	stdio      bool
	// started is the time at which the client began its session, or zero if it is unknown.
	started time.Time
	// connected is done when the client no longer reads the reply. The context of the call
	// may continue.
	connected context.Context

	acks       *group
	cancelWait context.CancelFunc // ends connected; nil if the protocol ends the call

	mu           sync.Mutex
	deliveries   []delivery // the outcomes in the reply to this request
	replyStarted bool       // a cancellation changes nothing after the start of the reply
	closed       bool       // the reply is written, or the request is cancelled: nothing more is delivered
	cancelled    bool       // the client has cancelled the request
	gone         bool       // the client was gone before the reply
	waitsFor     string     // the ask for which the request waits, or ""
}

// A delivery is a settled ask whose outcome is in a reply. It has the id of the ask, and the key of the ask
// in the set of recent deliveries.
type delivery struct{ id, recentKey string }

type callerKey struct{}

func callerOf(ctx context.Context) (*caller, error) {
	caller, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, errors.New("the request has no caller")
	}
	return caller, nil
}

// deliver records that the reply to a request contains the outcome of an ask. The outcome is
// acknowledged after the reply is written. If the request is closed, deliver does nothing.
func (s *Server) deliver(caller *caller, ask askback.Ask, recentKey string) {
	caller.mu.Lock()
	defer caller.mu.Unlock()
	if caller.closed {
		return
	}
	s.recent.add(recentKey)
	caller.deliveries = append(caller.deliveries, delivery{ask.ID, recentKey})
}

// hasDeliveries reports whether the reply contains an outcome. If the reply contains no outcome,
// hasDeliveries closes the request: its call may still run, but the result is not read.
func (c *caller) hasDeliveries() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = c.closed || len(c.deliveries) == 0
	return len(c.deliveries) > 0
}

// startReply records that a reply with outcomes is being written. From then on a failed
// write discards the outcomes, but a cancellation does not: some clients cancel each call
// after its reply. If the client is gone already, the outcomes are discarded.
func (s *Server) startReply(caller *caller, gone bool) {
	caller.mu.Lock()
	defer caller.mu.Unlock()
	switch {
	case len(caller.deliveries) == 0 || caller.replyStarted:
	case gone:
		s.discard(caller)
	default:
		caller.replyStarted = true
	}
}

// cancel ends a request unless its reply is being written. Its outcomes are discarded,
// because the client does not read the reply.
func (s *Server) cancel(caller *caller) {
	caller.mu.Lock()
	defer caller.mu.Unlock()
	if caller.replyStarted || caller.closed {
		return
	}
	caller.cancelled = true
	if caller.cancelWait != nil {
		caller.cancelWait()
	}
	s.discard(caller)
}

// discard makes the outcomes in a reply count as not delivered, and closes the request.
// caller.mu must be held.
func (s *Server) discard(caller *caller) {
	for _, d := range caller.deliveries {
		s.recent.remove(d.recentKey)
	}
	caller.deliveries, caller.closed = nil, true
}

// finishReply acknowledges the outcomes in a reply that was written. It discards the outcomes in a reply that
// was not written.
func (s *Server) finishReply(caller *caller, arrived bool) {
	caller.mu.Lock()
	defer caller.mu.Unlock()
	if !arrived {
		s.discard(caller)
		return
	}
	for _, d := range caller.deliveries {
		s.waiting.Remove(d.id)
		s.ack(caller, d)
	}
	caller.deliveries, caller.closed = nil, true
}

// A call is a tool call that is being served.
type call struct {
	*Server
	caller *caller
	req    *mcp.CallToolRequest // Session is nil in a direct call
	notify func(context.Context, *mcp.ProgressNotificationParams) error
}

// isGone reports whether the client no longer reads the result.
func (c *call) isGone(ctx context.Context) bool {
	return ctx.Err() != nil || c.caller.connected.Err() != nil
}

// input returns the arguments exactly as the model wrote them, or {} if the call has no
// arguments.
func (c *call) input() []byte {
	if len(c.req.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return c.req.Params.Arguments
}

// isStateless reports whether this request uses protocol 2026-07-28 or later, in which each
// request declares the capabilities of its client.
func (c *call) isStateless() bool {
	version, _ := c.req.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	return version >= statelessVersion
}

// clientName returns the name of the client's program.
func (c *call) clientName() string {
	return clientNameOf(c.req.Params.Meta, c.req.Session, c.caller)
}

// clientNameOf returns the name of the program that sent a request. It is the name in the request, in the
// initialization of the session, or in the session id, or "" without such a name.
func clientNameOf(meta mcp.Meta, session *mcp.ServerSession, caller *caller) string {
	if name, _ := declared(meta, mcp.MetaKeyClientInfo)["name"].(string); name != "" {
		return name
	}
	if session != nil {
		if started := session.InitializeParams(); started != nil && started.ClientInfo != nil &&
			started.ClientInfo.Name != "" {
			return started.ClientInfo.Name
		}
	}
	return caller.clientName
}

// label returns the name of the agent for people. The agent is identified by its token, not by this name.
// With an idempotency key of the client, the label has no folder. The label is part of the request, and the
// same key must work in every folder.
func (c *call) label(k key) string {
	if c.caller.label != "" {
		return c.caller.label
	}
	folder := ""
	if c.caller.stdio && !k.explicit {
		folder = c.options.Folder
	}
	return label(c.clientName(), folder)
}

// declared returns the object with the given key in the _meta of a request, or nil. The SDK could decode the
// object into a struct, but this would take as long as reading the request.
func declared(meta mcp.Meta, key string) map[string]any {
	object, _ := meta[key].(map[string]any)
	return object
}

// withPageURL returns an ask with the URL of its page, if there are pages.
func (s *Server) withPageURL(ask askback.Ask) askback.Ask {
	if ask.PageURL != "" {
		return ask
	}
	return ask.WithPageURL(s.options.PublicURL)
}
