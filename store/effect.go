package store

import (
	"context"
	"slices"
	"strings"
	"time"
)

// An Effect is work that was committed together with the change that requires the work, such as a message to
// send. A process claims an effect, performs it and commits the result with a [Completion]. After a crash the
// effect is performed again, so an effect is performed at least once.
//
// An effect belongs to one record. A new effect is committed with that record in Change.Put, and deleting the
// record deletes its effects. So no effect outlives its record.
type Effect struct {
	ID          string    // unique among all effects; sorts by time of creation
	Kind        string    // the type of work, such as "send"
	SubjectKind string    // kind of the record to which the effect belongs
	Subject     string    // id of that record
	Stream      string    // the session whose history records the result
	Due         time.Time // the time before which the effect is not claimed; zero means due when it is committed
	Created     time.Time
	Data        []byte // JSON

	// The store sets these fields. They are empty in a new effect.
	Attempts int    // how many times it was claimed
	Node     string // the process that has claimed it, or ""
	Error    string // why the last attempt failed
	Held     string // the key for which the effect is held; "" if a process may claim the effect
	Dead     bool   // the effect is a dead letter
}

// A Completion is the result of an attempt of an effect. It is committed with the records, events and effects
// that the attempt caused. It requires that the effect exists and is claimed by Node; otherwise the change is
// a conflict. So the late result of a process that lost its claim is not kept. If Node is "", the effect must
// not be claimed. Then the completion withdraws the effect or revives a dead letter.
//
// If none of Retry, Dead and Held is set, the effect is done and is deleted.
type Completion struct {
	ID    string
	Node  string
	Retry time.Time // if not zero, the effect is free again and due at this time
	Dead  bool      // the effect becomes a dead letter: kept, and claimed by no process
	Held  string    // if not "", the effect is free, but claimed by no process until a change releases this key
	Error string    // why the attempt failed; stored with Retry, Dead and Held
}

const (
	// HeartbeatInterval is the time between two heartbeats of a process.
	HeartbeatInterval = 5 * time.Second
	// HeartbeatTimeout is the time after its last heartbeat at which a process loses its claims. A process
	// may miss two heartbeats before it loses them.
	HeartbeatTimeout = 3 * HeartbeatInterval
)

// A Queue returns committed work that is due. A node is a process that performs effects. Its name is unique
// for each start of a process, so that a new process does not have the claims of an earlier process.
//
// A number n that is not positive, or more than MaxList, means MaxList.
//
// The caller passes the time. So one clock decides what is due, and tests can set the clock. A database that
// several processes share has its own clock. Beat returns its time, so that the processes can correct their
// clocks.
type Queue interface {
	// Due returns at most n records whose Due is set and not later than before. They are sorted by Due, then
	// by ID. Damaged records are omitted.
	Due(ctx context.Context, before time.Time, n int) ([]Record, error)
	// Beat records a heartbeat of a node. It returns the time of the store: the clock of a shared database,
	// otherwise now.
	Beat(ctx context.Context, node string, now time.Time) (time.Time, error)
	// Claim claims at most n effects for a node and returns them in order of Due, then ID. It selects effects
	// that are due at now, not claimed, not held and not dead, and counts an attempt of each. It omits
	// damaged effects. If limits are given, Claim skips further effects of a kind whose Max is reached.
	//
	// Claim also records a heartbeat of the node, and frees the claims of every node without a heartbeat for
	// HeartbeatTimeout. A store that only one process can open frees every claim when it is opened. After an
	// error that matches ErrUnknown, the store may have claimed effects for the node.
	Claim(ctx context.Context, node string, now time.Time, n int, limit ...KindLimit) ([]Effect, error)
	// Dead returns dead letters, sorted by ID. It uses only the fields Kind, Stream, After, Newest and Limit
	// of q. Kind is the kind of the effect; "" matches every kind. Damaged effects are omitted.
	Dead(ctx context.Context, q Query) ([]Effect, error)
	// Effects returns effects, including dead letters, sorted by ID. It uses only the fields Kind, After,
	// Newest and Limit of q. Damaged effects are omitted.
	Effects(ctx context.Context, q Query) ([]Effect, error)
}

// A KindLimit is the maximum number of effects whose kind begins with Prefix. If Max is 0, there may be no
// such effect.
type KindLimit struct {
	Prefix string
	Max    int
}

// Limiter returns a function that is called with the kind of each effect in turn. The function reports
// whether the effect is within the limits, and counts the effect.
func Limiter(limits []KindLimit) func(kind string) bool {
	left := slices.Clone(limits)
	return func(kind string) bool {
		for i := range left {
			if !strings.HasPrefix(kind, left[i].Prefix) {
				continue
			}
			if left[i].Max <= 0 {
				return false
			}
			left[i].Max--
		}
		return true
	}
}
