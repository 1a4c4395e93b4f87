package mcpserver

import (
	"sync"
	"time"
)

// memorySize is how many marks are kept before the older half is forgotten: a
// few hundred bytes each, so that a server of years stays small.
const memorySize = 8192

// A memory knows what was given to agents lately, by marks. What it forgets is
// found in the store again, as after a restart.
type memory struct {
	mu       sync.Mutex
	now, old map[string]int
	// Since when each of the two halves has all there was.
	nowSince, oldSince time.Time
}

// newMemory is empty: it knows nothing of what was before.
func newMemory(now time.Time) memory { return memory{nowSince: now, oldSince: now} }

// knows says whether a mark of this time would be here.
func (m *memory) knows(at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return at.After(m.oldSince)
}

// tell notes a mark.
func (m *memory) tell(mark string) { m.put(mark, 1) }

// told says whether a mark is noted.
func (m *memory) told(mark string) bool { return m.get(mark) > 0 }

// forget takes a mark away.
func (m *memory) forget(mark string) { m.put(mark, 0) }

// get returns the number under a mark, 0 for none.
func (m *memory) get(mark string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.now[mark]; ok {
		return n
	}
	return m.old[mark]
}

// put keeps a number under a mark.
func (m *memory) put(mark string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		m.now = map[string]int{}
	}
	if len(m.now) >= memorySize/2 {
		m.old, m.oldSince = m.now, m.nowSince
		m.now, m.nowSince = map[string]int{}, time.Now()
	}
	m.now[mark] = n
}
