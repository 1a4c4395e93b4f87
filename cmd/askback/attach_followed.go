package main

import (
	"path/filepath"

	"github.com/askback/askback/internal/local/instance"
)

// followed returns the place of the records of the Codex threads that askback attach codex follows on this
// machine.
func followed() (instance.Place, error) {
	dir, err := stateDir()
	return instance.Place{Database: filepath.Join(dir, "codex", "threads")}, err
}

// recordFollowed records that this process follows a thread. The record lasts until done is called or the
// process ends in any way. Without a record, the hooks of the thread ask.
func recordFollowed(thread string) (done func()) {
	place, err := followed()
	if err == nil {
		done, err = place.Attend(thread)
	}
	if err != nil {
		return func() {}
	}
	return done
}

// isFollowed reports whether a process follows a thread.
func isFollowed(thread string) bool {
	place, err := followed()
	if err != nil || filepath.Base(thread) != thread {
		return false
	}
	ended := place.Abandoned(func(string) error { return nil }) // removes the records of killed processes
	return ended == nil && place.Attended(thread)
}
