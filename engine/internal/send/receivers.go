package send

import (
	"sync"
	"time"
)

const (
	// receiverSlots is the number of deliveries that are sent to one receiver concurrently. Further
	// deliveries are postponed in the store, so that a slow receiver does not delay other receivers.
	receiverSlots = 16
	// the number of concurrent deliveries about asks of one owner, who may have many receivers
	ownerSlots    = 32
	receiverTime  = time.Second            // the expected duration of an attempt, before the first attempt has ended
	receiverPause = time.Second            // the minimum time by which a delivery is postponed
	receiverCheck = 500 * time.Millisecond // the time between two claims while deliveries are postponed
)

// receivers limits the concurrent deliveries to each receiver, or for each owner. It is safe for concurrent
// use.
type receivers struct {
	slots int
	mu    sync.Mutex
	all   map[string]*receiver // keyed by [askback.Delivery.Target], or by owner
}

func newReceivers(slots int) *receivers {
	return &receivers{slots: slots, all: map[string]*receiver{}}
}

// A receiver has the state of the deliveries to one receiver.
type receiver struct {
	sending int
	took    time.Duration // the duration of the last attempt that has ended
	next    time.Time     // the time to which the last delivery was postponed
}

// begin reserves a slot of a receiver and returns zero. If no slot is free, begin returns the time at which
// the delivery can be tried again. Each call returns a later time than the previous call. The distance is the
// time that the receiver takes for a delivery, so that each delivery is postponed about once.
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

// check returns the time at which effects should be claimed again. It is soon if deliveries were postponed to
// the future, and otherwise zero. check forgets idle receivers.
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
