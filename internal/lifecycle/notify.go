package lifecycle

import (
	"slices"
	"time"

	"github.com/askback/askback"
)

// remind adds a delivery to each receiver: a reminder, or the question if the receiver does not have the
// question. A receiver with an unsent delivery gets nothing. So reminders do not accumulate while a receiver
// cannot be reached or its person has quiet hours.
func remind(r Result[AskState], receivers []Receiver, at time.Time) Result[AskState] {
	s := &r.State
	for _, to := range receivers {
		event := askback.EventQuestionReminded
		last, ok := s.lastTo(to)
		if ok && (last.Status == askback.DeliveryWaiting || last.Status == askback.DeliveryQueued) {
			continue
		}
		if !ok || last.Event == askback.EventQuestionReassigned {
			event = askback.EventQuestionPending
		}
		r.Effects = append(r.Effects, s.addDelivery(to, event, at)...)
	}
	return r
}

// move adds the deliveries for new recipients of an ask: a notice to each receiver that loses the question,
// and the question to each receiver in receivers that does not have it yet.
func move(r Result[AskState], receivers []Receiver, at time.Time) Result[AskState] {
	s := &r.State
	for _, to := range s.receivers() {
		if !slices.ContainsFunc(receivers, to.same) {
			r.Effects = append(r.Effects, s.addDelivery(to, askback.EventQuestionReassigned, at)...)
		}
	}
	for _, to := range receivers {
		if last, ok := s.lastTo(to); !ok || last.Event == askback.EventQuestionReassigned {
			r.Effects = append(r.Effects, s.addDelivery(to, askback.EventQuestionPending, at)...)
		}
	}
	return r
}

// same reports whether two receivers have the same channel and name.
func (r Receiver) same(other Receiver) bool {
	return r.Channel == other.Channel && r.Name == other.Name
}

// lastTo returns the last delivery to a receiver. It reports false if there is no delivery.
func (s AskState) lastTo(to Receiver) (askback.Delivery, bool) {
	for _, d := range slices.Backward(s.Deliveries) {
		if d.Channel == to.Channel && d.Target == to.Name {
			return d, true
		}
	}
	return askback.Delivery{}, false
}
