package askback

import (
	"context"
	"fmt"
	"time"

	"github.com/askback/askback/internal/limits"
)

// A Snooze is a time until which a pending ask is hidden from the inbox of one person. It does not change the
// deadline. The agent and other people cannot see it.
type Snooze struct {
	AskID string    `api:"ask_id"` // the id of the ask
	Until time.Time `api:"until"`  // zero: the ask is not snoozed
}

// Hides reports whether the ask is hidden at the time now.
func (s Snooze) Hides(now time.Time) bool { return now.Before(s.Until) }

// Snoozer is the interface to the snoozes of the person who uses it. Each person reads and changes only their
// own snoozes. See [Query.Snoozed] and [Page.Snoozes].
type Snoozer interface {
	// Snooze hides a pending ask until a time, which is at most 366 days from now. It
	// replaces an earlier snooze of the ask. If the ask is settled, the error is
	// [ErrSettled].
	Snooze(ctx context.Context, id string, until time.Time) (Snooze, error)
	// Snoozed returns the snooze of an ask, up to a week after its end. Until is zero if the ask is not
	// snoozed or is settled.
	Snoozed(ctx context.Context, id string) (Snooze, error)
	// Unsnooze deletes the snooze of an ask. It can be repeated.
	Unsnooze(ctx context.Context, id string) error
}

// CheckSnooze returns an [Invalid] if until is not after now, or is more than 366 days after now.
func CheckSnooze(until, now time.Time) error {
	fix := fmt.Sprintf(`"until": %q`, now.Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339))
	switch {
	case !until.After(now):
		return Invalid{{Pointer: "/until", Detail: "this time is not in the future", Fix: fix}}
	case until.Sub(now) > limits.MaxSnooze:
		return Invalid{{Pointer: "/until", Detail: "an ask can be snoozed for a year at most", Fix: fix}}
	}
	return nil
}
