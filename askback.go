// Package askback lets agents ask people questions and wait for the answers,
// however long that takes.
//
// It defines the types, the rules that make them valid, and the interfaces that
// every frontend and client implements. It has no storage, no clock and no
// network. Package engine returns a [Client] for each principal; the client of a
// server implements the same interface.
//
// An [Asker] turns a [Request] into an [Ask]. The ask is [Pending] until exactly
// one [Outcome] ends it: it is answered, declined, cancelled or expired. The
// first answer wins. A later one is rejected with the outcome that was recorded.
package askback

import (
	"context"
	"encoding/json"
)

// An Asker is the interface of an agent. Every method is safe to repeat.
//
// Every method may return [ErrNotFound], [ErrForbidden], [ErrBusy], [ErrFull],
// [ErrStopping], an [Invalid] or an error of the context. Each method lists what
// else it returns.
type Asker interface {
	// Ask records a request and returns the ask, which then survives a crash.
	// A request with the key and the content of an earlier one returns the
	// earlier ask in its present state, with Repeated set. If only the key is
	// the same, the error is [ErrKeyReused].
	Ask(ctx context.Context, r Request) (Ask, error)
	// Wait returns the ask once it is settled. If ctx ends first, Wait returns
	// the ask as last read, with the cause of ctx.
	Wait(ctx context.Context, id string) (Ask, error)
	// Cancel withdraws a pending ask. An ask that is already withdrawn is
	// returned unchanged. If the ask is settled otherwise, Cancel returns it
	// with [ErrSettled].
	Cancel(ctx context.Context, id, reason string) (Ask, error)
	// Consume spends an approval, once, for the arguments with this digest.
	// The error is [ErrConsumed] if it is already spent, [ErrDigest] if the
	// digest differs, and [ErrNotApproved] if there is no approval.
	Consume(ctx context.Context, id, digest string) (Ask, error)
	// Ack records that the agent has received the outcome. Until then the ask
	// is listed as unacked, even after a restart. A second call changes
	// nothing. Before the outcome, the error is [ErrPending].
	Ack(ctx context.Context, id string) (Ask, error)
}

// An Inbox is the interface of a person. Its methods return the errors of
// [Asker], and [ErrSettled] together with the settled ask.
type Inbox interface {
	// Get returns an ask.
	Get(ctx context.Context, id string) (Ask, error)
	// List returns a page of the asks that this principal may read.
	List(ctx context.Context, q Query) (Page, error)
	// Answer settles a pending ask. If the same person repeats the same answer,
	// it returns the ask again. Any other answer to a settled ask is recorded
	// in the history, and the error is [ErrSettled].
	Answer(ctx context.Context, id string, a Answer) (Ask, error)
	// Decline settles a pending ask without an answer.
	Decline(ctx context.Context, id, reason string) (Ask, error)
	// Claim records that this person has begun to answer the ask. It postpones
	// the deadline (see [ClaimHold]). Other people can still answer.
	Claim(ctx context.Context, id string) (Ask, error)
}

// Drafts stores unsent answers until the ask is settled. Each person reads only
// their own.
type Drafts interface {
	// Draft returns the stored draft, or nil.
	Draft(ctx context.Context, id string) (json.RawMessage, error)
	// SaveDraft replaces the stored draft by a JSON object of at most
	// [MaxDraft] bytes. If the ask is settled, the error is [ErrSettled].
	SaveDraft(ctx context.Context, id string, draft json.RawMessage) error
}

// A Client is everything that one principal can do. The engine and the client of a
// server implement it. Functions should take only the interfaces that they use.
type Client interface {
	Asker
	Inbox
	Drafts
	Grants
	Directory
	Sessions
	Events
	Tokens
}

// A Query selects asks. The zero value selects the pending ones.
type Query struct {
	Status Status // "" is [Pending], [AnyStatus] is every status
	// Unacked selects the asks for which [Ask.Unacked] reports true,
	// newest first. They may have any status if Status is "".
	Unacked   bool
	Agent     string // the agent's label
	SessionID string
	To        string // addressed to this name, or to every person
	Search    string // part of the title, a question, the tool or the label; case is ignored
	// Key selects the ask that this principal made with this [Request.Key],
	// whatever its status. It cannot be combined with other filters.
	Key    string
	Cursor string // NextCursor of the previous page
	Limit  int    // 1 to 200; 0 is 50
}

// The bounds of [Query.Limit].
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Check returns an [Invalid] if the query cannot be executed.
func (q Query) Check() error {
	var bad problems
	switch q.Status {
	case "", AnyStatus, Pending, Answered, Declined, Cancelled, Expired:
	default:
		bad.add("/status", "a status is pending, answered, declined, cancelled, expired or all", "status=pending")
	}
	if q.Unacked && q.Status == Pending {
		bad.add("/unacked", "a pending ask has no outcome to acknowledge", "status=all&unacked=true")
	}
	checkName(&bad, "/key", q.Key, MaxKey)
	if q.Key != "" && q != (Query{Key: q.Key, Limit: q.Limit}) {
		bad.add("/key", "a list by key has no other filter", "key=deploy-17")
	}
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// A Page is a part of a list of asks: pending ones oldest first, others newest
// first.
type Page struct {
	Items      []Ask
	NextCursor string // "" after the last page
}
