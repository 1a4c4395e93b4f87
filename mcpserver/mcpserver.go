// Package mcpserver serves the ask tools over the Model Context Protocol: on stdio for one
// agent, and over HTTP for many.
//
// A call records its ask before it waits, so nothing is lost if a client gives up, a
// connection breaks or a process ends. A disconnect withdraws nothing. The form of the
// reply depends on what the request declares. In order of preference:
//
//   - with the extension io.modelcontextprotocol/tasks, a task whose id is the id of the ask;
//   - with protocol 2026-07-28, elicitation by URL and a client that is known to show pages
//     well, a request to show the page of the ask, and then the third form;
//   - otherwise, a wait of bounded length, and then the answer, or a pending result that
//     names wait_for_answer.
//
// Claude Code always gets the third form: its model is told not to take the result of a
// task for an approval. Codex and Copilot declare elicitation, but do not call again before
// a key is pressed at their terminal, so they get the third form too.
//
// # Repeated calls
//
// Two calls are the same if they have the same tool, the same arguments and the same client
// session, or the same idempotency key in their _meta ([MetaKey]). An ask is recorded under
// a key made from its call, by which the same call finds it again, in another process too.
// While the ask is pending, the same call attaches to it. Once the ask is settled, the same
// call gets the outcome if it was not delivered, because the client gave up or the wait
// ended. If the outcome was delivered, the call makes a new ask under the next key. A call
// with an idempotency key of the client always has the same ask.
//
// An approval is consumed when it is delivered. No other call gets it, except one with the
// same idempotency key of the client. If two calls wait for the same approval, one gets it
// and the other asks again. wait_for_answer and get_answer still return the decision, with
// "confirmed": false and a note that the approval was used.
//
// Other outcomes are acknowledged ([askback.Asker.Ack]) right after the reply. Until the
// reply is written, an outcome is kept for its agent, across restarts, and
// list_open_questions lists it. An outcome counts as delivered once its reply was written
// in full to a client that was still connected. If the connection breaks or
// notifications/cancelled arrives before that, the outcome counts as not delivered. A later
// cancellation changes nothing: OpenCode cancels each call after its reply. After a crash
// between the reply and Ack, the outcome is delivered twice, which is better than never.
//
// A client that was restarted repeats the question of its first process, or of its first connection. If that
// is known to have ended, the question belongs to the new client, which gets the answer, once. An approval is
// never passed on. Two clients that live never share a question by this rule. See
// docs/design/mcp.md, "Restarted clients".
//
// A client session is the process on stdio, and the header Mcp-Session-Id over HTTP, where
// it survives a restart because the server does not store it. Protocol 2026-07-28 has no
// sessions: two runs that share a token and ask the same within a day share the ask, until
// a run has the answer. Give such runs separate tokens or idempotency keys.
package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/local/waiting"
)

// An Agent is the part of an [askback.Client] that this package uses.
type Agent interface {
	askback.Asker
	askback.Asks
}

// Options configure a [Server]. The zero value is valid.
type Options struct {
	// PublicURL is the URL of the pages, without a slash at the end. It is used if the asks
	// of a client have no page URL.
	PublicURL string
	// Secret signs session ids and states that clients keep. It has at least 32 bytes, or [New] panics.
	// Processes that serve the same clients share it. If it is nil, New generates a secret for this process.
	Secret []byte
	// Folder is the name of the project's folder, on stdio. People see it after the name of the client. If it
	// is "", people see no folder.
	Folder string
	// Wait is how long a call on stdio waits for an answer. If it is 0, the time depends on how long the
	// client is known to wait.
	Wait time.Duration
	// ClaudeSession is the session id of the Claude Code that started this server on stdio, so that its hooks
	// find the asks of permission_prompt. It is "" for other clients.
	ClaudeSession string
	// Conversation is the id that the client on stdio has for its conversation, or "". A client that was
	// restarted in a conversation gets the answers to the questions that it asked there before. Without an id,
	// it gets the answers to the questions of the same program in Directory, the path of the folder in which it
	// runs.
	Conversation, Directory string
	// Waiting is the folder for records of which client waits for which question, or "". Without a folder, a
	// client gets no answers after a restart on stdio, and over HTTP not if the server was restarted, too.
	Waiting string
	// Issuer verifies tokens that another server issued, over HTTP. It requires PublicURL. If it is nil, such
	// tokens are rejected.
	Issuer Issuer
	// Version is the version of Askback that clients see.
	Version string
	Log     *slog.Logger // nil discards logs
}

// A Server serves the ask tools. Create one with [New].
type Server struct {
	options  Options
	log      *slog.Logger
	signer   signer
	recent   recentSet
	waiting  *waiting.Book
	protocol *mcp.Server
	tools    map[string]toolFunc
	identity []byte // the name and the version of this program as JSON
	// inFlight maps the digest of a request id to the *caller of an HTTP request that a client can cancel. A
	// cancellation is a separate request and must find the request that it names.
	inFlight sync.Map
	// Finish first waits for requests, which counts the requests over HTTP and the connections on stdio. Then
	// it waits for acks, which counts the calls of Ack for requests over HTTP.
	requests  group
	acks      group
	writeTime time.Duration // the timeout for each write of a reply
	// ackCtx is done when Finish times out. From then on, no outcome is acknowledged.
	ackCtx   context.Context
	stopAcks context.CancelFunc
	// stopping is done after Stop. From then on, no call waits.
	stopping context.Context
	stop     context.CancelFunc
}

// minSecret is the minimum length of a secret, in bytes. A signature has the same length.
const minSecret = 32

// New returns a server. If o is nil, the zero Options apply. New starts no goroutines.
func New(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	if o.Secret != nil && len(o.Secret) < minSecret {
		panic(fmt.Sprintf("mcpserver: Options.Secret has %d bytes; it needs %d, or is nil", len(o.Secret), minSecret))
	}
	s := &Server{
		options: *o, log: o.Log, signer: slices.Clone(o.Secret), recent: newRecentSet(time.Now()),
		writeTime: writeTime, acks: group{limit: maxAcks},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.waiting = waiting.New(o.Waiting, s.log)
	if s.signer == nil {
		s.signer = []byte(rand.Text() + rand.Text())
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.ackCtx, s.stopAcks = context.WithCancel(context.Background())
	s.tools = map[string]toolFunc{}
	s.protocol = s.newProtocol()
	s.identity, _ = json.Marshal(s.implementation()) // strings can be marshalled
	return s
}

// Stop ends all waits. Each wait returns a pending result. Later requests are rejected.
func (s *Server) Stop() { s.stop() }

// finishTime bounds Finish. A process has 20 s to stop, of which the HTTP server takes up
// to 10 s to end its requests before Finish is called.
const finishTime = 5 * time.Second

// Finish waits until the remaining requests have ended and their outcomes are acknowledged,
// but at most a few seconds. Call it after Stop, when no more requests arrive, and before
// the clients of agents are closed. The server cannot be used again.
func (s *Server) Finish() {
	defer s.stopAcks()
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
