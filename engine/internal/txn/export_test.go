package txn

// KeyedMutex is the mutex that updates use, for its own test.
type KeyedMutex struct{ keyedMutex }

// NewKeyedMutex returns a mutex with no locked ids.
func NewKeyedMutex() *KeyedMutex {
	return &KeyedMutex{keyedMutex{waiting: map[string][]chan struct{}{}}}
}

// Locked returns the number of locked ids.
func (m *KeyedMutex) Locked() int { return len(m.waiting) }

// CursorAfter exports cursorAfter for tests.
var CursorAfter = cursorAfter
