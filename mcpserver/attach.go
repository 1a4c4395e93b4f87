package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/canon"
)

// MetaKey is the field of a call's _meta that may hold an idempotency key: the
// same key of the same token is the same ask, in any session, as long as it is
// kept.
const MetaKey = "askback/idempotency-key"

// maxRounds bounds how many asks of the same call are passed over: an agent that
// repeats itself that often does so in a loop.
const maxRounds = 1000

// A key finds the ask of a call again.
type key struct {
	base  string
	own   bool   // given by the client
	marks string // before the marks of what was given for this key
}

// mark is what the memory knows an ask by.
func (k key) mark(id string) string { return k.marks + id }

// round is the key of the n-th ask of this call.
func (k key) round(n int) string {
	if k.own {
		return k.base
	}
	return k.base + ":" + strconv.Itoa(n)
}

// key makes the key of a call. Arguments that mean the same are the same.
func (c *call) key(tool string, input []byte) key {
	if own, _ := c.req.Params.Meta[MetaKey].(string); own != "" {
		return key{base: "mcp:own:" + digest(own), own: true}
	}
	return c.keyOf(tool, input)
}

// keyOf makes the key of a call from what it says.
func (c *call) keyOf(tool string, input []byte) key {
	canonical, err := canon.Canonical(input)
	if err != nil {
		canonical = input // it has no one form, but these are still the same bytes
	}
	return key{base: "mcp:" + digest(tool, c.who.session, string(canonical))}
}

// digest is one of several texts, none of which can run into the next.
func digest(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// attach writes the ask of a call, or finds it: open, or settled and not given
// to the agent yet.
func (c *call) attach(ctx context.Context, k key, r askback.Request) (askback.Ask, error) {
	// Of this agent: keys of two agents never meet, in here neither.
	base := "round:" + digest(c.who.name, k.base)
	first := c.memory.get(base)
	for n := first; n < first+maxRounds; n++ {
		r.Key = k.round(n)
		ask, err := c.who.seat.Ask(ctx, r)
		switch {
		case errors.Is(err, askback.ErrKeyReused) && !k.own: // another release read the same call otherwise
		case err != nil:
			return askback.Ask{}, err
		case k.own:
			return c.linked(ask), nil
		case !ask.Settled() || !c.given(k, ask):
			if n > first {
				c.memory.put(base, n)
			}
			return c.linked(ask), nil
		}
	}
	return askback.Ask{}, askback.ErrTooFast
}

const (
	// keptTime is how long an answer waits for the same words where nothing tells
	// one run of an agent from the next: tomorrow they are another question.
	keptTime = 24 * time.Hour
	// promptTime is how old a decision may be that this process does not remember
	// giving to a prompt. Claude Code tries again within minutes.
	promptTime = time.Hour
)

// given says whether the agent was given the result of a settled ask, or made it.
func (c *call) given(k key, ask askback.Ask) bool {
	at := ask.Outcome.At
	switch {
	case withdrawn(ask), c.memory.told(k.mark(ask.ID)):
		return true
	case k.marks != "": // a receipt does not tell a prompt from the other tools
		return !c.memory.knows(at) && time.Since(at) > promptTime
	}
	return !ask.ReceivedAt.IsZero() || c.who.session == "" && time.Since(at) > keptTime
}
