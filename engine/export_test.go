package engine

import (
	"context"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// CommitEffect commits an effect of an ask. No machine has such effects yet.
func (e *Engine) CommitEffect(ctx context.Context, ask, id string, due time.Time) error {
	return e.update(ctx, func(t *tx) error {
		a, err := t.askNow(ask)
		if err != nil {
			return err
		}
		a.changed = true
		t.change.Effects = append(t.change.Effects, store.Effect{
			ID: id, Kind: "test", SubjectKind: kindAsk, Subject: ask, Stream: a.row.Stream, Due: due, Created: t.now, Data: []byte(`{}`),
		})
		return nil
	})
}

// KeyedMutex is the mutex that updates use, for its own test.
type KeyedMutex struct{ keyedMutex }

// NewKeyedMutex returns a mutex of which no id is locked.
func NewKeyedMutex() *KeyedMutex {
	return &KeyedMutex{keyedMutex{waiting: map[string][]chan struct{}{}}}
}

// Lock locks an id.
func (m *KeyedMutex) Lock(ctx context.Context, id string) error { return m.lock(ctx, id) }

// Unlock unlocks an id.
func (m *KeyedMutex) Unlock(id string) { m.unlock(id) }

// Locked returns how many ids are locked.
func (m *KeyedMutex) Locked() int { return len(m.waiting) }

// EventData returns the data of an event about an ask.
func EventData(e *Engine, h lifecycle.Event, a askback.Ask) ([]byte, error) {
	return e.eventData(h, &askRecord{state: lifecycle.AskState{Ask: a}})
}

// Fingerprint returns the digest by which a repeat of a request with the same key is
// recognized, and the ask that the request opens.
func Fingerprint(e *Engine, who askback.Principal, r askback.Request) (string, askback.Ask, error) {
	n := &newAsk{}
	err := e.As(who).(*client).prepare(context.Background(), n, r)
	return n.asked.Request, n.asked.Ask, err
}

// AskBytes returns the estimate of the memory of an ask, in bytes.
func AskBytes(a askback.Ask) int { return askBytes(&a) }

// FirstCursor is the position before the first event.
var FirstCursor = position{}.cursor()

// Clean deletes old records once.
func (e *Engine) Clean(ctx context.Context) error { return e.clean(ctx) }

// CursorAfter is cursorAfter.
var CursorAfter = cursorAfter

// ReplaceDirectory applies an empty directory of the API as that of a committed version.
func (e *Engine) ReplaceDirectory(version int64) {
	e.replaceDirectory(storedDirectory{Format: 1}, version)
}

// QuietUntil returns the end of the quiet hours of a person, as the engine uses it.
func QuietUntil(p askback.Person, now time.Time) time.Time {
	c, _ := combined(Settings{People: []askback.Person{p}}, &storedDirectory{})
	return c.quiet[p.Name].until(now)
}
