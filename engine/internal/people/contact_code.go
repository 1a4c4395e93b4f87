package people

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/internal/ids"
	"github.com/askback/askback/internal/limits"
	"github.com/askback/askback/store"
)

// kindContactCode is the kind of the records of codes that link contacts. They have no state
// machine and are deleted when they are used or due. Only hashes of codes are stored.
const kindContactCode = "contact_code"

// codeState is the state of the record of a code.
type codeState struct {
	Root  string `json:"root,omitempty"`
	Token string `json:"token,omitempty"`
}

// codeBytes is the number of random bytes of a code. A code has 16 letters and digits, which a person can
// type. A code cannot be guessed, even by a program that has its hash.
const codeBytes = 10

// codeEncoding has no digit that looks like a letter.
var codeEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

func newCode(r io.Reader) (string, error) {
	b := make([]byte, codeBytes)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("make a code: %w", err)
	}
	return codeEncoding.EncodeToString(b), nil
}

// codeKey returns the key of the record of a code for a channel. It ignores the case, and the spaces and
// hyphens that a person types.
func codeKey(channel, code string) string {
	code = strings.Join(strings.FieldsFunc(strings.ToUpper(code), func(r rune) bool { return r == ' ' || r == '-' }),
		"")
	sum := sha256.Sum256([]byte(channel + "\x00" + code))
	return hex.EncodeToString(sum[:])
}

// ContactCode implements [askback.Contacts].
func (c *Client) ContactCode(ctx context.Context, channel string) (askback.ContactCode, error) {
	if err := c.Authorize(access.ActContacts); err != nil {
		return askback.ContactCode{}, err
	}
	to, ok := c.service.Channels[channel].(CodeChannel)
	if !ok {
		return askback.ContactCode{}, c.service.notLinked(channel)
	}
	b, err := c.binding(ctx)
	if err != nil {
		return askback.ContactCode{}, fmt.Errorf("make a code: %w", err)
	}
	var out askback.ContactCode
	err = c.service.Update(ctx, func(t *txn.Tx) error {
		if err := cmp.Or(t.Lock(kindContactCode+" of "+c.Who.Name), dropOldCodes(t, c.Who.Name)); err != nil {
			return err
		}
		code, err := newCode(c.service.Rand)
		if err != nil {
			return err
		}
		id, err := c.service.IDs.New(ids.ContactCode, t.Now())
		if err != nil {
			return err
		}
		state, err := json.Marshal(codeState{b.root, b.token})
		out = askback.ContactCode{Code: code, Channel: channel, ExpiresAt: t.Now().Add(limits.ContactCodeTime)}
		t.Put(store.Record{
			Kind: kindContactCode, ID: id, Key: codeKey(channel, code), Open: true, Owner: c.Who.Name, Status: channel,
			Created: t.Now(), Updated: t.Now(), Due: out.ExpiresAt, Fixed: []byte(`{"v":1}`), State: state,
		})
		return err
	})
	if err != nil {
		return askback.ContactCode{}, fmt.Errorf("make a code: %w", err)
	}
	out.To, out.URL = to.CodeTarget(out.Code)
	return out, nil
}

// dropOldCodes deletes the oldest codes of a person, so that the person can have another code.
func dropOldCodes(t *txn.Tx, person string) error {
	rows, err := t.DB.Store.List(t.Context(), store.Query{Kind: kindContactCode, Owner: person, Newest: true})
	if err != nil {
		return err
	}
	for _, row := range rows[min(len(rows), limits.MaxContactCodes-1):] {
		t.Delete(row)
	}
	return nil
}

// LinkContact adds the contact from which a person sent a code: an address with a label. The
// code can be used once. The error is [askback.ErrNotFound] if the code is unknown, used or
// expired, and [askback.ErrTooFast] after several such codes from one address.
func (e *Service) LinkContact(ctx context.Context, channel, code, address, label string) (askback.Contact, error) {
	now := e.Clock()
	if err := e.guesses.check(channel+"\x00"+address, now); err != nil {
		return askback.Contact{}, err
	}
	var made *contact
	err := e.changeContacts(ctx, func(t *txn.Tx) error {
		row, err := e.Store.ReadKey(t.Context(), kindContactCode, codeKey(channel, code))
		if err != nil {
			return err
		}
		var s codeState
		if s, err = txn.Readable(s, json.Unmarshal(row.State, &s)); err != nil {
			return err
		}
		b := binding{root: s.Root, token: s.Token}
		valid, err := e.RootValid(t.Context(), b.root, row.Owner, t.Now())
		if err != nil {
			return err
		}
		revoked, err := e.IsRevoked(t.Context(), b.token)
		if err != nil {
			return err
		}
		if !valid || revoked || !t.Now().Before(row.Due) {
			return askback.ErrNotFound
		}
		c := &contact{
			Contact: askback.Contact{Person: row.Owner, Channel: channel, Label: label}, address: address, binding: b,
		}
		t.Delete(row)
		made, err = e.putContact(t, c)
		return err
	})
	switch {
	case errors.Is(err, askback.ErrNotFound):
		e.guesses.add(channel+"\x00"+address, now)
		return askback.Contact{}, askback.ErrNotFound
	case err != nil:
		return askback.Contact{}, fmt.Errorf("link contact: %w", err)
	}
	return made.Contact, nil
}

const (
	maxGuesses = 5                // the maximum number of wrong codes from one address within guessTime
	guessTime  = 10 * time.Minute // the time for which a wrong code counts, which is the lifetime of a code
	// the maximum number of addresses in memory: if there are more, some are removed, because codes cannot be
	// guessed anyway
	maxGuessers  = 10_000
	guessForgets = maxGuessers / 10 // the number of addresses that are removed at a time
)

// guesses records the times of wrong codes, keyed by the address that sent them.
type guesses struct {
	mu  sync.Mutex
	all map[string][]time.Time
}

// check returns an [askback.RetryError] if an address has sent too many wrong codes.
func (g *guesses) check(address string, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	times := slices.DeleteFunc(g.all[address], func(at time.Time) bool { return now.Sub(at) >= guessTime })
	if len(times) == 0 {
		delete(g.all, address)
		return nil
	}
	g.all[address] = times
	if len(times) < maxGuesses {
		return nil
	}
	return &askback.RetryError{
		Err: askback.ErrTooFast, Why: "too many wrong codes; wait ten minutes and get a new one",
		After: times[0].Add(guessTime).Sub(now),
	}
}

// add records a wrong code. If guesses has too many addresses, add removes some of them.
func (g *guesses) add(address string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string][]time.Time{}
	}
	if len(g.all) >= maxGuessers {
		forgotten := 0
		for old, times := range g.all {
			if forgotten++; forgotten > guessForgets && now.Sub(times[len(times)-1]) < guessTime {
				continue
			}
			delete(g.all, old)
		}
	}
	g.all[address] = append(g.all[address], now)
}
