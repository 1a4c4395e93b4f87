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
	// nearRounds is how many asks of the same call are read one by one before the
	// last is searched for: most calls are repeated a few times at most.
	nearRounds = 8
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

// attach writes the ask of a call, or finds it: open, or settled and not given
// to the agent yet. Each ask of a call is made only when those before it are done
// with, so of many it is the last that counts, or the next.
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
		for range nearRounds {
			r.Key = k.round(n)
			ask, err := c.who.seat.Ask(ctx, r)
			switch {
			case errors.Is(err, askback.ErrKeyReused): // another release read the same call otherwise
			case err != nil:
				return askback.Ask{}, err
			case !ask.Settled() || !c.given(k, ask):
				if n > first {
					c.memory.put(base, n)
				}
				return c.linked(ask), nil
			}
			n++
		}
		last, err := c.last(ctx, k, r, n-1)
		if err != nil {
			return askback.Ask{}, err
		}
		n = last
	}
	return askback.Ask{}, askback.ErrBusy
}

// rounds is the mark of how many asks of a call are done with. It is this agent's:
// keys of two agents never meet, in here neither.
func (c *call) rounds(k key) string { return "round:" + digest(c.who.name, k.base) }

// passOver has the next attach go on behind an ask that is used up, and behind all
// that were made before the last one.
func (c *call) passOver(ctx context.Context, k key, r askback.Request, ask askback.Ask) error {
	c.memory.tell(k.mark(ask.ID))
	n, err := c.last(ctx, k, r, c.memory.get(c.rounds(k)))
	if err == nil {
		c.memory.put(c.rounds(k), n)
	}
	return err
}

// last finds the last ask of a call, from the n-th on, which is there. It reads
// twice the logarithm of their number, where reading one by one would make a call
// slower each time it is repeated, and in the end impossible.
func (c *call) last(ctx context.Context, k key, r askback.Request, n int) (int, error) {
	step := 1
	for {
		there, err := c.there(ctx, k, r, n+step)
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		n, step = n+step, 2*step
	}
	for none := n + step; none-n > 1; {
		middle := n + (none-n)/2
		there, err := c.there(ctx, k, r, middle)
		switch {
		case err != nil:
			return 0, err
		case there:
			n = middle
		default:
			none = middle
		}
	}
	return n, nil
}

// there says whether there is an n-th ask of a call, and makes none: a request
// whose deadline is past can only be a repeat.
func (c *call) there(ctx context.Context, k key, r askback.Request, n int) (bool, error) {
	r.Key, r.Timeout, r.Deadline, r.OnTimeout = k.round(n), 0, time.Unix(0, 0).UTC(), ""
	_, err := c.who.seat.Ask(ctx, r)
	if bad, ok := errors.AsType[askback.Invalid](err); ok && len(bad) == 1 && bad[0].Pointer == "/deadline" {
		return false, nil
	}
	if errors.Is(err, askback.ErrKeyReused) { // for the deadline is part of what is asked
		err = nil
	}
	return err == nil, err
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
