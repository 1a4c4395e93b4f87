package lifecycle

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback"
)

// Send requires that a delivery of the ask is sent. It is performed after the commit, at
// least once.
type Send struct {
	ID        string // of the delivery
	AskID     string
	SessionID string
	At        time.Time
}

func (Send) effect() {}

// Sent records that the receiver of a delivery has accepted it.
type Sent struct {
	ID string
	At time.Time
}

// SendFailed records that an attempt to send a delivery failed. The next attempt is at
// Retry; if that is zero, the delivery is given up.
type SendFailed struct {
	ID    string
	Error string
	Retry time.Time
	At    time.Time
}

// SendAgain queues a delivery that was given up. Its effect is revived, so it causes none.
type SendAgain struct {
	ID string
	At time.Time
}

func (Sent) input()       {}
func (SendFailed) input() {}
func (SendAgain) input()  {}

// deliver adds a delivery of the events in r to the callback of the ask, if it has one.
// Deliveries of one ask are sent in order: one begins when the one before was sent or given
// up.
func deliver(r Result[AskState], at time.Time) Result[AskState] {
	if r.State.Callback == "" {
		return r
	}
	for _, h := range r.History {
		if h.Type != askback.EventQuestionPending && !h.Type.Settles() {
			continue
		}
		s := &r.State
		d := askback.Delivery{
			ID: deliveryID(s.Ask.ID, len(s.Deliveries)), AskID: s.Ask.ID, SessionID: s.Ask.SessionID, Channel: "webhook", Target: originOf(s.Callback),
			Event: h.Type, Status: askback.DeliveryWaiting, At: at,
		}
		s.Deliveries = append(slices.Clip(s.Deliveries), d)
		r.Effects = append(r.Effects, s.sendNext(at)...)
	}
	return r
}

// sendNext queues the first delivery that waits, unless one is queued. It returns its effect.
func (s *AskState) sendNext(at time.Time) []Effect {
	if s.deliveryWith(askback.DeliveryQueued) >= 0 {
		return nil
	}
	next := s.deliveryWith(askback.DeliveryWaiting)
	if next < 0 {
		return nil
	}
	s.Deliveries = slices.Clone(s.Deliveries)
	s.Deliveries[next].Status = askback.DeliveryQueued
	return []Effect{Send{ID: s.Deliveries[next].ID, AskID: s.Ask.ID, SessionID: s.Ask.SessionID, At: at}}
}

// deliveryWith returns the index of the first delivery with a status, or -1.
func (s AskState) deliveryWith(status askback.DeliveryStatus) int {
	return slices.IndexFunc(s.Deliveries, func(d askback.Delivery) bool { return d.Status == status })
}

// Delivery returns the delivery with an id, and whether there is one.
func (s AskState) Delivery(id string) (askback.Delivery, bool) {
	i := s.delivery(id)
	if i < 0 {
		return askback.Delivery{}, false
	}
	return s.Deliveries[i], true
}

// delivery returns the index of the delivery with an id, or -1.
func (s AskState) delivery(id string) int {
	return slices.IndexFunc(s.Deliveries, func(d askback.Delivery) bool { return d.ID == id })
}

// deliveryID returns the id of the n-th delivery of an ask: the time of the ask, and digits
// that follow from its id.
func deliveryID(ask string, n int) string {
	const prefix, alphabet = "dlv_", "0123456789abcdefghjkmnpqrstvwxyz"
	_, digits, _ := strings.Cut(ask, "_")
	id := []byte(prefix + digits[:min(timeDigits, len(digits))])
	sum := sha256.Sum256([]byte(ask + "/" + strconv.Itoa(n)))
	for _, b := range sum[:randomDigits] {
		id = append(id, alphabet[b&31])
	}
	return string(id)
}

// An id has digits for its time, and random ones.
const timeDigits, randomDigits = 10, 16

// originOf returns the scheme and the host of an address, in lower case: the rest may be
// secret.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

func sent(s AskState, in Sent) (Result[AskState], error) {
	return s.finish(in.ID, in.At, askback.EventDeliverySent, func(d *askback.Delivery) {
		d.Status, d.Error = askback.DeliverySent, ""
	})
}

func sendFailed(s AskState, in SendFailed) (Result[AskState], error) {
	if in.Retry.IsZero() {
		return s.finish(in.ID, in.At, askback.EventDeliveryFailed, func(d *askback.Delivery) {
			d.Status, d.Error = askback.DeliveryFailed, in.Error
		})
	}
	return s.changeDelivery(in.ID, askback.DeliveryQueued, askback.EventDeliveryFailed, func(d *askback.Delivery) {
		d.Attempts, d.At, d.RetryAt, d.Error = d.Attempts+1, in.At, in.Retry, in.Error
	})
}

// finish ends a queued delivery and sends the next one.
func (s AskState) finish(id string, at time.Time, event askback.EventType, end func(*askback.Delivery)) (Result[AskState], error) {
	r, err := s.changeDelivery(id, askback.DeliveryQueued, event, func(d *askback.Delivery) {
		d.Attempts, d.At, d.RetryAt = d.Attempts+1, at, time.Time{}
		end(d)
	})
	if err != nil || r.Unchanged {
		return r, err
	}
	r.Effects = r.State.sendNext(at)
	return r, nil
}

func sendAgain(s AskState, in SendAgain) (Result[AskState], error) {
	return s.changeDelivery(in.ID, askback.DeliveryFailed, askback.EventDeliveryQueued, func(d *askback.Delivery) {
		d.Status, d.At = askback.DeliveryQueued, in.At
	})
}

// changeDelivery changes a delivery that has a status, and records an event. A delivery with
// another status stays as it is: the input is a repeat.
func (s AskState) changeDelivery(id string, status askback.DeliveryStatus, event askback.EventType, change func(*askback.Delivery)) (Result[AskState], error) {
	i := s.delivery(id)
	switch {
	case i < 0:
		return unchanged(s), fmt.Errorf("ask %s has no delivery %q", s.Ask.ID, id)
	case s.Deliveries[i].Status != status:
		return unchanged(s), nil
	}
	s.Deliveries = slices.Clone(s.Deliveries)
	change(&s.Deliveries[i])
	d := s.Deliveries[i]
	return changed(s, Event{Type: event, Delivery: &d}), nil
}
