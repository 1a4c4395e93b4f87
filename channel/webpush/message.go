package webpush

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/message/notice"
)

// A message is the data that the service worker of the pages receives. The service worker shows the message
// as a notification, which replaces an earlier notification with the same tag.
type message struct {
	Tag   string `json:"tag"`   // the id of the ask
	Title string `json:"title"` // Askback's own words, with the question or the call in quotation marks
	Body  string `json:"body"`
	Path  string `json:"path"` // address of the page that a click opens
	// Urgent is true for a dangerous call. The notification then stays until it is clicked.
	Urgent bool `json:"urgent,omitempty"`
	// Settled is true if the ask needs no answer any more.
	Settled bool `json:"settled,omitempty"`
}

// render returns the JSON of the message about an ask. If the message with the whole ask is longer than
// maxMessage, render returns a short form (F3).
func render(event askback.EventType, a askback.Ask) ([]byte, error) {
	switch {
	case a.Settled():
		return fits(a.ID, notice.Settled(a, true, false), notice.Settled(a, false, false))
	case event == askback.EventQuestionReassigned:
		return fits(a.ID, notice.Reassigned(a))
	}
	return fits(a.ID, notice.Pending(a, nil), notice.Short(a, true), notice.Short(a, false))
}

// fits returns the JSON of the first of forms that is at most maxMessage long. The last form has no foreign
// text, so it always fits.
func fits(id string, forms ...notice.Message) (b []byte, err error) {
	for _, m := range forms {
		m.Footer = nil // a click opens the page
		b, err = marshal(message{
			Tag: id, Title: m.Title.String(), Body: m.Text(notice.Plain), Path: askback.PagePath(id), Urgent: m.Urgent,
			Settled: m.Settling,
		})
		if err != nil || len(b) <= maxMessage {
			return b, err
		}
	}
	return b, nil
}

// marshal is like json.Marshal, but does not escape <, > and &. Each escape would take six bytes.
func marshal(m message) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return []byte(strings.TrimSpace(b.String())), err
}

// topic returns the topic of messages about an ask. A push service replaces an undelivered message by the
// next message with the same topic. The topic has 32 characters of base64url (RFC 8030, section 5.4), and
// does not reveal the ask to the service.
func topic(id string) string {
	sum := sha256.Sum256([]byte("askback topic " + id))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}
