package view

import (
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
)

// A Contact is an [askback.Contact] for display.
type Contact struct {
	ID      Text
	Person  Text
	Channel string // kind of contact: "Telegram" or "Browser"
	Label   Text   // name of the chat, or the browser and its system; may be empty
	Added   time.Time
	Used    time.Time // zero if no use is known
	Ended   bool      // whether the contact gets no more messages
	Browser bool      // whether the contact shows notifications of this site
}

// OfContact returns the view of a contact, with the title of its channel.
func OfContact(c askback.Contact, titles Titles) Contact {
	return Contact{
		ID: safetext.Line(c.ID), Person: safetext.Name(c.Person), Channel: titles.Of(c.Channel),
		Label: safetext.Line(c.Label), Added: c.CreatedAt, Used: c.UsedAt, Ended: c.Ended,
		Browser: c.Channel == browserChannel,
	}
}

// browserChannel is the channel of the contacts that are browsers.
const browserChannel = "webpush"

// A ContactCode is an [askback.ContactCode] for display.
type ContactCode struct {
	Channel string // "Telegram"
	Send    Text   // text to send
	To      Text   // recipient of the text; may be empty
	URL     string // address of a page that sends the text; "" if there is no such page
	Until   time.Time
}

// OfContactCode returns the view of a code, with the title of its channel. It omits an address that does not
// use https.
func OfContactCode(c askback.ContactCode, titles Titles) *ContactCode {
	v := &ContactCode{
		Channel: titles.Of(c.Channel), Send: safetext.Line("/start " + c.Code), To: safetext.Line(c.To),
		Until: c.ExpiresAt,
	}
	if strings.HasPrefix(c.URL, "https://") {
		v.URL = c.URL
	}
	return v
}
