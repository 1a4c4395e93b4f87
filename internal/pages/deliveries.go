package pages

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/askback/askback/internal/text/view"
)

// DeliveriesPath is the address of the list of deliveries.
const DeliveriesPath = "/deliveries"

// A DeliveryList is one page of the deliveries list.
type DeliveryList struct {
	Deliveries   []view.Delivery
	Status       string // filter of the address; "" for deliveries that have not arrived
	Cursor, Next string // cursors of this page and of the next page
	MayRetry     bool
	Endpoints    bool           // whether the person may change the endpoints of webhooks
	Sessions     bool           // whether the person may open sessions
	Never        bool           // whether nothing was ever sent
	Retried      *view.Delivery // the delivery that was just sent again, in its present state
}

// deliveryStatuses are the choices of the filter.
var deliveryStatuses = []outcomeOption{
	{"", "Not arrived"},
	{"failed", "Given up"},
	{"queued", "Being sent"},
	{"waiting", "Waiting"},
	{"sent", "Accepted"},
	{"skipped", "Not needed"},
}

// deliveriesPath returns the address of a page of the list.
func deliveriesPath(status, cursor string) templ.SafeURL {
	v := url.Values{}
	for name, value := range map[string]string{"status": status, "cursor": cursor} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return withQuery(DeliveriesPath, v)
}

// stateClass returns the class for the color of a state.
func stateClass(s view.DeliveryState) string {
	switch s {
	case view.DeliveryAccepted:
		return "state-yes"
	case view.DeliveryGivenUp:
		return "state-no"
	case view.DeliveryRetrying, view.DeliveryPaused:
		return "state-warn"
	}
	return ""
}

// attemptCount describes the attempts of a delivery. It returns "" if there was no attempt, or if the first
// attempt was accepted.
func attemptCount(d view.Delivery) string {
	if d.Attempts == 0 || d.Attempts == 1 && d.State == view.DeliveryAccepted {
		return ""
	}
	return view.Count(d.Attempts, "attempt")
}

// aboutID returns the id of the ask or the session that a delivery is about.
func aboutID(d view.Delivery) string {
	if isSet(d.AskID) {
		return d.AskID.String()
	}
	return d.Session.String()
}

// heldSentence explains why an endpoint holds a delivery, and what a person can do.
func heldSentence(d view.Delivery) string {
	switch {
	case d.Disabled && d.State == view.DeliveryGivenUp:
		return "The receiver is disabled, so another attempt would fail again."
	case d.Disabled:
		return "The receiver is disabled, so this delivery fails in a moment."
	case d.State == view.DeliveryGivenUp:
		return "The receiver is paused, so another attempt would wait."
	}
	return "The receiver is paused, so this delivery waits."
}

// retried describes the result of a delivery that was sent again.
func retried(d view.Delivery) string {
	switch d.State {
	case view.DeliveryAccepted:
		return "The receiver has accepted the message."
	case view.DeliveryGivenUp:
		return "The new attempt failed, and the server does not try again."
	case view.DeliveryPaused:
		return "The receiver is paused, so the message waits."
	case view.DeliveryRetrying:
		return "The attempt failed. The server tries again later."
	}
	return "The message is sent in a moment."
}

// callbackCommand is a command with which an agent sets a callback.
const callbackCommand = `curl -H "Authorization: Bearer $ASKBACK_TOKEN" -H 'Content-Type: application/json' "$ASKBACK_URL/api/v1/asks" \
  -d '{"question": "Which database?", "options": ["PostgreSQL", "SQLite"], "callback_url": "https://agents.example.com/answers"}'`
