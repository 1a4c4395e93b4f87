// Package askback is the place where agents ask people, and get an answer,
// however long it takes.
//
// It holds the words, the rules that make them valid, and the small interfaces
// that every way in and out of Askback shares: no storage, no clock, no network.
// An engine (package engine) gives each principal a seat that implements them;
// the client of a server implements the same ones.
//
// An [Asker] puts a [Request] and gets an [Ask]. It is [Pending] until exactly
// one [Outcome] ends it: answered, declined, cancelled or expired. The first
// answer wins; who comes later learns who won and with what.
package askback

import (
	"context"
	"encoding/json"
)

// An Asker is the agent's side. Every method is safe to repeat.
//
// The errors are those of [ErrNotFound], [ErrForbidden], [ErrBusy], [ErrFull],
// [ErrStopping], [Invalid], the context's, and what each method adds.
type Asker interface {
	// Ask records a request and returns the ask; when it returns, the ask
	// survives a crash. A request with the key of an earlier one and the same
	// content returns the earlier ask, Repeated, as it stands now; with other
	// content [ErrKeyReused].
	Ask(ctx context.Context, r Request) (Ask, error)
	// Wait returns the ask once it is settled. When ctx ends first it returns
	// the ask as it was last seen, with the cause of ctx.
	Wait(ctx context.Context, id string) (Ask, error)
	// Cancel withdraws a pending ask. Withdrawn before, it is returned as it
	// is; settled otherwise, it comes with [ErrSettled].
	Cancel(ctx context.Context, id, reason string) (Ask, error)
	// Consume spends an approval, once, for the arguments that have this
	// digest. [ErrConsumed] afterwards; [ErrDigest] for another digest;
	// [ErrNotApproved] when nobody approved.
	Consume(ctx context.Context, id, digest string) (Ask, error)
	// Receive is the receipt for an outcome: the agent has it. Until then an
	// answer is kept for it, however late it comes and whatever was restarted.
	// A second receipt changes nothing; before the outcome, [ErrPending].
	Receive(ctx context.Context, id string) (Ask, error)
}

// An Inbox is the person's side. The errors are those of [Asker], and
// [ErrSettled], which comes together with the ask and its outcome.
type Inbox interface {
	// Get returns an ask.
	Get(ctx context.Context, id string) (Ask, error)
	// List returns the asks this principal may see.
	List(ctx context.Context, q Query) (Page, error)
	// Answer settles a pending ask. The same person repeating the same answer
	// is given the ask again; anyone else gets [ErrSettled], and the attempt
	// is kept in the history.
	Answer(ctx context.Context, id string, a Answer) (Ask, error)
	// Decline settles a pending ask: this person will not answer.
	Decline(ctx context.Context, id, reason string) (Ask, error)
	// Claim says that this person is looking at the ask. It holds the
	// deadline for a while (see [ClaimHold]) and keeps nobody else out.
	Claim(ctx context.Context, id string) (Ask, error)
}

// Drafts keep what a person typed so far, each for that person alone, until the
// ask is settled.
type Drafts interface {
	// Draft returns what was kept, or nil.
	Draft(ctx context.Context, id string) (json.RawMessage, error)
	// SaveDraft keeps a JSON object of at most [MaxDraft] bytes in place of
	// what was kept before. [ErrSettled] when it is too late.
	SaveDraft(ctx context.Context, id string, draft json.RawMessage) error
}

// A Seat is all that one principal can do.
type Seat interface {
	Asker
	Inbox
	Drafts
	Desk
	Sessions
	Feed
	Keyring
}

// A Query selects asks. The zero value selects what is pending.
type Query struct {
	Status Status // "" is [Pending], [AnyStatus] is all of them
	// Undelivered selects only what is settled and its agent does not have yet
	// (see [Ask.Undelivered]), of any status unless one is named; newest first.
	Undelivered bool
	Agent       string // the agent's label
	SessionID   string
	To          string // addressed to this name, or to everybody
	Search      string // only those whose title, questions, tool or label contain this, in any case
	Cursor      string // NextCursor of the page before
	Limit       int    // 1 to 200; 0 is 50
}

// The bounds of [Query.Limit].
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Check says whether a query can be answered; the error is [Invalid].
func (q Query) Check() error {
	var bad problems
	switch q.Status {
	case "", AnyStatus, Pending, Answered, Declined, Cancelled, Expired:
	default:
		bad.add("/status", "a status is pending, answered, declined, cancelled, expired or all", "status=pending")
	}
	if q.Undelivered && q.Status == Pending {
		bad.add("/undelivered", "what is pending has nothing to deliver", "status=all&undelivered=true")
	}
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// A Page is a part of a list: pending asks oldest first, else newest first.
type Page struct {
	Items      []Ask
	NextCursor string // "" after the last page
}
