package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/asktool"
	"github.com/askback/askback/internal/wire/jcs"
)

// MetaKey is the field of a call's _meta for an idempotency key. Calls of one agent with the
// same key share one ask, in any session, as long as the ask is stored. A different request
// with that key is rejected.
const MetaKey = "askback/idempotency-key"

const (
	// maxSkips bounds how many approvals one call skips because they can no longer be
	// consumed.
	maxSkips = 1000
	// maxSearches is the maximum number of searches of one call. A second search is needed only if other
	// calls add asks during the first search.
	maxSearches = 20
)

// A key identifies the asks of a call.
type key struct {
	base         string
	explicit     bool   // the client sent an idempotency key
	question     string // identifies a question for a client that was restarted; see [call.questionKey]
	recentPrefix string // prefix of the keys in recent
}

// recentKey returns the key of an ask in the set of recent deliveries.
func (k key) recentKey(id string) string { return k.recentPrefix + id }

// readOnly reports whether k is the key of a call that only reads an ask. Such a call cannot
// ask again.
func (k key) readOnly() bool { return k.base == "" }

// numbered returns the idempotency key of the n-th ask of this call.
func (k key) numbered(n int) string {
	return k.base + ":" + strconv.Itoa(n)
}

// key returns the key of a call: the idempotency key of the client or, without one, the result
// of keyOf.
func (c *call) key(tool string, input []byte) key {
	if explicit, _ := c.req.Params.Meta[MetaKey].(string); explicit != "" {
		return key{base: "mcp:own:" + digest(explicit), explicit: true}
	}
	k := c.keyOf(tool, input)
	if tool == asktool.AskUserQuestion {
		k.question = c.questionKey(input)
	}
	return k
}

// keyOf returns the key for a tool and its input in the session of the client. Inputs with the
// same canonical JSON have the same key.
func (c *call) keyOf(tool string, input []byte) key {
	canonical, err := jcs.Canonical(input)
	if err != nil {
		canonical = input // no canonical form: equal bytes are the same call
	}
	return key{base: "mcp:" + digest(tool, c.caller.session, string(canonical))}
}

// digest returns a digest of several strings. It includes their lengths, so that "ab", "c" and "a", "bc" have
// different digests.
func digest(parts ...string) string {
	var b []byte
	for _, part := range parts {
		b = strconv.AppendInt(b, int64(len(part)), 10)
		b = append(append(b, ':'), part...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// traceKey is the member of _meta with the position in a trace (W3C Trace Context). An invalid position is
// ignored.
const traceKey = "traceparent"

// attach returns the ask of a call: a pending ask, a settled ask whose outcome the agent does not have yet,
// or else a new ask. A call makes its next ask only after the earlier asks are done, so attach looks only at
// the last ask. With an idempotency key of the client, it returns the only ask with that key.
func (c *call) attach(ctx context.Context, k key, r askback.Request) (askback.Ask, error) {
	if trace, _ := c.req.Params.Meta[traceKey].(string); askback.ValidTraceParent(trace) {
		r.TraceParent = trace
	}
	if k.explicit {
		r.Key = k.base
		ask, err := c.caller.client.Ask(ctx, r)
		return c.withPageURL(ask), err
	}
	if ask, err := c.resumed(ctx, k, r); err != nil || ask.ID != "" {
		return c.withPageURL(ask), err
	}
	base := c.counterKey(k)
	first := c.recent.get(base)
	n := first
	for range maxSearches {
		r.Key = k.numbered(n)
		ask, err := c.caller.client.Ask(ctx, r)
		switch {
		case errors.Is(err, askback.ErrKeyReused): // another release read the same input differently
		case err != nil:
			return askback.Ask{}, err
		case c.isTaken(k, ask): // by a client that was restarted, when this client seemed to have ended
		case !ask.Settled() || !c.delivered(k, ask):
			if n > first {
				c.recent.put(base, n)
			}
			c.startWaiting(k, ask.ID, r.Key)
			return c.withPageURL(ask), nil
		}
		last, err := c.last(ctx, k, n)
		if err != nil {
			return askback.Ask{}, err
		}
		n = max(last, n+1)
	}
	return askback.Ask{}, askback.ErrBusy
}

// counterKey returns the key in the set of recent deliveries for the number of the last
// known ask of a call. It includes the agent, because keys of two agents must not collide.
func (c *call) counterKey(k key) string { return "round:" + digest(c.caller.name, k.base) }

// skip makes the next attach ignore an approval that can no longer be consumed, and start at
// the last ask of the call.
func (c *call) skip(ctx context.Context, k key, ask askback.Ask) error {
	c.recent.add(k.recentKey(ask.ID))
	n, err := c.last(ctx, k, c.recent.get(c.counterKey(k)))
	if err == nil {
		c.recent.put(c.counterKey(k), n)
	}
	return err
}

// last returns the number of the last ask of a call. The n-th ask must exist. The number of
// reads is logarithmic, so that a call which is often repeated stays fast.
func (c *call) last(ctx context.Context, k key, n int) (int, error) {
	grow := true
	for step := 1; step > 0; {
		exists, err := c.exists(ctx, k, n+step)
		if err != nil {
			return 0, err
		}
		if exists {
			n += step
		}
		if grow = grow && exists; grow {
			step *= 2
		} else {
			step /= 2 // the ask with the number n+step does not exist
		}
	}
	return n, nil
}

// exists reports whether a call has an n-th ask.
func (c *call) exists(ctx context.Context, k key, n int) (bool, error) {
	page, err := c.caller.client.List(ctx, askback.Query{Key: k.numbered(n)})
	return len(page.Items) > 0, err
}

const (
	// sessionlessAge is how long an outcome is kept for the same call if the protocol has
	// no sessions. After that, the same question is asked again.
	sessionlessAge = 24 * time.Hour
	// promptAge is the maximum age of a decision for a prompt, if this process does not
	// know whether the decision was delivered. Claude Code tries again within minutes.
	promptAge = time.Hour
)

// delivered reports whether the outcome of a settled ask was delivered to the agent. An
// outcome counts as delivered if the agent withdrew the ask, or if the outcome is too old.
func (c *call) delivered(k key, ask askback.Ask) bool {
	at := ask.Outcome.At
	switch {
	case ask.Withdrawn(), c.recent.has(k.recentKey(ask.ID)):
		return true
	case k.recentPrefix != "": // an ack does not distinguish a prompt from the other tools
		return !c.recent.covers(at) && time.Since(at) > promptAge
	}
	return !ask.AckedAt.IsZero() || c.caller.session == "" && time.Since(at) > sessionlessAge
}
