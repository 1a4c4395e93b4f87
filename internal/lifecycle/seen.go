package lifecycle

import (
	"slices"
	"time"

	"github.com/askback/askback"
)

// Seen records that a person has the ask on a screen, through the channel Via. It has no event:
// only the deliveries show it.
type Seen struct {
	By  string
	Via askback.Channel
	At  time.Time
}

func (Seen) input() {}

// carriers returns the channels of deliveries that bring a person to a channel of answers. On
// all other channels, such as the pages, the ask itself is on the screen, so that each delivery
// to the person is seen.
func carriers(via askback.Channel) []string {
	switch via {
	case askback.ChannelPush:
		return []string{"post", "webpush"}
	case askback.ChannelTelegram, askback.ChannelSlack, askback.ChannelEmail:
		return []string{string(via)}
	}
	return nil
}

func seen(s AskState, in Seen) (Result[AskState], error) {
	before := s
	if s.Ask.Settled() || !s.markSeen(in) {
		return unchanged(before), nil
	}
	return changed(s), nil
}

// actedOnScreen records that a person has claimed the ask or decided through a channel, and so
// has seen the ask there. A program may have used the API for the person.
func (s *AskState) actedOnScreen(by string, via askback.Channel, at time.Time) {
	if via != askback.ChannelAPI {
		s.markSeen(Seen{By: by, Via: via, At: at})
	}
}

// markSeen sets the time in the deliveries that a person has seen, and reports whether it
// changed one.
func (s *AskState) markSeen(in Seen) (marked bool) {
	person := in.By
	if carriers(in.Via) != nil && !slices.ContainsFunc(s.Deliveries, func(d askback.Delivery) bool { return in.shows(d, in.By) }) {
		person = "" // one of the people in a room, without a message of their own
	}
	for i, d := range s.Deliveries {
		if !d.SeenAt.IsZero() || !mayHaveArrived(d, in.At) || !in.shows(d, person) {
			continue
		}
		if !marked {
			s.Deliveries, marked = slices.Clone(s.Deliveries), true
		}
		s.Deliveries[i].SeenAt = in.At
	}
	return marked
}

// shows reports whether a delivery to a person is one that is seen. A message that the ask was
// given to others does not show it.
func (in Seen) shows(d askback.Delivery, person string) bool {
	by := carriers(in.Via)
	return d.Person == person && (by == nil || slices.Contains(by, d.Channel)) && d.Event != askback.EventQuestionReassigned
}

// mayHaveArrived reports whether a delivery is sent, or an attempt to send it may have reached
// its receiver: the reply to it may be lost.
func mayHaveArrived(d askback.Delivery, now time.Time) bool {
	switch d.Status {
	case askback.DeliverySent:
		return true
	case askback.DeliveryQueued:
		return d.Attempts > 0 || d.Receipt != "" || !d.RetryAt.After(now)
	}
	return false
}
