package people

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
)

// ReplaceDirectory applies an empty API directory that has a committed version.
func (e *Service) ReplaceDirectory(version int64) {
	e.replaceDirectory(storedDirectory{Format: 1}, version)
}

// QuietUntil returns the end of the quiet hours of a person, as the engine uses it.
func QuietUntil(p askback.Person, now time.Time) time.Time {
	c, _ := combined(txn.Settings{People: []askback.Person{p}}, &storedDirectory{})
	return c.quiet[p.Name].until(now)
}
