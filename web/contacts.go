package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pages"
	"github.com/askback/askback/internal/server/login"
	"github.com/askback/askback/internal/text/view"
)

// contacts lists the chats and browsers where the person gets asks. An admin sees the chats and browsers of
// all people.
func (s *site) contacts(w http.ResponseWriter, r request) error {
	return s.renderContacts(w, r, http.StatusOK, pages.ContactList{})
}

// renderContacts sends the list, with the result of a form.
func (s *site) renderContacts(w http.ResponseWriter, r request, status int, list pages.ContactList) error {
	all, err := r.client.Contacts(r.Context())
	if err != nil {
		return err
	}
	place := func(c askback.Contact) string { // the person's own contacts first
		if c.Person == r.principal.Name {
			return ""
		}
		return c.Person
	}
	slices.SortStableFunc(all, func(a, b askback.Contact) int { return cmp.Compare(place(a), place(b)) })
	for _, c := range all {
		list.Contacts = append(list.Contacts, view.OfContact(c, s.titles))
	}
	list.All = r.principal.Kind == askback.Admin
	list.CanAdd = len(s.chats) > 0 || s.push != nil
	list.Codes, list.PushKey = login.Secure(r.Request), s.pushKey(r.Context())
	for _, channel := range s.chats {
		list.Chats = append(list.Chats, pages.Chat{Channel: channel, Name: s.titles.Of(channel)})
	}
	return s.render(w, r.Request, status, pages.Contacts(r.frame, list))
}

// contactCode makes a code that links a chat to the person. Only this reply has the code, and no cache keeps
// the code. Without https, a browser sends the cookie to every port of the host, so another program may have
// the cookie. A linked chat answers for longer than a log-in. Without https, the code is therefore made in a
// terminal (T28).
func (s *site) contactCode(w http.ResponseWriter, r request) error {
	w.Header().Set("Cache-Control", "no-store")
	values, err := readValues(w, r.Request, maxEmptyForm)
	if err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	channel := values.Get("channel")
	if !slices.Contains(s.chats, channel) {
		return errForm
	}
	if !login.Secure(r.Request) {
		return s.renderContacts(w, r, http.StatusUnprocessableEntity, pages.ContactList{Result: &pages.ContactResult{
			Word:   "No code was created",
			Detail: view.RawText("Without https, create the code in a terminal, with the command below.").Text(),
		}})
	}
	code, err := r.client.ContactCode(r.Context(), channel)
	if err != nil {
		return err
	}
	return s.renderContacts(w, r, http.StatusCreated, pages.ContactList{Code: view.OfContactCode(code, s.titles)})
}

// removeContact removes a contact. The reply is the list without the contact.
func (s *site) removeContact(w http.ResponseWriter, r request) error {
	if _, err := readValues(w, r.Request, maxEmptyForm); err != nil {
		return err
	}
	if err := s.reauthenticate(r); err != nil {
		return err
	}
	removed, err := r.client.DeleteContact(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, askback.ErrNotFound):
		return s.renderContacts(w, r, http.StatusNotFound, pages.ContactList{Result: &pages.ContactResult{
			Word: "Nothing has changed", Detail: view.RawText("This contact was removed before.").Text(),
		}})
	case err != nil:
		return err
	}
	c := view.OfContact(removed, s.titles)
	return s.renderContacts(w, r, http.StatusOK, pages.ContactList{Result: &pages.ContactResult{
		Good: true, Word: "Removed", Detail: view.RawText(c.Channel + " " + c.Label.String()).Text(),
	}})
}
