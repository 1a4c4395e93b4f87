package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Place is a database file, and what stands beside it: the lock of whoever
// holds it, and server.json of whoever serves it.
type Place struct{ Database string }

// At returns the place of a database file, and makes the folder it stands in.
// Links are followed: a database has one lock, by whatever name it is called.
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
		return Place{path}, nil // it will be made
	}
	path, err = filepath.EvalSymlinks(path)
	return Place{path}, err
}

// A Server is who serves a place, as server.json says. Only its owner can read
// it, so whoever knows Secret was told by the holder.
type Server struct {
	Instance string `json:"instance"`
	URL      string `json:"url"`   // where it listens
	Pages    string `json:"pages"` // where people find it
	PID      int    `json:"pid"`
	Kind     string `json:"kind"` // "serve", or "ask" for one that yields
	Version  string `json:"version"`
	Schema   int    `json:"schema"`
	Secret   string `json:"secret"`
}

// What a holder can be.
const (
	KindServe = "serve"
	KindAsk   = "ask"
)

// ErrNobody says that the database is held, and nobody who holds it answers.
var ErrNobody = errors.New("another askback holds the database and does not answer")

// joinTime is how long a command looks for whoever holds the database.
const joinTime = 5 * time.Second

// lookPause is the time between two looks.
const lookPause = 20 * time.Millisecond

// server is server.json beside askback.db, and has the name of the database in
// front where that has another, so that two of them can share a directory.
func (p Place) server() string {
	dir, name := filepath.Split(p.Database)
	if name == "askback.db" {
		return filepath.Join(dir, "server.json")
	}
	return filepath.Join(dir, name+".server.json")
}

// Announce says who serves this place. Only who holds the lock may.
func (p Place) Announce(s Server) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(p.server(), raw)
}

// Retract takes it back, before the lock is released.
func (p Place) Retract() error {
	err := os.Remove(p.server())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Last returns who served this place last, if that is known.
func (p Place) Last() (Server, bool) {
	raw, err := readOwn(p.server())
	if err != nil {
		return Server{}, false
	}
	var s Server
	return s, json.Unmarshal(raw, &s) == nil && s.Secret != ""
}

// Join returns the lock, or the server that holds it and proved itself. It looks
// again for [joinTime], because whoever had the lock may be opening, or ending;
// then it is [ErrNobody].
func (p Place) Join(ctx context.Context) (*Lock, Server, error) {
	var lock *Lock
	s, err := p.search(ctx, joinTime, func() (done bool, err error) {
		lock, err = Hold(p.Database)
		if errors.Is(err, ErrHeld) {
			return false, nil
		}
		return true, err
	})
	return lock, s, err
}

// Find returns the server that proved itself, without trying the lock.
func (p Place) Find(ctx context.Context, within time.Duration) (Server, error) {
	return p.search(ctx, within, func() (bool, error) { return false, nil })
}

// search looks for a server that proves itself until done says that there is no
// need any more. A port that keeps silent does not keep it from asking done
// again, nor from a new server.json.
func (p Place) search(ctx context.Context, within time.Duration, done func() (bool, error)) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%w: %s", ErrNobody, p.Database))
	defer cancel()
	var at look
	defer func() { at.end() }()
	for {
		if found, err := done(); found || err != nil {
			return Server{}, err
		}
		if s, ok := p.Last(); ok && (at.proof == nil || at.server != s) {
			at.end()
			at = lookAt(ctx, s)
		}
		proved, err := at.wait(ctx)
		if proved || err != nil {
			return at.server, err
		}
	}
}

// A look is one server asked for its proof.
type look struct {
	server Server
	proof  chan error // holds one; nil: nobody is asked
	cancel context.CancelFunc
}

func lookAt(ctx context.Context, s Server) look {
	ctx, cancel := context.WithCancel(ctx)
	l := look{s, make(chan error, 1), cancel}
	go func() { l.proof <- s.Proves(ctx) }()
	return l
}

func (l *look) end() {
	if l.cancel != nil {
		l.cancel()
	}
}

// wait waits for the proof, or for the time of the next look.
func (l *look) wait(ctx context.Context) (proved bool, err error) {
	next := time.NewTimer(lookPause)
	defer next.Stop()
	select {
	case err := <-l.proof:
		if err == nil {
			return true, nil
		}
		l.end()
		l.proof = nil
		return false, Pause(ctx, lookPause)
	case <-next.C:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// Pause waits, and fails with the cause that ends ctx.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
