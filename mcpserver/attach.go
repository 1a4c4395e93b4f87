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
	"github.com/askback/askback/internal/jcs"
)

// MetaKey is the field of a call's _meta that may hold an idempotency key: the
// same key of the same token is the same ask, in any session, as long as it is
// kept.
const MetaKey = "askback/idempotency-key"

const (
	// maxRounds bounds how many approvals one call passes over because others were
	// given them while it waited.
	maxRounds = 1000
	// maxSearches bounds the searches of one call. A second one is needed only when
	// others ask the same, and are answered, as fast as this one reads.
	maxSearches = 20
)

// A key finds the ask of a call again.
type key struct {
	base  string
	own   bool   // given by the client
	marks string // before the marks of what was given for this key
}

// mark is what the memory knows an ask by.
func (k key) mark(id string) string { return k.marks + id }

// looks says that a call asks nothing itself: there is no key to ask again under.
func (k key) looks() bool { return k.base == "" }

// round is the key of the n-th ask of this call.
func (k key) round(n int) string {
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
	canonical, err := jcs.Canonical(input)
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

// attach records the ask of a call, or finds it: a pending one, or a settled one whose
// outcome the agent does not have yet. Each ask of a call is made only after those
// before it are done, so only the last of them counts, or the next.
func (c *call) attach(ctx context.Context, k key, r askback.Request) (askback.Ask, error) {
	if k.own {
		r.Key = k.base
		ask, err := c.who.seat.Ask(ctx, r)
		return c.linked(ask), err
	}
	base := c.rounds(k)
	first := c.memory.get(base)
	n := first
	for range maxSearches {
		r.Key = k.round(n)
		ask, err := c.who.seat.Ask(ctx, r)
		switch {
		case errors.Is(err, askback.ErrKeyReused): // another release read the same input differently
		case err != nil:
			return askback.Ask{}, err
		case !ask.Settled() || !c.given(k, ask):
			if n > first {
				c.memory.put(base, n)
			}
			return c.linked(ask), nil
		}
		last, err := c.last(ctx, k, n)
		if err != nil {
			return askback.Ask{}, err
		}
		n = max(last, n+1)
	}
	return askback.Ask{}, askback.ErrBusy
}

// rounds is the mark of how many asks of a call are done with. It is this agent's:
// keys of two agents never meet, in here neither.
func (c *call) rounds(k key) string { return "round:" + digest(c.who.name, k.base) }

// passOver has the next attach go on behind an ask that is used up, and behind all
// that were made before the last one.
func (c *call) passOver(ctx context.Context, k key, ask askback.Ask) error {
	c.memory.tell(k.mark(ask.ID))
	n, err := c.last(ctx, k, c.memory.get(c.rounds(k)))
	if err == nil {
		c.memory.put(c.rounds(k), n)
	}
	return err
}

// last returns the number of the last ask of a call, given one that exists. It reads
// twice the logarithm of their number: with one read for each, a call would become
// slower each time it is repeated.
func (c *call) last(ctx context.Context, k key, n int) (int, error) {
	step := 1
	for {
		exists, err := c.exists(ctx, k, n+step)
		if err != nil {
			return 0, err
		}
		if !exists {
			break
		}
		n, step = n+step, 2*step
	}
	for absent := n + step; absent-n > 1; {
		middle := n + (absent-n)/2
		exists, err := c.exists(ctx, k, middle)
		switch {
		case err != nil:
			return 0, err
		case exists:
			n = middle
		default:
			absent = middle
		}
	}
	return n, nil
}

// exists reports whether a call has an n-th ask.
func (c *call) exists(ctx context.Context, k key, n int) (bool, error) {
	page, err := c.who.seat.List(ctx, askback.Query{Key: k.round(n)})
	return len(page.Items) > 0, err
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
	case ask.Withdrawn(), c.memory.told(k.mark(ask.ID)):
		return true
	case k.marks != "": // a receipt does not tell a prompt from the other tools
		return !c.memory.knows(at) && time.Since(at) > promptTime
	}
	return !ask.AckedAt.IsZero() || c.who.session == "" && time.Since(at) > keptTime
}
