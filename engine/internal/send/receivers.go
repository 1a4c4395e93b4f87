package send

import (
	"sync"
	"time"
)

const (
	// receiverSlots is how many deliveries are sent to one receiver at once. The others are
	// postponed in the store, so that a slow receiver does not delay the rest.
	receiverSlots = 16
	ownerSlots    = 32                     // the same for all deliveries about asks of one owner, who may have many receivers
	receiverTime  = time.Second            // the expected duration of an attempt, before the first one has ended
	receiverPause = time.Second            // the shortest time by which a delivery is postponed
	receiverCheck = 500 * time.Millisecond // the time between two claims while deliveries are postponed
)

// receivers limit how many deliveries are sent at once to each receiver, or for each owner.
// They are safe for concurrent use.
type receivers struct {
	slots int
	mu    sync.Mutex
	all   map[string]*receiver // by [askback.Delivery.Target], or by owner
}

func newReceivers(slots int) *receivers {
	return &receivers{slots: slots, all: map[string]*receiver{}}
}

// A receiver has the deliveries that are sent to it now.
type receiver struct {
	sending int
	took    time.Duration // of the last attempt that has ended
	next    time.Time     // of the last delivery that was postponed
}

// begin reserves a slot of a receiver. If none is free, it returns the time at which the
// delivery can be tried again. Each call returns a later one, at the rate at which the
// receiver takes deliveries, so that each is postponed about once.
func (r *receivers) begin(target string, now time.Time) (postponed time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.all[target]
	if to == nil {
		to = &receiver{took: receiverTime}
		r.all[target] = to
	}
	if to.sending < r.slots {
		to.sending++
		return time.Time{}
	}
	if soonest := now.Add(receiverPause); to.next.Before(soonest) {
		to.next = soonest
	}
	to.next = to.next.Add(max(to.took/time.Duration(r.slots), time.Millisecond))
	if latest := now.Add(performMaxPause); to.next.After(latest) {
		to.next = latest
	}
	return to.next
}

// release releases a slot that was not used.
func (r *receivers) release(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[target].sending--
}

// end releases a slot after an attempt.
func (r *receivers) end(target string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[target].sending--
	r.all[target].took = took
}

// check returns when effects should be claimed again: soon, if deliveries were postponed to
// the future, and otherwise zero. It forgets receivers that have nothing to do.
func (r *receivers) check(now time.Time) (at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for target, to := range r.all {
		switch {
		case to.next.After(now):
			at = now.Add(receiverCheck)
		case to.sending == 0:
			delete(r.all, target)
		}
	}
	return at
}
