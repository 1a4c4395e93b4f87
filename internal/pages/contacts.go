package pages

import "github.com/askback/askback/internal/text/view"

// ContactsPath is the address of the list of the places where people get asks.
const ContactsPath = "/contacts"

// A ContactList is the content of the contacts page.
type ContactList struct {
	Contacts []view.Contact
	All      bool              // whether the list has the contacts of all people
	Chats    []Chat            // channels whose chats can be linked here
	PushKey  string            // key with which browsers subscribe; "" if browsers cannot subscribe
	CanAdd   bool              // whether the server has chats that can be linked, or notifications of browsers
	Codes    bool              // whether the connection is secure enough for codes
	Code     *view.ContactCode // the new code, or nil
	Result   *ContactResult    // result of a form, or nil
}

// A Chat is a channel whose chats are linked by a code.
type Chat struct {
	Channel string // value that the form sends
	Name    string // "Telegram"
}

// A ContactResult is the result of a form.
type ContactResult struct {
	Good   bool
	Word   string    // the result in a word or two
	Detail view.Text // sentence about the result
}
