package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lockMonitor polls /proc for processes that have a database open. It records a violation if such a process
// does not hold the lock, or if two processes have the database open at the same time.
type lockMonitor struct {
	database   string
	sightings  int
	violations []string
}

// monitorLock polls until stop is closed, and returns a function that waits for the
// result. If /proc does not show locks, it does nothing and sightings is -1.
func monitorLock(t *testing.T, database string, stop <-chan struct{}) (result func() *lockMonitor) {
	t.Helper()
	if !showsLocks(t) {
		t.Log("LEFT OUT: /proc does not show locks here, so the test cannot check which process has the database open")
		return func() *lockMonitor { return &lockMonitor{sightings: -1} }
	}
	m := &lockMonitor{database: database}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			m.poll()
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() *lockMonitor { <-done; return m }
}

func (m *lockMonitor) poll() {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	var open []string
	for _, p := range processes {
		if !m.hasOpen(p) {
			continue
		}
		locked := m.holdsLock(p)
		if !m.hasOpen(p) {
			continue // the process closed the database meanwhile
		}
		m.sightings++
		if !locked {
			m.violations = append(m.violations, p+" has the database open and does not hold the lock")
		}
		open = append(open, p)
	}
	if len(open) > 1 && m.hasOpen(open[0]) && m.hasOpen(open[1]) && m.hasOpen(open[0]) {
		m.violations = append(m.violations, fmt.Sprintf("%v have the database open", open))
	}
}

// hasOpen reports whether a process has the database open.
func (m *lockMonitor) hasOpen(process string) bool { return descriptor(process, m.database) != "" }

// holdsLock reports whether a process holds the lock of the database.
func (m *lockMonitor) holdsLock(process string) bool {
	fd := descriptor(process, m.database+".lock")
	return fd != "" && isFlocked(filepath.Join(process, "fdinfo", fd))
}

// descriptor returns the number of the descriptor under which a process has a file open. It returns "" if the
// process does not have the file open.
func descriptor(process, path string) string {
	dir := filepath.Join(process, "fd")
	all, _ := os.ReadDir(dir)
	for _, fd := range all {
		if target, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && target == path {
			return fd.Name()
		}
	}
	return ""
}

// isFlocked reports whether the fdinfo file of a descriptor lists a flock.
func isFlocked(fdinfo string) bool {
	f, err := os.Open(fdinfo)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "lock:") && strings.Contains(lines.Text(), "FLOCK") {
			return true
		}
	}
	return false
}
