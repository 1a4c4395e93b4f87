package view

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Delivery is an [askback.Delivery] for display. It has no secrets: Target is only the
// origin of an address.
type Delivery struct {
	ID       safetext.Text
	AskID    safetext.Text // id of the ask; empty if the delivery is about a session
	Session  safetext.Text // id of the session
	Event    safetext.Text // the reported event, in words: "Answered"
	Channel  safetext.Text // "Webhook"
	Target   safetext.Text
	Person   safetext.Text // person who gets the message; empty for several people or a program
	State    DeliveryState
	Attempts int
	At       time.Time     // time of the last change
	RetryAt  time.Time     // time of the next attempt; zero for no attempt, or for an immediate attempt
	SeenAt   time.Time     // time when the delivery was first known to be on a screen of the person; zero if not known
	Error    safetext.Text // reason why the last attempt failed
	Endpoint safetext.Text // id of the endpoint that holds the delivery, or ""
	Disabled bool          // whether that endpoint is disabled, not paused
	Ask      *Ask          // the ask, for its headline; nil if the reader may not see it
}

// A DeliveryState is the state of a [Delivery] for people.
type DeliveryState uint8

// States of deliveries.
const (
	DeliverySending  DeliveryState = iota // an attempt follows in a moment, or is in progress
	DeliveryRetrying                      // the last attempt failed, and another attempt follows
	DeliveryWaiting                       // waits for an earlier delivery about the same ask
	DeliveryAccepted
	DeliveryGivenUp
	DeliveryNotNeeded // not sent, because the ask was settled before
	DeliveryPaused    // waits until its endpoint is resumed
)

// String returns the state as people read it.
func (s DeliveryState) String() string {
	return [...]string{
		DeliverySending: "Sending", DeliveryRetrying: "Retrying", DeliveryWaiting: "Waiting",
		DeliveryAccepted: "Accepted", DeliveryGivenUp: "Given up", DeliveryNotNeeded: "Not needed",
		DeliveryPaused: "Paused",
	}[s]
}

// deliveryEvents maps events to the words that people read for them.
var deliveryEvents = map[askback.EventType]string{
	askback.EventQuestionPending: "Asked", askback.EventQuestionAnswered: "Answered",
	askback.EventQuestionDeclined: "Declined", askback.EventQuestionCancelled: "Cancelled",
	askback.EventQuestionExpired: "Expired", askback.EventQuestionReminded: "Reminded",
	askback.EventQuestionReassigned: "Reassigned", askback.EventQuestionEscalated: "Escalated",
	askback.EventSessionCompleted: "Session completed", askback.EventSessionFailed: "Session failed",
	askback.EventSessionCancelled: "Session cancelled",
}

// EventWords returns the words that people read for an event of a delivery, such as "Reminded".
func EventWords(event askback.EventType) string {
	if words := deliveryEvents[event]; words != "" || event == "" {
		return words
	}
	return capital(strings.ReplaceAll(string(event), "_", " ")) // an event of a newer server
}

// DeliveryOf returns the view of a delivery, with the title of its channel.
func DeliveryOf(d askback.Delivery, titles Titles) Delivery {
	v := Delivery{
		ID: safetext.Line(d.ID), AskID: safetext.Line(d.AskID), Person: safetext.Name(d.Person),
		Session: safetext.Line(d.SessionID), Channel: safetext.Line(titles.Of(d.Channel)),
		Target: safetext.Line(d.Target), Event: safetext.Line(EventWords(d.Event)), Attempts: d.Attempts, At: d.At,
		RetryAt: d.RetryAt, SeenAt: d.SeenAt, Error: safetext.Line(d.Error), Endpoint: safetext.Line(d.EndpointID),
		Disabled: d.EndpointStatus == askback.EndpointDisabled,
	}
	switch {
	case d.Status == askback.DeliverySent:
		v.State = DeliveryAccepted
	case d.Status == askback.DeliveryFailed:
		v.State = DeliveryGivenUp
	case d.Status == askback.DeliverySkipped:
		v.State = DeliveryNotNeeded
	case d.EndpointStatus == askback.EndpointPaused:
		v.State = DeliveryPaused
	case d.Status == askback.DeliveryWaiting:
		v.State = DeliveryWaiting
	case !d.RetryAt.IsZero():
		v.State = DeliveryRetrying
	}
	return v
}

// DeliveriesOf returns the views of deliveries.
func DeliveriesOf(all []askback.Delivery, titles Titles) (views []Delivery) {
	for _, d := range all {
		views = append(views, DeliveryOf(d, titles))
	}
	return views
}

// To returns the recipient: a person, or the receiver.
func (d Delivery) To() Text {
	if d.Person.String() != "" {
		return d.Person
	}
	return d.Target
}

// Path returns the path of the page for the ask, or for the session if the delivery is about a session. The
// page of a settled ask is in the history.
func (d Delivery) Path() string {
	switch {
	case d.AskID.String() == "":
		return Session{ID: d.Session}.Path()
	case d.Ask != nil && d.Ask.Outcome != nil:
		return "/history/" + d.AskID.String()
	}
	return askback.PagePath(d.AskID.String())
}

// Sentence describes the delivery in one line, such as "Telegram to ana: Asked, accepted 3 November 2026,
// 14:03 UTC, seen 14:05". The reason of a failure is at the end. A nil zone is UTC.
func (d Delivery) Sentence(zone *time.Location) safetext.Text {
	s := d.Channel.String() + " to " + d.To().String() + ": " + d.Event.String() + ", " +
		strings.ToLower(d.State.String())
	switch {
	case d.State == DeliveryRetrying:
		s += ", next attempt " + FormatTime(d.RetryAt, zone)
	case d.State == DeliveryAccepted || d.State == DeliveryGivenUp:
		s += " " + FormatTime(d.At, zone)
	}
	if at := in(d.SeenAt, zone); !d.SeenAt.IsZero() {
		s += ", seen "
		if DaysBetween(in(d.At, zone), at) == 0 {
			s += at.Format("15:04")
		} else {
			s += FormatTime(at, zone)
		}
	}
	if d.Error.String() != "" {
		s += ": " + d.Error.String()
	}
	return safetext.Line(s)
}
