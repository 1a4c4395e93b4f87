// Package revision shares asks among their readers instead of copying them.
package revision

import (
	"context"
	"sync"
	"time"

	"github.com/askback/askback"
)

// An Ask is an ask in its state after one commit. The engine, its cache and all callers share an Ask. So the
// ask and the values that it refers to must not be changed.
type Ask struct {
	*askback.Ask
	cache Cache

	mu   sync.Mutex
	base string // the base with which json was encoded
	json []byte // nil until it is needed
}

// A Cache stores revisions. A revision calls Grow with the size of its JSON in bytes when it begins to keep
// the JSON.
type Cache interface {
	Grow(a *Ask, size int)
}

// New returns a revision that refers to a. If cache is nil, the revision keeps no JSON.
func New(a *askback.Ask, cache Cache) *Ask { return &Ask{Ask: a, cache: cache} }

// AppendJSON appends the ask as JSON, with the address of its page on the server at base; see
// [askback.Ask.WithPageURL]. If the ask is settled and has a cache, its JSON for the first base is encoded
// once. The JSON is the same for all principals that may read the ask.
func (a *Ask) AppendJSON(b []byte, base string) ([]byte, error) {
	if !a.Settled() {
		return a.encode(b, base)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.json == nil {
		start := len(b)
		b, err := a.encode(b, base)
		if err == nil && a.cache != nil {
			a.base, a.json = base, append([]byte(nil), b[start:]...)
			a.cache.Grow(a, len(a.json))
		}
		return b, err
	}
	if a.base != base {
		return a.encode(b, base)
	}
	return append(b, a.json...), nil
}

func (a *Ask) encode(b []byte, base string) ([]byte, error) {
	return a.WithPageURL(base).AppendJSON(b)
}

// A Source returns revisions to one principal, with the permissions and the errors of its
// [askback.Client].
type Source interface {
	// AskRevision is like [askback.Asker.Ask].
	AskRevision(ctx context.Context, r askback.Request) (*Ask, error)
	// WaitRevision returns the ask when it is settled, or in its current state when the limit ends the wait.
	// If ctx ends first, the error is the cause of ctx.
	WaitRevision(ctx context.Context, id string, l Limit) (*Ask, error)
	// AnswerRevision is like [askback.Inbox.Answer]. If the error is nil, the ask is not nil. If the error is
	// [askback.ErrSettled], the ask is usually not nil.
	AnswerRevision(ctx context.Context, id string, a askback.Answer) (*Ask, error)
}

// A Limit ends a wait without an error.
type Limit struct {
	Time time.Duration   // the maximum time of the wait; 0 does not wait
	Stop context.Context // ends the wait when it is cancelled, unless it is nil
}

// Of returns the [Source] in c, or else a Source that copies the asks of c.
func Of(c askback.Client) Source {
	if s, ok := In[Source](c); ok {
		return s
	}
	return copies{c}
}

// In returns c as a T. If c is not a T, it returns the first client that c wraps and that is a T. A client
// that wraps another client returns the other client from its method Unwrap, unless it changes the effect of
// the methods of T.
func In[T any](c askback.Client) (T, bool) {
	for {
		if t, ok := c.(T); ok {
			return t, true
		}
		outer, ok := c.(interface{ Unwrap() askback.Client })
		if !ok {
			var none T
			return none, false
		}
		c = outer.Unwrap()
	}
}

// copies is the [Source] for a client whose methods return copies of asks.
type copies struct{ askback.Client }

// AskRevision implements [Source].
func (c copies) AskRevision(ctx context.Context, r askback.Request) (*Ask, error) {
	return Copy(c.Ask(ctx, r))
}

// AnswerRevision implements [Source].
func (c copies) AnswerRevision(ctx context.Context, id string, a askback.Answer) (*Ask, error) {
	return Copy(c.Answer(ctx, id, a))
}

// WaitRevision implements [Source].
func (c copies) WaitRevision(ctx context.Context, id string, l Limit) (*Ask, error) {
	if l.Time == 0 {
		return Copy(c.Get(ctx, id))
	}
	limited, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	if l.Stop != nil {
		defer context.AfterFunc(l.Stop, cancel)()
	}
	a, err := Copy(c.Wait(limited, id))
	if a != nil && limited.Err() != nil && ctx.Err() == nil {
		return a, nil
	}
	return a, err
}

// Copy returns a revision of a, and err. If a has no id, the revision is nil.
func Copy(a askback.Ask, err error) (*Ask, error) {
	if a.ID == "" {
		return nil, err
	}
	return New(&a, nil), err
}
