package people

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/auth"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// contacts is a cache of all contacts of the store. The contacts are read when first needed, so that an ask
// reads no record for each of its receivers. The cache stays current, because no other process uses the
// store.
type contacts struct {
	// held for reading while a change of contacts is committed, and for writing while all are read
	changing sync.RWMutex
	mu       sync.Mutex
	loaded   bool
	byID     map[string]*contact
}

// A contactEnd is the cached time at which the binding of a contact ends.
type contactEnd struct {
	known      bool
	generation int       // the result of [auth.Authority.Generation] when the end was read
	at         time.Time // when the binding ends; zero if no end is known
	revoked    bool
}

// changeContacts commits a change of contacts. Such changes are rare, so the index then discards its
// contacts, and reads all contacts when it is next used.
func (e *Service) changeContacts(ctx context.Context, fn func(*txn.Tx) error) error {
	e.contacts.changing.RLock()
	defer e.contacts.changing.RUnlock()
	err := e.Update(ctx, fn)
	if err == nil || errors.Is(err, askback.ErrUnknown) {
		e.contacts.mu.Lock()
		e.contacts.loaded = false
		e.contacts.mu.Unlock()
	}
	return err
}

// load reads all contacts unless they are in memory. It keeps the uses that are not yet stored.
func (c *contacts) load(ctx context.Context, e *Service) error {
	if c.isLoaded() {
		return nil
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	if c.isLoaded() {
		return nil
	}
	byID := map[string]*contact{}
	for row, err := range e.Rows(ctx, store.Query{Kind: KindContact, Limit: store.MaxList}) {
		if err != nil {
			return txn.FromStore(err)
		}
		one, err := e.decodeContact(row)
		if err != nil {
			e.LogUnreadable(row, err)
			continue
		}
		byID[one.ID] = one
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, one := range byID {
		if old := c.byID[id]; old != nil && old.used.After(one.used) {
			one.used = old.used
		}
	}
	c.byID, c.loaded = byID, true
	return nil
}

func (c *contacts) isLoaded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded
}

// list returns the contacts of a person, or all contacts if person is "".
func (c *contacts) list(ctx context.Context, e *Service, person string) (all []*contact, err error) {
	if err := c.load(ctx, e); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.byID {
		if person == "" || one.Person == person {
			all = append(all, one)
		}
	}
	return all, nil
}

// withID returns the contact with an id. The error is [askback.ErrNotFound] if the id is unknown.
func (c *contacts) withID(ctx context.Context, e *Service, id string) (*contact, error) {
	if err := c.load(ctx, e); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.byID[id]; one != nil {
		return one, nil
	}
	return nil, askback.ErrNotFound
}

// at returns the contact with an address. The error is [askback.ErrNotFound] if the address is unknown.
func (c *contacts) at(ctx context.Context, e *Service, channel, address string) (*contact, error) {
	if err := c.load(ctx, e); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.byID {
		if one.Channel == channel && one.address == address && address != "" {
			return one, nil
		}
	}
	return nil, askback.ErrNotFound
}

// view returns a contact as clients see it, without Ended.
func (c *contacts) view(one *contact) askback.Contact {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := one.Contact
	out.UsedAt = one.used
	return out
}

// touch records that a contact was used.
func (c *contacts) touch(one *contact, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.After(one.used) {
		one.used = now
	}
}

// contactValid reports whether the address of a contact is known and its binding is valid. It reads tokens
// only at the first call for the contact, and again after a token was revoked.
func (e *Service) contactValid(ctx context.Context, c *contact, now time.Time) (bool, error) {
	if c.address == "" {
		return false, nil
	}
	generation := e.Generation()
	e.contacts.mu.Lock()
	ends := c.ends
	e.contacts.mu.Unlock()
	if !ends.known || ends.generation != generation {
		var err error
		if ends, err = e.bindingEnd(ctx, c.binding); err != nil {
			return false, err
		}
		ends.known, ends.generation = true, generation
		e.contacts.mu.Lock()
		c.ends = ends
		e.contacts.mu.Unlock()
	}
	if ends.revoked || !ends.at.IsZero() && !now.Before(ends.at) {
		return false, nil
	}
	switch {
	case c.root == "": // the program itself added the contact, without a token
		return e.IsPerson(ctx, c.Person)
	case auth.IsSignIn(c.root):
		return e.RootValid(ctx, c.root, c.Person, now)
	}
	return true, nil
}

// bindingEnd reads when a binding ends, and whether its token was revoked.
func (e *Service) bindingEnd(ctx context.Context, b binding) (end contactEnd, err error) {
	if end.at, err = e.RootEnd(ctx, b.root); err == nil {
		end.revoked, err = e.IsRevoked(ctx, b.token)
	}
	return end, err
}

// StoreContactUses stores the last uses of contacts that are not yet stored.
func (e *Service) StoreContactUses(ctx context.Context) error {
	e.contacts.mu.Lock()
	uses := map[string]time.Time{}
	for id, one := range e.contacts.byID {
		if !one.used.Equal(one.stored) {
			uses[id] = one.used
		}
	}
	e.contacts.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := e.Update(ctx, func(t *txn.Tx) error {
		for id, used := range uses {
			row, err := e.Store.Read(t.Context(), KindContact, id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			var s ContactState
			if err := json.Unmarshal(row.State, &s); err != nil {
				return err
			}
			s.Used = used.UnixMilli()
			if row.State, err = json.Marshal(s); err != nil {
				return err
			}
			row.Fixed, row.Updated = nil, t.Now()
			t.Put(row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.contacts.mu.Lock()
	defer e.contacts.mu.Unlock()
	for id, used := range uses {
		if one := e.contacts.byID[id]; one != nil {
			one.stored = used
		}
	}
	return nil
}
