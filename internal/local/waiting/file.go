package waiting

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// keepTime is how long the records of a process that has ended are kept.
const keepTime = 30 * 24 * time.Hour

// checks is the number of checks of a lock, with pauses, because another process that checks the lock holds it
// for a moment.
const (
	checks     = 3
	checkPause = 2 * time.Millisecond
)

// takenPrefix begins the name of a file while a process takes its record.
const takenPrefix = "."

// takeFile takes a record of a process that has ended, as Take does. The first process that renames the file
// takes the record.
func (b *Book) takeFile(question, client string, started time.Time) (ask, key string) {
	if b.dir == "" {
		return "", ""
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, question))
	if err != nil {
		return "", "" // usually, the question has no records
	}
	for _, e := range entries {
		path := b.path(question, e.Name())
		r, ok := readRecord(path)
		if !ok || r.Process == b.process || r.Question != question || b.isAlive(r.Process) {
			continue
		}
		if r.Ended.IsZero() && r.Waits {
			r.Ended = b.began // the process has ended before, or its lock would be held
		}
		if r.Client == client || r.Ended.IsZero() || started.Before(r.Ended) {
			continue
		}
		taken := filepath.Join(filepath.Dir(path), takenPrefix+rand.Text())
		if os.Rename(path, taken) != nil {
			continue // another process was first
		}
		b.set(e.Name(), record{Question: question, Key: r.Key, Client: client, Waits: true})
		_ = os.Remove(taken)
		return e.Name(), r.Key
	}
	return "", ""
}

// readRecord reads the file of a record.
func readRecord(path string) (r record, ok bool) {
	if strings.HasPrefix(filepath.Base(path), takenPrefix) {
		return record{}, false
	}
	raw, err := os.ReadFile(path)
	return r, err == nil && json.Unmarshal(raw, &r) == nil
}

// isAlive reports whether a process lives. If its lock cannot be checked, it counts as alive.
func (b *Book) isAlive(process string) bool {
	path := filepath.Join(b.dir, filepath.Base(process))
	if _, err := os.Stat(path + lockSuffix); err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	for range checks {
		if lock, err := instance.Hold(path); err == nil {
			_ = lock.Release()
			return false
		}
		time.Sleep(checkPause)
	}
	return true
}

// lockSuffix ends the names of the files that [instance.Hold] locks.
const lockSuffix = ".lock"

// clean removes old records and locks of processes that have ended.
func (b *Book) clean() {
	entries, _ := os.ReadDir(b.dir)
	isOld := func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && b.began.Sub(info.ModTime()) > keepTime
	}
	for _, e := range entries {
		path := filepath.Join(b.dir, e.Name())
		switch process, isLock := strings.CutSuffix(e.Name(), lockSuffix); {
		case !isOld(e):
		case isLock && !b.isAlive(process):
			_ = os.Remove(path)
		case e.IsDir():
			records, _ := os.ReadDir(path)
			for _, file := range records {
				r, ok := readRecord(filepath.Join(path, file.Name()))
				if isOld(file) && (!ok || !b.isAlive(r.Process)) {
					_ = os.Remove(filepath.Join(path, file.Name()))
				}
			}
			_ = os.Remove(path)
		}
	}
}
