package mcpserver

import (
	"sync"
	"time"
)

// maxRecent bounds the number of keys, at a few hundred bytes each. Then the older half is
// dropped.
const maxRecent = 8192

// A recentSet has the keys of recent deliveries, with a number for each. A key that was
// dropped is looked up in the store, as after a restart.
type recentSet struct {
	mu       sync.Mutex
	now, old map[string]int
	// The times since which each of the two maps is complete.
	nowSince, oldSince time.Time
}

// newRecentSet returns an empty set.
func newRecentSet(now time.Time) recentSet { return recentSet{nowSince: now, oldSince: now} }

// covers reports whether the set has all keys added at this time.
func (m *recentSet) covers(at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return at.After(m.oldSince)
}

// add adds a key with the number 1.
func (m *recentSet) add(key string) { m.put(key, 1) }

// has reports whether a key is in the set.
func (m *recentSet) has(key string) bool { return m.get(key) > 0 }

// remove removes a key.
func (m *recentSet) remove(key string) { m.put(key, 0) }

// get returns the number of a key, or 0.
func (m *recentSet) get(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.now[key]; ok {
		return n
	}
	return m.old[key]
}

// put sets the number of a key.
func (m *recentSet) put(key string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		m.now = map[string]int{}
	}
	if len(m.now) >= maxRecent/2 {
		m.old, m.oldSince = m.now, m.nowSince
		m.now, m.nowSince = map[string]int{}, time.Now()
	}
	m.now[key] = n
}
