// Package mcpserver lets agents of today ask people through the Model Context
// Protocol: on stdio for one agent, over HTTP for many.
//
// A call writes its ask first and only then waits, so nothing is lost when a
// client gives up, a connection breaks or a process ends: a disconnect withdraws
// nothing. What a call is given depends on what its request declares, the
// richest first:
//
//   - the extension io.modelcontextprotocol/tasks: a task, whose id is the ask's;
//   - protocol 2026-07-28 with elicitation by URL, and a client that is known to
//     show pages well: one round that shows the page of the ask, and after it what
//     everybody gets;
//   - everybody: a bounded wait, and then a normal result that says that nobody
//     has answered yet, and to call wait_for_answer.
//
// Claude Code gets the wait whatever it declares: what comes of a task its model is
// told not to take for an approval. Codex and Copilot declare pages, and would not call
// again before a key is pressed at their terminal; they get the wait too.
//
// # Calls that are repeated
//
// A call is the same when it has the same tool, the same arguments and the same
// client session, or the same idempotency key in its _meta ([MetaKey]). It is put
// under a key, so that the same call finds its ask again, in another process
// too. While the ask is open, the same call attaches to it. Once it is settled it
// depends on whether the result was given to the agent: if it was not, because a
// client gave up or a wait was over, the same call is given the result; if it was,
// the agent asks a second time because it wants to know again, and that is a new
// ask, under the next key. A call with a key of its own is always the one ask.
//
// An approval is consumed when it is given, which is kept with the ask: a later
// call is never given one that another was given before, unless it has the same
// key of its own; of two that wait together one is given it, and the other asks
// anew. wait_for_answer and get_answer still say what was decided, as often as they
// are called, and that the approval was used already ("confirmed": false).
//
// What else is given has a receipt with its ask ([askback.Asker.Ack]), written
// right after the reply, together with others. Until the reply is written, an
// answer waits for its agent, however late it came and whatever was restarted, and
// list_open_questions names it. A result counts as given when its reply was written
// whole to a client that was still there. A connection that breaks before that, and
// notifications/cancelled before that, make the call give nothing. After that a cancellation
// changes nothing: OpenCode sends one for each call whose reply it has. A crash between the
// reply and its receipt gives the answer twice, which is better than an answer lost.
//
// A client session is the process on stdio and what Mcp-Session-Id says over
// HTTP, where it outlives a restart, because nothing is kept of it here. Protocol
// 2026-07-28 has no sessions: there, two runs that share a token and ask exactly
// the same within a day share the ask, until one was given its answer. Give runs
// that must not do that tokens or keys of their own.
package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
)

// An Agent is the client of an agent. An [askback.Client] is one.
type Agent interface {
	askback.Asker
	// Get returns an ask of this agent.
	Get(ctx context.Context, id string) (askback.Ask, error)
	// List returns asks of this agent.
	List(ctx context.Context, q askback.Query) (askback.Page, error)
}

// Options are what a server can be given; the zero value is good.
type Options struct {
	// PublicURL is where people reach the pages, without a slash at the end. It
	// is for seats whose asks have no link of their own.
	PublicURL string
	// Secret signs what clients keep for the server: at least 32 bytes, the same
	// for all processes that serve the same clients. Nil: one of this process.
	// Another that is shorter, also an empty one, makes [New] panic.
	Secret []byte
	// Folder is the name of the project's folder, on stdio. People see it beside the
	// name of the client. "" is none.
	Folder string
	// ClaudeSession is the session of the Claude Code that started this server on
	// stdio, so that its hooks find what permission_prompt asked. "" is none.
	ClaudeSession string
	// Issuer lets in agents over HTTP that have a token of its own instead of one of
	// the gate's. It needs the PublicURL. Nil: there is none.
	Issuer Issuer
	// Version is the release, for the client's log.
	Version string
	Log     *slog.Logger // nil: nothing is logged
}

// A Server serves the ask tools. Make one with [New].
type Server struct {
	options  Options
	log      *slog.Logger
	seal     seal
	memory   memory
	inFlight inFlight
	protocol *mcp.Server
	// What Finish waits for: requests over HTTP and connections on stdio, and the
	// receipts of the former.
	requests  group
	acks      group
	writeTime time.Duration // for a piece of a reply
	// acking ends when Finish has no more time: then no outcome is acknowledged.
	acking context.Context
	cut    context.CancelFunc
	// stopping ends when Stop is called: then nothing waits any more.
	stopping context.Context
	stop     context.CancelFunc
}

// minSecret is how long a secret is at least, in bytes: as long as what it signs
// with.
const minSecret = 32

// New returns a server. It starts nothing.
func New(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	if o.Secret != nil && len(o.Secret) < minSecret {
		panic(fmt.Sprintf("mcpserver: Options.Secret has %d bytes; it needs %d, or is nil", len(o.Secret), minSecret))
	}
	s := &Server{options: *o, log: o.Log, seal: slices.Clone(o.Secret), memory: newMemory(time.Now()), writeTime: writeTime, acks: group{limit: maxAcks}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.seal == nil {
		s.seal = []byte(rand.Text() + rand.Text())
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.acking, s.cut = context.WithCancel(context.Background())
	s.protocol = s.speak()
	return s
}

// Stop makes those who wait get what there is: that nobody has answered yet.
// Requests that come after it are refused.
func (s *Server) Stop() { s.stop() }

// finishTime bounds Finish: that is for what ends by itself after Stop, and for its
// receipts. A process has 20 s to stop in all, of which a server takes 10 s to let
// requests end before it.
const finishTime = 5 * time.Second

// Finish waits for the requests that are still served, and then for the receipts of
// what was given, but not for ever; after it there are none. Call it after Stop,
// when nothing comes any more, and before the seats end. It is for the end: the
// server cannot be used again.
func (s *Server) Finish() {
	defer s.cut()
	late := time.NewTimer(finishTime)
	defer late.Stop()
	for _, end := range []func() <-chan struct{}{s.requests.close, s.acks.close} {
		select {
		case <-end():
		case <-late.C:
			return
		}
	}
}
