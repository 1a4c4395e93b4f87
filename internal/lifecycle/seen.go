package lifecycle

import (
	"slices"
	"time"

	"github.com/askback/askback"
)

// Seen records that a person has the ask on a screen, through the channel Via. It makes no event. Only the
// deliveries record the time.
type Seen struct {
	By  string
	Via askback.Channel
	At  time.Time
}

func (Seen) input() {}

// AtFrontend reports whether a channel shows the ask itself. Its people have logged in, or work at the
// terminal of the agent. Other channels show a message. They identify a person by an account of a service, an
// address or a link, which people share more easily. AtFrontend returns true for "", because a program that
// uses the library may name no channel.
func AtFrontend(via askback.Channel) bool {
	switch via {
	case askback.ChannelWeb, askback.ChannelTerminal, askback.ChannelAPI, askback.ChannelHook, askback.ChannelMCP, "":
		return true
	}
	return false
}

// carries reports whether the people who get the delivery d answer through the channel via. Usually, via has
// the name of the delivery's channel. Channels without a constant in askback.Channels share the name push.
// The webhook is an exception, because it carries no answers of people.
func carries(d askback.Delivery, via askback.Channel) bool {
	own := askback.Channel(d.Channel)
	return own == via || via == askback.ChannelPush && own != channelWebhook && !slices.Contains(askback.Channels, own)
}

func seen(s AskState, in Seen) (Result[AskState], error) {
	before := s
	if s.Ask.Settled() || !s.markSeen(in) {
		return unchanged(before), nil
	}
	return changed(s), nil
}

// actedOnScreen records that a person has seen the ask in a channel, because the person has claimed or
// decided the ask there. It ignores the API, which a program may have used for the person.
func (s *AskState) actedOnScreen(by string, via askback.Channel, at time.Time) {
	if via != askback.ChannelAPI {
		s.markSeen(Seen{By: by, Via: via, At: at})
	}
}

// markSeen sets the time in the deliveries that a person has seen, and reports whether a delivery changed.
func (s *AskState) markSeen(in Seen) (marked bool) {
	person := in.By
	if !AtFrontend(in.Via) &&
		!slices.ContainsFunc(s.Deliveries, func(d askback.Delivery) bool { return in.shows(d, in.By) }) {
		person = "" // the person reads a room with other people, and has no message of their own
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

// shows reports whether a delivery to a person shows the ask on the screen that the input describes. A
// message that the ask was given to other people does not show the ask.
func (in Seen) shows(d askback.Delivery, person string) bool {
	return d.Person == person && (AtFrontend(in.Via) || carries(d, in.Via)) &&
		d.Event != askback.EventQuestionReassigned
}

// mayHaveArrived reports whether a delivery was sent, or may have reached its receiver. An attempt may have
// reached the receiver although its reply was lost.
func mayHaveArrived(d askback.Delivery, now time.Time) bool {
	switch d.Status {
	case askback.DeliverySent:
		return true
	case askback.DeliveryQueued:
		return d.Attempts > 0 || d.Receipt != "" || !d.RetryAt.After(now)
	}
	return false
}
