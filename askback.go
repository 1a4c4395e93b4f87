// Package askback lets agents ask people questions and wait for the answers, however long that takes.
//
// It defines the types, the rules that make them valid, and the interface [Client]. It has no storage, no
// clock and no network. Package engine returns a Client for each principal; the client of a server implements
// the same interface.
//
// An [Asker] turns a [Request] into an [Ask]. The ask is [Pending] until exactly one [Outcome] ends it: it is
// answered, declined, cancelled or expired. The first answer wins. A later answer is rejected, with the
// outcome that was recorded.
package askback

import (
	"context"
	"encoding/json"
	"time"

	"github.com/askback/askback/internal/limits"
)

// An Asker is the interface of an agent. Every method is safe to repeat, but Ask only if the request has a
// key.
//
// Every method may return [ErrNotFound], [ErrForbidden], an [Invalid] or an error of the context. It may also
// return an error of the server or its database, such as [ErrBusy] or [ErrDiskFull]. The comments of the
// methods list further errors.
type Asker interface {
	// Ask stores an ask made from the request, and returns it. If an earlier request had the same key and
	// content, Ask returns the earlier ask in its present state, with Repeated set. If only the key is the
	// same, the error is [ErrKeyReused]. If the session is over for good, the error is [ErrEnded]. If a limit
	// is exceeded, the error is [ErrTooMany] or [ErrTooFast].
	Ask(ctx context.Context, r Request) (Ask, error)
	// Wait returns the ask once it is settled. If ctx ends first, Wait returns
	// the ask as last read, with the cause of ctx. If too many calls of Wait
	// with the same token are running, the error is [ErrTooMany].
	Wait(ctx context.Context, id string) (Ask, error)
	// Cancel withdraws a pending ask. An ask that is already cancelled is
	// returned unchanged. If the ask is settled otherwise, Cancel returns it
	// with [ErrSettled].
	Cancel(ctx context.Context, id, reason string) (Ask, error)
	// Consume spends an approval, once, for the arguments with this digest. The error is [ErrConsumed] if the
	// approval is already spent, [ErrDigest] if the digest differs, and [ErrNotApproved] if there is no
	// approval.
	Consume(ctx context.Context, id, digest string) (Ask, error)
	// Ack records that the agent has received the outcome. Until then,
	// [Query.Unacked] selects the ask, even after a restart. A second call
	// changes nothing. If the ask is pending, the error is [ErrPending].
	Ack(ctx context.Context, id string) (Ask, error)
}

// Asks is the interface to the asks that a principal may read. Its methods may return the
// errors that every method of [Asker] may return.
type Asks interface {
	// Get returns the ask with this id.
	Get(ctx context.Context, id string) (Ask, error)
	// List returns a page of the asks that this principal may read.
	List(ctx context.Context, q Query) (Page, error)
	// Wait returns the ask once it is settled, like [Asker.Wait].
	Wait(ctx context.Context, id string) (Ask, error)
}

// An Inbox is the interface of a person to asks.
//
// Every method may return the errors that every method of [Asker] may return. If the
// ask is settled, Answer, Decline, Claim and Reassign return it with [ErrSettled].
type Inbox interface {
	Asks
	// Answer settles a pending ask. If the same person repeats the same answer, Answer returns the ask
	// without an error. The history records other answers to a settled ask, up to a limit.
	Answer(ctx context.Context, id string, a Answer) (Ask, error)
	// Decline settles a pending ask without an answer. It can be repeated like
	// Answer.
	Decline(ctx context.Context, id, reason string) (Ask, error)
	// Claim records that this person has begun to answer the ask. It may
	// postpone the deadline by five minutes. Other people can still answer.
	Claim(ctx context.Context, id string) (Ask, error)
	// Seen records that the ask is on a screen of this person. It sets [Delivery.SeenAt] of messages about
	// the ask. If the channel of the principal carries messages, these are the person's messages through the
	// channel. If there are no such messages, these are the messages to several people there. If the channel
	// carries no messages, these are all messages to the person. A repeated call has no effect, nor has a
	// call for a settled ask.
	Seen(ctx context.Context, id string) error
	// Reassign gives a pending ask to other people. If r.Delegate is set, these people replace only this
	// person. An operator may reassign an ask without being able to read it. If the principal cannot read the
	// ask after the call, the result has its recipients and its status, but not its content. The error is an
	// [Invalid] if none of the people is known.
	Reassign(ctx context.Context, id string, r Reassignment) (Ask, error)
}

// Drafts is the interface to unsent answers. A draft is available until its ask is
// settled, for at most 30 days after its last change. Each person reads only their own
// drafts.
type Drafts interface {
	// Draft returns the stored draft. It returns nil if no draft is stored, or
	// if the ask is settled.
	Draft(ctx context.Context, id string) (json.RawMessage, error)
	// SaveDraft replaces the stored draft by a JSON object of at most
	// 256 KiB. If the ask is settled, the error is [ErrSettled].
	SaveDraft(ctx context.Context, id string, draft json.RawMessage) error
}

// A Client has the methods of every kind of principal. The engine and the client of a server
// implement it. A method returns [ErrForbidden] if its principal may never call it. Functions
// should take only the interfaces that they use.
type Client interface {
	AgentClient
	PersonClient
	DirectoryControl // for operators and admins
	Tokens           // for admins
}

// An AgentClient has the methods that an agent may call.
type AgentClient interface {
	Asker
	Asks
	Sessions
	Events
	Deliveries
	Endpoints
	EndpointControl
}

// A PersonClient has the methods that a person may call.
type PersonClient interface {
	Inbox
	Drafts
	Snoozer
	Holder
	Grants
	Sessions
	Events
	Contacts
	Directory
}

// A Query selects asks. The zero value selects the pending asks.
type Query struct {
	Status Status // "" is [Pending], [AnyStatus] is every status, [SettledStatus] every status but [Pending]
	// Unacked selects the asks for which [Ask.Unacked] reports true,
	// newest first. They may have any status if Status is "".
	Unacked   bool
	Agent     string // the agent's label
	SessionID string
	To        string // addressed to this name, or to every person
	// Search selects the asks that contain each of its words, ignoring case. If Status selects only settled
	// asks, the outcome and the names are searched, too. docs/api.md has the rules for words.
	Search string
	Tool   string // the tool of a confirmation
	Tag    string // a tag of the ask
	By     string // the name of the person who settled the ask
	// Decision selects confirmations with this decision. [Approve] includes [ApproveAll].
	Decision Decision
	// Since and Until select the asks that were created at or after Since, and before Until. If Status
	// selects only settled asks and Unacked is not set, they compare the time of the outcome instead. A zero
	// time does not limit.
	Since, Until time.Time
	// Key selects the ask that this principal made with this [Request.Key], whatever its status. It cannot be
	// combined with other filters.
	Key string
	// Snoozed selects by the snoozes of the caller: true selects the pending asks that are hidden now, false
	// all other asks. Nil selects all asks.
	Snoozed *bool
	Cursor  string // NextCursor of the previous page
	Limit   int    // 1 to 200; 0 is 50
}

// The default and the maximum of [Query.Limit], and of the limits of other lists.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Check returns an [Invalid] if the query is not valid. It does not check the cursor.
func (q Query) Check() error {
	var bad problems
	switch q.Status {
	case "", AnyStatus, SettledStatus, Pending, Answered, Declined, Cancelled, Expired:
	default:
		bad.add("/status", "must be pending, answered, declined, cancelled, expired, settled or all",
			"status=pending")
	}
	switch q.Decision {
	case "", Approve, ApproveAll, Deny:
	default:
		bad.add("/decision", "must be approved, approve_all or denied", "decision=approved")
	}
	if q.Unacked && q.Status == Pending {
		bad.add("/unacked", "a pending ask has no outcome to acknowledge", "status=all&unacked=true")
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		bad.add("/until", "must not be before since", "swap since and until")
	}
	checkText(&bad, "/q", q.Search, limits.MaxSearch)
	checkName(&bad, "/key", q.Key, limits.MaxKey)
	if q.Key != "" && q != (Query{Key: q.Key, Limit: q.Limit}) {
		bad.add("/key", "key cannot be combined with other filters", "key=deploy-17")
	}
	if q.Snoozed != nil && *q.Snoozed && (q.Unacked || q.Status != "" && q.Status != Pending) {
		bad.add("/snoozed", "only a pending ask can be snoozed", "status=pending&snoozed=true")
	}
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// A Page is a part of a list of asks. Pending asks are sorted by creation, oldest first. Settled asks are
// sorted by the time of the outcome, latest first. Any other list is sorted by creation, newest first.
type Page struct {
	Items      []Ask  `api:"items"`            // the entries of this page
	NextCursor string `api:"next_cursor,null"` // "" after the last page
	// EventsCursor is the end of the event stream when the page was read. Pass it to [Events.Events] to get
	// every later change and keep the list up to date. It is "" for agents, which cannot follow all sessions.
	EventsCursor Cursor `api:"events_cursor,omitempty"`
	// Snoozes has the caller's snoozes of the asks on this page. If the time of a snooze has passed, its ask
	// is listed again. Agents have no snoozes.
	Snoozes []Snooze `api:"snoozes,omitempty"`
}
