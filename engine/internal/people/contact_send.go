package people

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// The reasons why nothing is sent to a contact.
var (
	errContactRemoved = &askback.SendError{Err: errors.New("this contact was removed"), Final: true}
	errContactEnded   = &askback.SendError{
		Err: errors.New("the token or the log-in with which this contact was added has ended"), Final: true,
	}
)

// ContactAddress returns the address of a contact, for a message that is sent now. The error is an
// [askback.SendError] if the contact was removed or has ended.
func (e *Service) ContactAddress(ctx context.Context, id string, now time.Time) (string, error) {
	c, err := e.contacts.withID(ctx, e, id)
	if errors.Is(err, askback.ErrNotFound) {
		return "", errContactRemoved
	}
	if err != nil {
		return "", err
	}
	if valid, err := e.contactValid(ctx, c, now); err != nil || !valid {
		return "", cmp.Or(err, error(errContactEnded))
	}
	return c.address, nil
}

// ContactReplied records that an attempt to send to a contact ended with err. It removes a contact whose
// receiver is gone.
func (e *Service) ContactReplied(ctx context.Context, id string, err error, now time.Time) {
	sending, _ := errors.AsType[*askback.SendError](err)
	switch {
	case err == nil:
		if c, err := e.contacts.withID(ctx, e, id); err == nil {
			e.contacts.touch(c, now)
		}
	case sending != nil && sending.Gone:
		_, err := e.deleteContact(context.WithoutCancel(ctx), id, func(store.Record) bool { return true })
		if err != nil && !errors.Is(err, askback.ErrNotFound) {
			e.Log.Warn("a contact that is gone could not be removed", "contact", id, "error", err)
		}
	}
}
