// Package waiting records which client waits for the answer to which question. A client that was restarted
// then gets the answer to the question of a client that has ended (docs/design/mcp.md, "Restarted clients").
package waiting

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback/internal/local/instance"
)

// A Book has the records of one process, and finds records of processes that have ended. Each record is also
// a file, so that it outlives the process. A Book without a folder has no files.
type Book struct {
	dir   string
	log   *slog.Logger
	began time.Time

	mu      sync.Mutex
	process string            // the name of this process in its records, or "" before the first record
	lock    *instance.Lock    // held while this process lives
	records map[string]record // the records of this process, keyed by ask
}

// A record is a question for whose answer a client waits. Question identifies the question for the clients
// that may wait for its answer one after the other.
type record struct {
	Question string `json:"question"`
	Key      string `json:"key"` // the idempotency key of the ask
	Client   string `json:"client"`
	Process  string `json:"process"`
	// Waits reports whether the client has ended if its process has ended. It is false if the client has a
	// connection to the process and no request.
	Waits bool `json:"waits"`
	// Ended is the time at which the client ended, or zero.
	Ended time.Time `json:"ended"`
}

// New returns a book with records in a folder. If dir is "", a restart of this process loses the records.
func New(dir string, log *slog.Logger) *Book {
	return &Book{dir: dir, log: log, began: time.Now(), records: map[string]record{}}
}

// Wait records that a client waits for the ask of a question. key is the idempotency key of the ask.
func (b *Book) Wait(question, ask, key, client string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(ask, record{Question: question, Key: key, Client: client, Waits: true})
}

// Resume records that the client waits for the ask again. It does nothing if the ask has no record of the
// client.
func (b *Book) Resume(ask, client string) {
	b.change(func(id string, r *record) bool {
		r.Waits, r.Ended = true, time.Time{}
		return id == ask && r.Client == client
	})
}

// Idle records that a client has a reply and lives, but waits for no ask.
func (b *Book) Idle(ask, client string) {
	b.change(func(id string, r *record) bool {
		r.Waits, r.Ended = false, time.Time{}
		return id == ask && r.Client == client
	})
}

// End records that a client that waited for an ask has ended.
func (b *Book) End(ask, client string) {
	b.change(func(id string, r *record) bool {
		r.Waits, r.Ended = false, time.Now()
		return id == ask && r.Client == client
	})
}

// EndClient records that a client has ended, whatever it did.
func (b *Book) EndClient(client string) {
	b.change(func(_ string, r *record) bool {
		r.Waits, r.Ended = false, time.Now()
		return r.Client == client
	})
}

// Alive records that a client lives that seemed to have ended.
func (b *Book) Alive(client string) {
	b.change(func(_ string, r *record) bool {
		ended := r.Client == client && !r.Ended.IsZero()
		r.Ended = time.Time{}
		return ended
	})
}

// Remove removes the record of an ask: no client waits for its answer any more.
func (b *Book) Remove(ask string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(ask)
}

// Of returns the ask of a question for whose answer the client waits, and its key. Both are "" without such an
// ask.
func (b *Book) Of(question, client string) (ask, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range b.records {
		if r.Question == question && r.Client == client {
			return id, r.Key
		}
	}
	return "", ""
}

// IsTaken reports whether another client waits for the answer to an ask than client.
func (b *Book) IsTaken(ask, client string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.records[ask]
	return ok && r.Client != client
}

// Take makes a client wait for an ask of a question whose client had ended before the time started. Each ask
// is returned to one client only, with its key. If there is no such ask, both are "".
func (b *Book) Take(question, client string, started time.Time) (ask, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range b.records {
		if r.Question == question && r.Client != client && !r.Ended.IsZero() && !started.Before(r.Ended) {
			b.set(id, record{Question: question, Key: r.Key, Client: client, Waits: true})
			return id, r.Key
		}
	}
	return b.takeFile(question, client, started)
}

// Close gives up the name of this process. Its records count as records of a process that has ended.
func (b *Book) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lock == nil {
		return nil
	}
	err := b.lock.Release()
	b.lock, b.process, b.dir = nil, "", ""
	return err
}

// change changes the records for which do returns true.
func (b *Book) change(do func(ask string, r *record) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, r := range b.records {
		if do(id, &r) {
			b.set(id, r)
		}
	}
}

// maxRecords is the maximum number of records of a process. An agent can ask and withdraw without end, and only a
// client that gets its answer removes its record.
const maxRecords = 10_000

// set stores a record of this process. If there are too many, it removes another one.
func (b *Book) set(ask string, r record) {
	b.open()
	if _, ok := b.records[ask]; !ok && len(b.records) >= maxRecords {
		for id := range b.records {
			b.remove(id)
			break
		}
	}
	r.Process = b.process
	if old, ok := b.records[ask]; ok && old.Question != r.Question {
		b.remove(ask)
	} else if ok && old == r {
		return
	}
	b.records[ask] = r
	if b.process == "" {
		return
	}
	raw, err := json.Marshal(r)
	if err == nil {
		err = b.write(b.path(r.Question, ask), raw)
	}
	b.warn(err)
}

func (b *Book) remove(ask string) {
	r, ok := b.records[ask]
	delete(b.records, ask)
	if !ok || b.process == "" {
		return
	}
	path := b.path(r.Question, ask)
	_ = os.Remove(path) // another process may have taken an old record
	_ = os.Remove(filepath.Dir(path))
}

// open names this process and takes its lock, before its first record.
func (b *Book) open() {
	if b.dir == "" || b.process != "" {
		return
	}
	err := os.MkdirAll(b.dir, 0o700)
	if err == nil {
		b.clean()
		name := rand.Text()
		if b.lock, err = instance.Hold(filepath.Join(b.dir, name)); err == nil {
			b.process = name
		}
	}
	if b.warn(err); err != nil {
		b.dir = "" // records in memory only
	}
}

// path returns the path of the file of a record.
func (b *Book) path(question, ask string) string { return filepath.Join(b.dir, question, ask) }

// write writes a file and its folder. Another process may remove the empty folder at the same time. A file
// that a crash of the machine damages is ignored: the question is then asked again.
func (b *Book) write(path string, raw []byte) (err error) {
	for range 3 {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			continue
		}
		if err = os.WriteFile(path, raw, 0o600); err == nil {
			return nil
		}
	}
	return err
}

func (b *Book) warn(err error) {
	if err != nil && !errors.Is(err, errors.ErrUnsupported) { // without locks, records are in memory only
		b.log.Warn("a restarted client may ask again: its question could not be recorded", "error", err)
	}
}
