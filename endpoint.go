package askback

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/askback/askback/internal/limits"
)

// An Endpoint is a receiver of webhooks: the origin of the callbacks that one principal names. It has a
// status. It may have a secret of its own, which no list returns.
type Endpoint struct {
	ID string `api:"id" store:"-"` // the id of the endpoint
	// the name of the token whose asks name it; "" if it receives the asks that name no callback
	Owner string `api:"owner,null" store:"owner"`
	// the scheme, the host and the port of its addresses
	Origin    string         `api:"origin" store:"origin,keep"`
	Status    EndpointStatus `api:"status" store:"status,keep,moving"` // whether messages are sent to it
	Reason    string         `api:"reason,null" store:"reason,moving"` // why it is disabled
	By        string         `api:"by,null" store:"by,moving"`         // who paused or resumed it last
	CreatedAt time.Time      `api:"created_at" store:"created,keep"`   // the time when it was made
	// ChangedAt is the time of the last change of its status.
	ChangedAt time.Time `api:"changed_at" store:"changed,keep,moving"`
	// FailingSince is the time of the first failed attempt since a message was last accepted. It is zero if
	// the last attempt did not fail.
	FailingSince time.Time `api:"failing_since" store:"failing,moving"`
	// the time when its own secret was made; zero: the secret of the settings signs
	SecretAt time.Time `api:"secret_at" store:"secret_at,moving"`
	// OldSecretUntil is the time until which the previous secret signs as well. It is zero without a previous
	// secret.
	OldSecretUntil time.Time `api:"old_secret_until" store:"old_secret_until,moving"`
}

// An EndpointStatus is the state of an [Endpoint].
type EndpointStatus string

// The statuses of endpoints.
const (
	EndpointActive   EndpointStatus = "active"   // deliveries are sent
	EndpointPaused   EndpointStatus = "paused"   // deliveries wait until it is resumed
	EndpointDisabled EndpointStatus = "disabled" // it answered 410, or failed for days: deliveries are given up
)

// Origin returns the scheme and the host of an address in lower case, and the port unless it is the default
// of the scheme. The origin is the part of a callback that is not secret. Origin returns "" if address is not
// a URL with a host.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.TrimSuffix(strings.ToLower(u.Host), ":")
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host
}

// An EndpointRequest describes the [Endpoint] to make.
type EndpointRequest struct {
	URL string `request:"url"` // an address of the receiver; test messages are sent to it
	// Owner is the name of the token whose asks name the receiver. An agent makes endpoints only for itself,
	// so it may leave Owner empty. For other principals, "" makes the endpoint for asks that name no
	// callback.
	Owner string `request:"owner"`
}

// Check returns an [Invalid] if the request is not valid.
func (r EndpointRequest) Check() error {
	var bad problems
	if p := CallbackProblem(r.URL); p != "" {
		bad.add("/url", p, `"url": "https://agents.example.com/answers"`)
	}
	checkName(&bad, "/owner", r.Owner, limits.MaxName)
	return bad.err()
}

// An EndpointPage is a part of a list of endpoints, newest first.
type EndpointPage struct {
	Items      []Endpoint `api:"items"`            // the entries of this page
	NextCursor string     `api:"next_cursor,null"` // "" after the last page
}

// An EndpointQuery selects endpoints that a principal may see.
type EndpointQuery struct {
	Owner  string         // the owner; "" is any owner
	Status EndpointStatus // the status; "" is any status
	Cursor string         // NextCursor of the previous page
	Limit  int            // 1 to 200; 0 is 50
}

// Check returns an [Invalid] if the query is not valid. It does not check the cursor.
func (q EndpointQuery) Check() error {
	var bad problems
	switch q.Status {
	case "", EndpointActive, EndpointPaused, EndpointDisabled:
	default:
		bad.add("/status", "must be active, paused or disabled", "status=disabled")
	}
	checkName(&bad, "/owner", q.Owner, limits.MaxName)
	checkLimit(&bad, q.Limit)
	return bad.err()
}

// An EndpointTest is the result of a test message.
type EndpointTest struct {
	Accepted bool          // whether the receiver accepted the message
	Code     int           // the HTTP status of the reply; 0 without a reply
	Duration time.Duration // the time until the reply; 0 without a reply
	Error    string        // why the message was not accepted, without text of the receiver
}

// Endpoints is the interface to the receivers of webhooks. An agent sees and changes its own endpoints. An
// operator sees and changes all endpoints. The methods may return the errors that every method of [Asker] may
// return.
type Endpoints interface {
	// Endpoints returns a page of endpoints, newest first.
	Endpoints(ctx context.Context, q EndpointQuery) (EndpointPage, error)
	// CreateEndpoint makes an endpoint with a secret of its own. Only this call returns the secret. The error
	// is [ErrExists] if the owner has an endpoint of this origin.
	CreateEndpoint(ctx context.Context, r EndpointRequest) (e Endpoint, secret string, err error)
	// RotateEndpoint replaces the secret of an endpoint and returns the new secret. For a day, the old secret
	// signs as well. If RotateEndpoint is called again in this time, only the last two secrets sign.
	RotateEndpoint(ctx context.Context, id string) (e Endpoint, secret string, err error)
	// DeleteEndpoint deletes an endpoint with its secret. The next message to its origin makes a new
	// endpoint. The error is [ErrNotActive] if the endpoint is paused or disabled.
	DeleteEndpoint(ctx context.Context, id string) (Endpoint, error)
}

// EndpointControl is the interface that controls the messages to an endpoint. It has the permissions and the
// errors of [Endpoints].
type EndpointControl interface {
	// PauseEndpoint keeps deliveries to an endpoint until it is resumed. It does not change an endpoint that
	// is not active.
	PauseEndpoint(ctx context.Context, id string) (Endpoint, error)
	// ResumeEndpoint makes a paused or disabled endpoint active. It sends the deliveries that were kept, in
	// order. Deliveries that were given up are not sent: see ResendToEndpoint.
	ResumeEndpoint(ctx context.Context, id string) (Endpoint, error)
	// TestEndpoint sends a signed test message to an endpoint, whatever its status, and returns the result.
	TestEndpoint(ctx context.Context, id string) (EndpointTest, error)
	// ResendToEndpoint queues all deliveries to an endpoint that were given up at or after a time, and
	// returns their number. Deliveries about the same ask are sent in order.
	ResendToEndpoint(ctx context.Context, id string, since time.Time) (n int, err error)
}
