package waiting

import (
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

// takeFile takes a record of a process that has ended, as Take does.
func (b *Book) takeFile(question, client string, started time.Time) (ask, key string) {
	if b.dir == "" {
		return "", ""
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, question))
	if err != nil {
		return "", "" // usually, the question has no records
	}
	for _, e := range entries {
		r, ok := readRecord(b.path(question, e.Name()))
		if !ok || r.Process == b.process || r.Question != question {
			continue
		}
		if key := b.takeRecord(e.Name(), r, client, started); key != "" {
			return e.Name(), key
		}
	}
	return "", ""
}

// takeRecord takes the record r of an ask, and returns its key, or "" if the client cannot take it. The lock of
// the process that has ended is held meanwhile, and the record names another process afterwards, so only one
// process takes it.
func (b *Book) takeRecord(ask string, r record, client string, started time.Time) (key string) {
	ended := b.holdEnded(r.Process)
	if ended == nil {
		return ""
	}
	defer func() { _ = ended.Release() }()
	now, ok := readRecord(b.path(r.Question, ask))
	if !ok || now.Process != r.Process {
		return "" // another process was first
	}
	if r.Ended.IsZero() && r.Waits {
		r.Ended = b.began // the process has ended before, or its lock would be held
	}
	if r.Client == client || r.Ended.IsZero() || started.Before(r.Ended) {
		return ""
	}
	b.set(ask, record{Question: r.Question, Key: r.Key, Client: client, Waits: true})
	return r.Key
}

// readRecord reads the file of a record.
func readRecord(path string) (r record, ok bool) {
	raw, err := os.ReadFile(path)
	return r, err == nil && json.Unmarshal(raw, &r) == nil
}

// holdEnded takes the lock of a process that has ended. It returns nil if the process lives, or if its lock cannot
// be taken.
func (b *Book) holdEnded(process string) *instance.Lock {
	for range checks {
		if lock, err := instance.Hold(filepath.Join(b.dir, filepath.Base(process))); err == nil {
			return lock
		}
		time.Sleep(checkPause)
	}
	return nil
}

// isAlive reports whether a process lives. If its lock cannot be checked, it counts as alive.
func (b *Book) isAlive(process string) bool {
	if _, err := os.Stat(filepath.Join(b.dir, filepath.Base(process)) + lockSuffix); err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	lock := b.holdEnded(process)
	if lock == nil {
		return true
	}
	_ = lock.Release()
	return false
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
