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

// openers looks at who has a database open, again and again, through /proc. Two
// rules hold at every moment: whoever has it open holds its lock, which the
// kernel gives to one file alone, and nobody has it open beside another.
type openers struct {
	database string
	seen     int
	broken   []string
}

// watch looks until stop is closed. It is skipped where /proc does not show locks.
func watch(t *testing.T, database string, stop <-chan struct{}) (result func() *openers) {
	t.Helper()
	if !showsLocks(t) {
		t.Log("LEFT OUT: /proc shows no locks here, so the test cannot see which process has the database open")
		return func() *openers { return &openers{seen: -1} }
	}
	o := &openers{database: database}
	done := make(chan struct{})
	go func() {
		defer close(done)
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			o.look()
			select {
			case <-stop:
				return
			case <-again.C:
			}
		}
	}()
	return func() *openers { <-done; return o }
}

func (o *openers) look() {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	var open []string
	for _, p := range processes {
		if !o.has(p) {
			continue
		}
		locked := o.locks(p)
		if !o.has(p) {
			continue // it was just closing
		}
		o.seen++
		if !locked {
			o.broken = append(o.broken, p+" has the database open and does not hold the lock")
		}
		open = append(open, p)
	}
	if len(open) > 1 && o.has(open[0]) && o.has(open[1]) && o.has(open[0]) {
		o.broken = append(o.broken, fmt.Sprintf("%v have the database open", open))
	}
}

// has says whether a process has the database open.
func (o *openers) has(process string) bool { return descriptor(process, o.database) != "" }

func (o *openers) locks(process string) bool {
	fd := descriptor(process, o.database+".lock")
	return fd != "" && holdsFlock(filepath.Join(process, "fdinfo", fd))
}

// descriptor finds the number under which a process has a file open.
func descriptor(process, path string) string {
	dir := filepath.Join(process, "fd")
	all, _ := os.ReadDir(dir)
	for _, fd := range all {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && to == path {
			return fd.Name()
		}
	}
	return ""
}

func holdsFlock(info string) bool {
	f, err := os.Open(info)
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
