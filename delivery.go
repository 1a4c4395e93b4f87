package askback

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/askback/askback/internal/limits"
)

// A Delivery is one message about an ask or a session to a program or a person.
type Delivery struct {
	// the id of the delivery, which the receiver gets with each attempt
	ID        string `api:"id" store:"id,keep"`
	AskID     string `api:"question_id,null" store:"-"` // the id of the ask; "" if the message is about a session
	SessionID string `api:"session_id" store:"-"`       // the id of the session
	// Channel is the name of the channel that carries it, such as webhook or telegram.
	Channel string `api:"channel" store:"channel,keep"`
	// Target is the receiver: its name in the settings, or its address without secrets.
	Target string `api:"target" store:"target"`
	// Person is the person who reads messages at Target. It is "" for several people and for a program.
	Person   string         `api:"person,null" store:"person"`
	Event    EventType      `api:"event" store:"event,keep"`       // the event that it reports
	Status   DeliveryStatus `api:"status" store:"status,keep"`     // the status of the delivery
	Attempts int            `api:"attempts" store:"attempts,keep"` // the number of attempts so far
	At       time.Time      `api:"at" store:"at,keep"`             // the time of the last change
	// RetryAt is the time of the next attempt. It is zero if no attempt is planned, or if the next attempt
	// follows without delay.
	RetryAt time.Time `api:"retry_at" store:"retry"`
	Error   string    `api:"error,null" store:"error"` // why the last attempt failed

	// SeenAt is the time when the ask was first known to be on a screen of Person, in the channel or on the
	// page of the ask. It is zero if no such time is known. For a message to several people, it is the time
	// of the first person.
	SeenAt time.Time `api:"seen_at" store:"seen"`

	// EndpointID is the id of the paused or disabled endpoint of a webhook that was not sent. Lists have it
	// until the delivery is sent.
	EndpointID string `api:"endpoint_id,omitempty" store:"-"`
	// EndpointStatus is the status of the endpoint: paused if the delivery waits for it, disabled if the
	// delivery is given up.
	EndpointStatus EndpointStatus `api:"endpoint_status,omitempty" store:"-"`

	// Receipt identifies the message at the service that carries it. A channel needs it to change the message
	// later. It is "" if the service returned none.
	Receipt string `api:"-" store:"receipt"`

	// Session is the session after the event, if the message is about a session. A channel always gets it. It
	// is stored only for the end of a turn, because the session may change afterwards, and only until that
	// message is sent.
	Session *Session `api:"-" store:"session"`
}

// A DeliveryStatus is the state of a [Delivery].
type DeliveryStatus string

// The statuses of deliveries. A [DeliveryWaiting] delivery becomes [DeliveryQueued] when the delivery before
// it was sent or given up.
const (
	DeliveryWaiting DeliveryStatus = "waiting" // for an earlier delivery to the same receiver
	DeliveryQueued  DeliveryStatus = "queued"  // for the next attempt
	DeliverySent    DeliveryStatus = "sent"    // the receiver has accepted it
	DeliveryFailed  DeliveryStatus = "failed"  // given up
	// no longer needed: the ask was settled before its receiver got the question
	DeliverySkipped DeliveryStatus = "skipped"
)

// A DeliveryPage is a part of a list of deliveries.
type DeliveryPage struct {
	Items      []Delivery `api:"items"`
	NextCursor string     `api:"next_cursor,null"` // "" on the last page
}

// deliveryStatuses has every [DeliveryStatus].
var deliveryStatuses = []DeliveryStatus{DeliveryWaiting, DeliveryQueued, DeliverySent, DeliveryFailed, DeliverySkipped}

// A DeliveryQuery selects deliveries.
type DeliveryQuery struct {
	// Status selects deliveries with this status. If it is empty, a query with an AskID or a SessionID
	// selects deliveries in every status. Any other query then selects all deliveries except the sent and the
	// skipped deliveries.
	Status DeliveryStatus
	// AskID selects the deliveries about this ask. SessionID selects the deliveries about this session
	// itself, not about its asks. An agent must give the id of an ask or session of its own.
	AskID, SessionID string
	Cursor           string // NextCursor of the previous page
	Limit            int    // 1 to 200; 0 means 50
}

// Check returns an [Invalid] if the query is not valid. It does not check the cursor.
func (q DeliveryQuery) Check() error {
	var bad problems
	checkLimit(&bad, q.Limit)
	if q.Status != "" && !slices.Contains(deliveryStatuses, q.Status) {
		bad.add("?status", "must be failed, queued, sent, skipped or waiting", "status=failed")
	}
	if q.AskID != "" && q.SessionID != "" {
		bad.add("?session_id", "question_id and session_id cannot be combined",
			"leave out session_id, or leave out question_id")
	}
	return bad.err()
}

// Deliveries is the interface to messages about asks and sessions to programs and people.
type Deliveries interface {
	// Deliveries returns a page of the deliveries that a query selects, newest first. Sent deliveries are
	// sorted by the time when they were sent, and other deliveries by the time of their asks. A page may have
	// fewer items than its limit, even none, and still have a NextCursor. An agent sees only the deliveries
	// about its own asks and sessions.
	Deliveries(ctx context.Context, q DeliveryQuery) (DeliveryPage, error)
	// RetryDelivery queues a delivery that was given up, and returns it. The error is [ErrNotFound] for any
	// other delivery.
	RetryDelivery(ctx context.Context, id string) (Delivery, error)
}

// A SendError is the error of a failed attempt to send a [Delivery]. It describes what to do next. After any
// other error, the attempt is repeated.
type SendError struct {
	Err        error         // the error, without text that the receiver wrote and without secrets
	RetryAfter time.Duration // the shortest time until the next attempt; 0: the sender decides
	Final      bool          // there must be no further attempt
	Gone       bool          // the receiver refuses further messages
	Cause      error         // details for the log of operators, not for agents; nil: none
}

// Error returns the text of e.Err.
func (e *SendError) Error() string { return e.Err.Error() }

// Unwrap returns e.Err.
func (e *SendError) Unwrap() error { return e.Err }

// checkCallback adds a problem unless a callback is valid or "".
func checkCallback(bad *problems, address string) {
	if address == "" {
		return
	}
	if problem := CallbackProblem(address); problem != "" {
		bad.add("/callback_url", problem, `"callback_url": "https://agents.example.com/answers"`)
	}
}

// CallbackProblem returns what is wrong with the address of a program that receives events, or "". It does
// not resolve the host name.
func CallbackProblem(address string) string {
	u, err := url.Parse(address)
	switch {
	case len(address) > limits.MaxCallback:
		return fmt.Sprintf("the address has %d bytes; at most %d are allowed", len(address), limits.MaxCallback)
	case err != nil:
		return "this is not an address"
	case u.Scheme != "https" && u.Scheme != "http":
		return "the address must begin with https:// or http://"
	case u.Opaque != "" || u.Hostname() == "":
		return "the address has no host"
	case !validPort(u.Port()):
		return "the port of the address must be from 1 to 65535"
	case u.User != nil:
		return "the address has a user or a password; the receiver checks the signature instead"
	case strings.Contains(address, "#"):
		return "the address has a fragment, which is never sent"
	}
	return ""
}

// validPort reports whether port is a number from 1 to 65535, or "".
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}
