package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/wire/jcs"
)

// labelAge is how long the outcome of a question is kept for a client that was restarted, if only the label
// of the client identifies it.
const labelAge = 24 * time.Hour

// threadKey is the member of _meta with the id of the conversation in Codex.
const threadKey = "threadId"

// questionKey identifies a question for the clients that may wait for its answer one after the other: the
// same question in the same conversation or, if the client sends no id of its conversation, from the same
// program in the same folder. It returns "" if the revision has no sessions. The same call then finds its ask
// anyway.
func (c *call) questionKey(input []byte) string {
	if c.caller.session == "" {
		return ""
	}
	canonical, err := jcs.Canonical(input)
	if err != nil {
		canonical = input
	}
	transport := "http"
	if c.caller.stdio {
		transport = "stdio"
	}
	conversation, place := c.conversation(), ""
	if conversation == "" {
		place = c.options.Directory
	}
	return digest("question", transport, c.caller.name, c.label(key{}), conversation, place, string(canonical))
}

// conversation returns the id of the conversation that the client sends, or "".
func (c *call) conversation() string {
	if thread, _ := c.req.Params.Meta[threadKey].(string); thread != "" {
		return thread
	}
	if c.caller.stdio {
		return c.options.Conversation
	}
	return ""
}

// resumed returns the ask of a question for whose answer this client waits, or for whose answer a client
// waited that has ended. It returns the zero Ask if there is no such ask, or if its outcome was delivered. An
// ask is never shared: it belongs to one client at a time.
func (c *call) resumed(ctx context.Context, k key, r askback.Request) (askback.Ask, error) {
	if k.question == "" {
		return askback.Ask{}, nil
	}
	for range maxSearches {
		id, of := c.waiting.Of(k.question, c.caller.id())
		took := id == ""
		if took {
			id, of = c.waiting.Take(k.question, c.caller.id(), c.caller.started)
		}
		if id == "" {
			break
		}
		ask, err := c.caller.client.Get(ctx, id)
		if err != nil && !errors.Is(err, askback.ErrNotFound) {
			return askback.Ask{}, err
		}
		if err != nil || ask.Kind != askback.Questions || ask.Settled() && (c.delivered(k, ask) || c.isStale(ask)) {
			c.waiting.Remove(id)
			continue
		}
		r.Key = of
		if took && !ask.Settled() {
			c.noteRepeat(ctx, r)
		}
		c.startWaiting(k, id, of)
		return ask, nil
	}
	return askback.Ask{}, nil
}

// isStale reports whether the outcome of an ask is too old for a client that only its label identifies.
func (c *call) isStale(ask askback.Ask) bool {
	return c.conversation() == "" && time.Since(ask.Outcome.At) > labelAge
}

// noteRepeat records that a request repeats the request with its key, so that people see that the question is
// a repeat.
func (c *call) noteRepeat(ctx context.Context, r askback.Request) {
	r.Restarted = true
	if _, err := c.caller.client.Ask(ctx, r); err != nil {
		c.log.Warn("people do not see that a question is a repeat", "error", err)
	}
}

// isTaken reports whether another client waits for the answer to the ask of a question.
func (c *call) isTaken(k key, ask askback.Ask) bool {
	return k.question != "" && c.waiting.IsTaken(ask.ID, c.caller.id())
}

// startWaiting records that the client of a question waits for its ask, which has the idempotency key of.
func (c *call) startWaiting(k key, ask, of string) {
	if k.question == "" {
		return
	}
	c.waiting.Wait(k.question, ask, of, c.caller.id())
	c.caller.waits(ask)
}

// resumeWaiting records that the client waits for an ask of an earlier call again.
func (c *call) resumeWaiting(ask string) {
	if c.caller.session == "" {
		return
	}
	c.waiting.Resume(ask, c.caller.id())
	c.caller.waits(ask)
}

// id returns the id of the client in the records of who waits. It has a fixed length, because over HTTP a client can
// send any session id, and it includes the agent, so that no other agent ends the client.
func (c *caller) id() string { return digest("client", c.name, c.session) }

// waits records the ask for which a request waits.
func (c *caller) waits(ask string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waitsFor = ask
}

// leave records that the client was gone before the reply.
func (c *caller) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// lost reports whether the client was gone before the reply.
func (c *caller) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// stopWaiting records after a request over HTTP whether its client lives. A client that cancelled the request
// lives, and so does a client that got the reply. A client on stdio lives as long as this process.
func (s *Server) stopWaiting(c *caller, disconnected bool) {
	c.mu.Lock()
	ask, cancelled := c.waitsFor, c.cancelled
	c.mu.Unlock()
	switch {
	case ask == "" || c.stdio:
	case disconnected && !cancelled:
		s.waiting.End(ask, c.id())
	default:
		s.waiting.Idle(ask, c.id())
	}
}

// seeSession records that the client of a request over HTTP lives, or has ended its session.
func (s *Server) seeSession(c *caller, method string) {
	switch {
	case c.session == "":
	case method == http.MethodDelete:
		s.waiting.EndClient(c.id())
	default:
		s.waiting.Alive(c.id())
	}
}
