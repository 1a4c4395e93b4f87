package people

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
)

// knownTime is how long a cached set of the people with a token is used. If a name is not in the set, the set
// is read again, but not more often than once in knownPause.
const (
	knownTime  = time.Minute
	knownPause = time.Second
)

// A tokenNames is a cache of the names of the people with a valid token.
type tokenNames struct {
	stale atomic.Bool // set if the names must be read again; atomic, because forget must not wait for read

	mu    sync.Mutex
	at    time.Time
	names map[string]bool
}

// knownPeople returns the names that belong to a person in the settings or the API, or with a valid token. It
// returns nil if there are no such people at all.
func (e *Service) knownPeople(ctx context.Context, s *current, names []string) ([]string, error) {
	inSettings := func(name string) bool {
		return slices.ContainsFunc(s.People, func(p askback.Person) bool { return p.Name == name }) ||
			slices.ContainsFunc(s.Receivers, func(r txn.Receiver) bool { return r.Person == name })
	}
	var rest []string
	for _, name := range names {
		if !inSettings(name) {
			rest = append(rest, name)
		}
	}
	if len(rest) == 0 {
		return names, nil
	}
	tokens, err := e.tokens.read(ctx, e, rest)
	if err != nil || len(s.People) == 0 && len(tokens) == 0 {
		return nil, err
	}
	known := []string{}
	for _, name := range names {
		if tokens[name] || inSettings(name) {
			known = append(known, name)
		}
	}
	return known, nil
}

// forget discards the cached names, so that the next call of read searches for tokens.
func (t *tokenNames) forget() { t.stale.Store(true) }

// read returns the names of the people with a valid token. It returns the cached names for knownTime, or for
// knownPause if a name in wanted is missing. The caller must not change the result.
func (t *tokenNames) read(ctx context.Context, e *Service, wanted []string) (map[string]bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	age := e.Clock().Sub(t.at)
	missing := slices.ContainsFunc(wanted, func(name string) bool { return !t.names[name] })
	if !t.stale.Swap(false) && t.names != nil && age >= 0 && (age < knownPause || age < knownTime && !missing) {
		return t.names, nil
	}
	names := map[string]bool{}
	err := e.EachToken(ctx, true, func(token askback.Token) {
		if token.Kind == askback.Responder || token.Kind == askback.Admin {
			names[token.Name] = true
		}
	})
	if err != nil {
		return nil, err
	}
	t.at, t.names = e.Clock(), names
	return names, nil
}
