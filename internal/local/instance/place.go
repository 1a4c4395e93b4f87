package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/askback/askback/internal/pause"
)

// A Place is a database file together with its lock file and its server.json.
type Place struct{ Database string }

// At returns the place of a database file and creates its folder. It resolves symbolic
// links, so that a database has one lock for all of its paths.
func At(database string) (Place, error) {
	path, err := filepath.Abs(database)
	if err != nil {
		return Place{}, err
	}
	dir, name := filepath.Split(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Place{}, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Place{}, err
	}
	path = filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return Place{path}, nil // the database does not exist yet
	}
	path, err = filepath.EvalSymlinks(path)
	return Place{path}, err
}

// A Server is the content of server.json: the process that serves a place. Only its user
// can read the file, so a program that knows Secret is trusted to be this process.
type Server struct {
	Instance string `json:"instance"`
	URL      string `json:"url"`   // the address of the listener
	Pages    string `json:"pages"` // the address of the pages for people
	PID      int    `json:"pid"`
	Kind     string `json:"kind"` // KindServe or KindAsk
	Version  string `json:"version"`
	Schema   int    `json:"schema"`
	Secret   string `json:"secret"`
	Settings string `json:"settings,omitempty"` // see SettingsName; an older version does not write it
}

// The kinds of servers: askback serve, and a command that serves only while it runs and
// lets askback serve take over.
const (
	KindServe = "serve"
	KindAsk   = "ask"
)

// ErrNoReply is returned if the database is locked and no server for it replies.
var ErrNoReply = errors.New("another askback process holds the database and does not reply")

// joinTime is how long Join searches for the server of a locked database.
const joinTime = 5 * time.Second

// searchPause is the time between two attempts of a search.
const searchPause = 20 * time.Millisecond

// server returns the path of server.json.
func (p Place) server() string { return p.file("server.json") }

// file returns the path of a file next to the database. For a database other than askback.db, the name of the
// file begins with the name of the database, so that databases can share a folder.
func (p Place) file(name string) string {
	dir, database := filepath.Split(p.Database)
	if database != "askback.db" {
		name = database + "." + name
	}
	return filepath.Join(dir, name)
}

// Announce writes server.json. Only the process that holds the lock may call it.
func (p Place) Announce(s Server) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(p.server(), raw)
}

// Retract removes server.json. Call it before the lock is released.
func (p Place) Retract() error {
	err := os.Remove(p.server())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Last returns the server in server.json, which may have ended. It returns false if the file is missing,
// invalid or not private.
func (p Place) Last() (Server, bool) {
	raw, err := readPrivate(p.server())
	if err != nil {
		return Server{}, false
	}
	var s Server
	return s, json.Unmarshal(raw, &s) == nil && s.Secret != ""
}

// Join takes the lock. If another process holds the lock, Join returns the server of that process, after the
// server proved its identity. The process may be starting or ending, so Join retries for 5 seconds before it
// returns [ErrNoReply].
func (p Place) Join(ctx context.Context) (*Lock, Server, error) {
	var lock *Lock
	var held error
	s, err := p.search(ctx, joinTime, func() (done bool, err error) {
		lock, held = HoldDatabase(p.Database)
		if errors.Is(held, ErrHeld) {
			return false, nil
		}
		return true, held
	})
	if errors.Is(err, ErrNoReply) && errors.Is(held, errHeldElsewhere) {
		err = held
	}
	if err == nil && lock != nil {
		return p.confirm(ctx, lock)
	}
	return lock, s, err
}

// confirmTime is how long a server may take to prove that it still has the database although its
// lock is free.
const confirmTime = 500 * time.Millisecond

// confirm returns lock, or the server in server.json if it still serves. If the database itself is locked,
// there is no such server. Otherwise its lock file may have been moved or deleted.
func (p Place) confirm(ctx context.Context, lock *Lock) (*Lock, Server, error) {
	s, ok := p.Last()
	if lock.inode || !ok {
		return lock, Server{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	if s.Proves(ctx) != nil {
		return lock, Server{}, nil
	}
	return nil, s, lock.Release()
}

// Find returns the server of the place, after the server proved its identity. It does not try to take the
// lock. If no server proves its identity within the given time, it returns [ErrNoReply].
func (p Place) Find(ctx context.Context, within time.Duration) (Server, error) {
	return p.search(ctx, within, func() (bool, error) { return false, nil })
}

// search waits until a server proves its identity, or until done returns true or an error. It calls done and
// reads server.json again even while a server does not reply. If the search takes longer than within, it
// returns [ErrNoReply].
func (p Place) search(ctx context.Context, within time.Duration, done func() (bool, error)) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%w: %s", ErrNoReply, p.Database))
	defer cancel()
	var current check
	defer func() { current.stop() }()
	for {
		if found, err := done(); found || err != nil {
			return Server{}, err
		}
		if s, ok := p.Last(); ok && (current.proof == nil || current.server != s) {
			current.stop()
			current = startCheck(ctx, s)
		}
		proved, err := current.wait(ctx)
		if proved || err != nil {
			return current.server, err
		}
	}
}

// A check is a running request for the proof of a server.
type check struct {
	server Server
	proof  chan error // has capacity 1; nil if no request is running
	cancel context.CancelFunc
}

func startCheck(ctx context.Context, s Server) check {
	ctx, cancel := context.WithCancel(ctx)
	l := check{s, make(chan error, 1), cancel}
	go func() { l.proof <- s.Proves(ctx) }()
	return l
}

func (l *check) stop() {
	if l.cancel != nil {
		l.cancel()
	}
}

// wait waits for the proof, for at most searchPause. It reports whether the server proved its identity. After
// a failed proof it pauses, so that the next check does not follow immediately.
func (l *check) wait(ctx context.Context) (proved bool, err error) {
	next := time.NewTimer(searchPause)
	defer next.Stop()
	select {
	case err := <-l.proof:
		if err == nil {
			return true, nil
		}
		l.stop()
		l.proof = nil
		return false, pause.For(ctx, searchPause)
	case <-next.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
