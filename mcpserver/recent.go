package mcpserver

import (
	"sync"
	"time"
)

// maxRecent is the maximum number of keys, each of a few hundred bytes, in both maps of a recentSet. When the
// newer map has half this number of keys, it becomes the older map, and a new map begins.
const maxRecent = 8192

// A recentSet stores the keys of recent deliveries and calls, and drops the oldest keys. The key of a
// delivery has the number 1. The key of a call has the number of its last ask. A dropped key is looked up in
// the store, as after a restart.
type recentSet struct {
	mu       sync.Mutex
	now, old map[string]int
	// The times at which the maps now and old were begun.
	nowSince, oldSince time.Time
}

// newRecentSet returns an empty set.
func newRecentSet(now time.Time) recentSet { return recentSet{nowSince: now, oldSince: now} }

// covers reports whether the set still has every key that was added after at, unless the key
// was removed.
func (s *recentSet) covers(at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return at.After(s.oldSince)
}

// add adds a key with the number 1.
func (s *recentSet) add(key string) { s.put(key, 1) }

// has reports whether a key is in the set.
func (s *recentSet) has(key string) bool { return s.get(key) > 0 }

// remove removes a key.
func (s *recentSet) remove(key string) { s.put(key, 0) }

// get returns the number of a key, or 0 if the key is not in the set.
func (s *recentSet) get(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.now[key]; ok {
		return n
	}
	return s.old[key]
}

// put sets the number of a key.
func (s *recentSet) put(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = map[string]int{}
	}
	if len(s.now) >= maxRecent/2 {
		s.old, s.oldSince = s.now, s.nowSince
		s.now, s.nowSince = map[string]int{}, time.Now()
	}
	s.now[key] = n
}
