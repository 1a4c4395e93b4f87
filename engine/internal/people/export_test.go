package people

import (
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
)

// ReplaceDirectory replaces the API directory by an empty directory, as if a commit had returned this
// version.
func (e *Service) ReplaceDirectory(version int64) {
	e.replaceDirectory(storedDirectory{Format: 1}, version)
}

// QuietUntil returns the end of the quiet hours of a person at the time now, as the engine computes it.
func QuietUntil(p askback.Person, now time.Time) time.Time {
	c, _ := combined(txn.Settings{People: []askback.Person{p}}, &storedDirectory{})
	return c.quiet[p.Name].until(now)
}
