package txn

// KeyedMutex is the mutex that updates use, for its own test.
type KeyedMutex struct{ keyedMutex }

// NewKeyedMutex returns a mutex of which no id is locked.
func NewKeyedMutex() *KeyedMutex {
	return &KeyedMutex{keyedMutex{waiting: map[string][]chan struct{}{}}}
}

// Locked returns how many ids are locked.
func (m *KeyedMutex) Locked() int { return len(m.waiting) }

// CursorAfter is cursorAfter.
var CursorAfter = cursorAfter
