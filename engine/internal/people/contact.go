package people

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// KindContact is the kind of the records of contacts. They have no state machine.
const KindContact = "contact"

// An AddressChannel is a [txn.Channel] to contacts, which people add by their address.
type AddressChannel interface {
	txn.Channel
	// CheckAddress returns the stored form of an address. Equal addresses have the same form. The error may
	// be an [askback.Invalid].
	CheckAddress(address string) (string, error)
}

// A CodeChannel is a [txn.Channel] to contacts that people link by a code. The channel calls LinkContact of
// the engine with the code and the place from which it was sent.
type CodeChannel interface {
	txn.Channel
	// CodeTarget returns where to send a code, and the address of a page that sends it.
	// Both may be "".
	CodeTarget(code string) (to, url string)
}

// A contact is an [askback.Contact] with its address, its binding and its last use. It is not changed after
// it was published, except for the fields that the mutex of [contacts] guards.
type contact struct {
	askback.Contact // the field Ended is not set
	address         string
	binding

	// Guarded by the mutex of [contacts].
	used   time.Time // the time of the last use, in place of the field UsedAt
	stored time.Time // the time of use in the store
	ends   contactEnd
}

// A binding identifies the token or sign-in on which a contact or a code depends.
type binding struct {
	root  string // the result of [Service.Root] for the token or sign-in
	token string // the token of the call that added the contact, or "" if the program itself added the contact
}

// ContactState is the stored state of a contact. Times are in milliseconds since 1970.
type ContactState struct {
	Format  int    `json:"v"`
	Channel string `json:"channel"`
	Label   string `json:"label"`
	Address string `json:"address"` // sealed
	Root    string `json:"root,omitempty"`
	Token   string `json:"token,omitempty"`
	Used    int64  `json:"used,omitempty"`
}

// decodeContact returns the contact of a record. If the address cannot be decrypted, decodeContact logs the
// error and the address is "". Such a contact can only be listed and removed.
func (e *Service) decodeContact(row store.Record) (*contact, error) {
	var s ContactState
	if _, err := txn.Readable(s, json.Unmarshal(row.State, &s)); err != nil {
		return nil, err
	}
	c := &contact{
		Contact: askback.Contact{
			ID: row.ID, Person: row.Owner, Channel: s.Channel, Label: s.Label, CreatedAt: row.Created,
		},
		binding: binding{root: s.Root, token: s.Token},
	}
	if s.Used != 0 {
		c.used = time.UnixMilli(s.Used).UTC()
	}
	c.UsedAt, c.stored = c.used, c.used
	address, err := e.Sealer.Open(s.Address, row.ID)
	if err != nil {
		e.Log.Error("the address of a contact cannot be decrypted: remove it, and add it again", "contact", row.ID,
			"error", err)
	}
	c.address = address
	return c, nil
}

// encodeContact returns the record of a contact, which replaces the record with this version.
func (e *Service) encodeContact(c *contact, key string, version int64, now time.Time) (store.Record, error) {
	sealed, err := e.Sealer.Seal(c.address, c.ID)
	if err != nil {
		return store.Record{}, err
	}
	s := ContactState{Format: 1, Channel: c.Channel, Label: c.Label, Address: sealed, Root: c.root, Token: c.token}
	if !c.used.IsZero() {
		s.Used = c.used.UnixMilli()
	}
	row := store.Record{
		Kind: KindContact, ID: c.ID, Version: version, Key: key, Open: true, Owner: c.Person, Status: c.Channel,
		Created: c.CreatedAt, Updated: now,
	}
	if version == 0 {
		row.Fixed = []byte(`{"v":1}`)
	}
	row.State, err = json.Marshal(s)
	return row, err
}

// contactKey returns the key of the record of a contact. It does not reveal the address.
func (e *Service) contactKey(channel, address string) (string, error) {
	return e.Sealer.Fingerprint(channel + "\x00" + address)
}

// putContact adds a contact to a tx, or changes the contact with its address. If that contact belongs to
// another person, putContact deletes that contact, because the address now belongs to this person. The error
// is an [askback.Invalid] if the person has too many contacts.
func (e *Service) putContact(t *txn.Tx, c *contact) (*contact, error) {
	key, err := e.contactKey(c.Channel, c.address)
	if err == nil {
		err = cmp.Or(t.Lock(KindContact+" "+key), t.Lock(KindContact+" of "+c.Person))
	}
	if err != nil {
		return nil, err
	}
	old, err := e.Store.ReadKey(t.Context(), KindContact, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	made := *c
	if old.Version != 0 && old.Owner == c.Person {
		before, err := e.decodeContact(old)
		if err != nil {
			return nil, err
		}
		made.ID, made.CreatedAt, made.used = before.ID, before.CreatedAt, before.used
	} else {
		if old.Version != 0 {
			t.Delete(old)
			old.Version = 0
		}
		if made.ID, err = e.IDs.New(ids.Contact, t.Now()); err != nil {
			return nil, err
		}
		made.CreatedAt = t.Now()
		if err := checkContacts(t, c.Person); err != nil {
			return nil, err
		}
	}
	made.UsedAt = made.used
	row, err := e.encodeContact(&made, key, old.Version, t.Now())
	if err != nil {
		return nil, err
	}
	t.Put(row)
	return &made, nil
}

// checkContacts returns an error if a person cannot have another contact.
func checkContacts(t *txn.Tx, person string) error {
	n, err := t.DB.Store.CountOpen(t.Context(), KindContact, person, limits.MaxContacts)
	if err == nil && n >= limits.MaxContacts {
		err = askback.Invalid{{
			Detail: fmt.Sprintf("you have %d contacts, which is the maximum", limits.MaxContacts),
			Fix:    "remove contacts that you do not use: askback channel list",
		}}
	}
	return err
}

// binding returns the binding of contacts that this principal adds.
func (c *Client) binding(ctx context.Context) (binding, error) {
	root, err := c.service.Root(ctx, c.Who.Token)
	return binding{root: root, token: c.Who.Token}, err
}

// Contacts implements [askback.Contacts].
func (c *Client) Contacts(ctx context.Context) ([]askback.Contact, error) {
	if err := c.Authorize(access.ActContacts); err != nil {
		return nil, err
	}
	person := c.Who.Name
	if access.Allowed(c.Who.Kind, access.ActContacts, access.Unrelated) {
		person = ""
	}
	list, err := c.service.contacts.list(ctx, c.service, person)
	if err != nil {
		return nil, fmt.Errorf("contacts: %w", err)
	}
	out := make([]askback.Contact, len(list))
	now := c.service.Clock()
	for i, one := range list {
		valid, err := c.service.contactValid(ctx, one, now)
		if err != nil {
			return nil, fmt.Errorf("contacts: %w", err)
		}
		out[i] = c.service.contacts.view(one)
		out[i].Ended = !valid
	}
	slices.SortFunc(out, func(a, b askback.Contact) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// AddContact implements [askback.Contacts].
func (c *Client) AddContact(ctx context.Context, r askback.ContactRequest) (askback.Contact, error) {
	if err := cmp.Or(c.Authorize(access.ActContacts), r.Check()); err != nil {
		return askback.Contact{}, err
	}
	channel, ok := c.service.Channels[r.Channel].(AddressChannel)
	if !ok {
		return askback.Contact{}, c.service.notLinked(r.Channel)
	}
	address, err := channel.CheckAddress(r.Address)
	if err != nil {
		return askback.Contact{}, err
	}
	b, err := c.binding(ctx)
	if err != nil {
		return askback.Contact{}, fmt.Errorf("add contact: %w", err)
	}
	made := &contact{
		Contact: askback.Contact{Person: c.Who.Name, Channel: r.Channel, Label: r.Label}, address: address, binding: b,
	}
	err = c.service.changeContacts(ctx, func(t *txn.Tx) (err error) {
		made, err = c.service.putContact(t, made)
		return err
	})
	if err != nil {
		return askback.Contact{}, fmt.Errorf("add contact: %w", err)
	}
	return made.Contact, nil
}

// notLinked returns the error for a request to add a contact or to make a code for a channel that does not
// support it.
func (e *Service) notLinked(channel string) error {
	p := askback.Problem{
		Pointer: "/channel", Detail: "is not set up on this server",
		Fix: "set channels." + channel + " in its settings",
	}
	switch e.Channels[channel].(type) {
	case CodeChannel:
		p.Detail, p.Fix = "a chat of this channel is linked by a code that you send from the chat",
			"askback channel link "+channel
	case AddressChannel:
		p.Detail, p.Fix = "a contact of this channel is added in its browser",
			"open the inbox in the browser that should show notifications"
	case nil:
	default:
		p.Detail, p.Fix = "this channel has no contacts; its receivers are in the settings file",
			"add a receiver under channels."+channel
	}
	return askback.Invalid{p}
}

// DeleteContact implements [askback.Contacts].
func (c *Client) DeleteContact(ctx context.Context, id string) (askback.Contact, error) {
	if err := c.Authorize(access.ActContacts); err != nil {
		return askback.Contact{}, err
	}
	removed, err := c.service.deleteContact(ctx, id, func(row store.Record) bool {
		return access.Allowed(c.Who.Kind, access.ActContacts, c.relationToContact(row.Owner))
	})
	if err != nil {
		return askback.Contact{}, fmt.Errorf("remove contact %s: %w", id, err)
	}
	return removed.Contact, nil
}

// relationToContact returns the relation of this principal to a contact of a person.
func (c *Client) relationToContact(person string) access.Relation {
	if c.Who.Name == person && c.Who.Kind != askback.Agent {
		return access.Owner
	}
	return access.Unrelated
}

// deleteContact deletes a contact if may returns true for its record. Otherwise the error is
// [askback.ErrNotFound].
func (e *Service) deleteContact(
	ctx context.Context, id string, may func(store.Record) bool,
) (removed *contact, err error) {
	err = e.changeContacts(ctx, func(t *txn.Tx) error {
		row, err := e.Store.Read(t.Context(), KindContact, id)
		if err != nil {
			return err
		}
		if !may(row) {
			return askback.ErrNotFound
		}
		t.Delete(row)
		removed, err = e.decodeContact(row)
		return err
	})
	return removed, err
}

// ContactAt returns the contact with an address, and records that it was used. The error is
// [askback.ErrNotFound] if no contact has the address, or if its token or sign-in has ended.
func (e *Service) ContactAt(ctx context.Context, channel, address string) (askback.Contact, error) {
	c, err := e.contactAt(ctx, channel, address)
	if err != nil {
		return askback.Contact{}, err
	}
	return e.contacts.view(c), nil
}

func (e *Service) contactAt(ctx context.Context, channel, address string) (*contact, error) {
	c, err := e.contacts.at(ctx, e, channel, address)
	if err != nil {
		return nil, err
	}
	now := e.Clock()
	if valid, err := e.contactValid(ctx, c, now); err != nil || !valid {
		return nil, cmp.Or(err, error(askback.ErrNotFound))
	}
	e.contacts.touch(c, now)
	return c, nil
}

// ContactPrincipal returns the contact with an address, and its person as a principal of the channel via. The
// error is the same as the error of [Service.ContactAt].
func (e *Service) ContactPrincipal(
	ctx context.Context, channel, address string, via askback.Channel,
) (askback.Principal, askback.Contact, error) {
	c, err := e.contactAt(ctx, channel, address)
	if err != nil {
		return askback.Principal{}, askback.Contact{}, err
	}
	return askback.Principal{
		Kind: askback.Responder, Name: c.Person, Channel: via, Token: c.root,
	}, e.contacts.view(c), nil
}

// RemoveContact removes the contact with an address, after its receiver refused further messages or was
// deleted. The error is [askback.ErrNotFound] if the address is unknown.
func (e *Service) RemoveContact(ctx context.Context, channel, address string) error {
	c, err := e.contacts.at(ctx, e, channel, address)
	if err != nil {
		return err
	}
	_, err = e.deleteContact(ctx, c.ID, func(store.Record) bool { return true })
	return err
}

// contactsFor returns the valid contacts of the people who may answer an ask, oldest first.
func (e *Service) contactsFor(ctx context.Context, a *askback.Ask, now time.Time) (all []*contact, err error) {
	if !e.hasContacts {
		return nil, nil
	}
	list, err := e.contacts.list(ctx, e, "")
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if e.Channels[c.Channel] == nil || !a.Addressed(c.Person) {
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
