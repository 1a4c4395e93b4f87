package pages

import "github.com/askback/askback/internal/text/view"

// ContactsPath is the address of the list of the places where people get asks.
const ContactsPath = "/contacts"

// A ContactList is the content of the page of contacts.
type ContactList struct {
	Contacts []view.Contact
	All      bool              // those of all people
	Chats    []Chat            // that can be linked here
	PushKey  string            // with which browsers subscribe; "": they cannot
	CanAdd   bool              // the server has chats that can be linked, or notifications of browsers
	Codes    bool              // the connection may carry codes
	Code     *view.ContactCode // the new code, or nil
	Result   *ContactResult    // what became of a form, or nil
}

// A Chat is a channel whose chats are linked by a code.
type Chat struct {
	Channel string // as the form sends it
	Name    string // "Telegram"
}

// A ContactResult is what became of a form.
type ContactResult struct {
	Good   bool
	Word   string    // the result in a word or two
	Detail view.Text // a sentence about it
}
