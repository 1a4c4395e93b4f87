package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/store"
)

// contactsFor returns the contacts of the people who may answer an ask, oldest first.
func (e *Engine) contactsFor(ctx context.Context, a *askback.Ask, now time.Time) (all []*contact, err error) {
	if !e.hasContacts {
		return nil, nil
	}
	list, err := e.contacts.list(ctx, e, "")
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if e.channels[c.Channel] == nil || !a.Addressed(c.Person) {
			continue
		}
		valid, err := e.contactValid(ctx, c, now)
		if err != nil {
			return nil, err
		}
		if valid {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *contact) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// The reasons why nothing is sent to a contact.
var (
	errContactRemoved = &askback.SendError{Err: errors.New("this contact was removed"), Final: true}
	errContactEnded   = &askback.SendError{Err: errors.New("the token or the sign-in with which this contact was added has ended"), Final: true}
)

// contactOf returns the contact to which a delivery is sent, and sets its address. It returns
// nil if the receiver is no contact. A delivery to a contact that was removed or has ended is
// given up.
func (e *Engine) contactOf(ctx context.Context, d *outgoing, now time.Time) (*contact, error) {
	if !e.hasContacts || d.Channel == channelWebhook || !ids.Valid(ids.Contact, d.Target) {
		return nil, nil
	}
	c, err := e.contacts.withID(ctx, e, d.Target)
	if errors.Is(err, askback.ErrNotFound) {
		return nil, errContactRemoved
	}
	if err != nil {
		return nil, err
	}
	if valid, err := e.contactValid(ctx, c, now); err != nil || !valid {
		return nil, cmp.Or(err, error(errContactEnded))
	}
	d.address = c.address
	return c, nil
}

// contactReplied records that an attempt to send to a contact ended with err. A contact whose
// receiver is gone is removed. For nil, it does nothing.
func (e *Engine) contactReplied(ctx context.Context, c *contact, err error, now time.Time) {
	if c == nil {
		return
	}
	sending, _ := errors.AsType[*askback.SendError](err)
	switch {
	case err == nil:
		e.contacts.touch(c, now)
	case sending != nil && sending.Gone:
		_, err := e.deleteContact(context.WithoutCancel(ctx), c.ID, func(store.Record) bool { return true })
		if err != nil && !errors.Is(err, askback.ErrNotFound) {
			e.log.Warn("a contact that is gone could not be removed", "contact", c.ID, "error", err)
		}
	}
}
