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

// A Server is who serves a place, as server.json says. Only its owner can read
// it, so whoever knows Secret was told by the holder.
type Server struct {
	Instance string `json:"instance"`
	URL      string `json:"url"`
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
	raw, err := os.ReadFile(p.server())
	if err != nil {
		return Server{}, false
	}
	var s Server
	return s, json.Unmarshal(raw, &s) == nil && s.Secret != ""
}

// WriteFile writes a file that only its owner can read, whole or not at all.
func WriteFile(path string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".askback-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Join returns the lock, or the server that holds it and proved itself. It looks
// again for [joinTime], because whoever had the lock may be opening, or ending;
// then it is [ErrNobody].
func (p Place) Join(ctx context.Context) (*Lock, Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, joinTime, fmt.Errorf("%w: %s", ErrNobody, p.Database))
	defer cancel()
	for {
		lock, err := Hold(p.Database)
		if !errors.Is(err, ErrHeld) {
			return lock, Server{}, err
		}
		if s, ok := p.Last(); ok && s.Proves(ctx) == nil {
			return nil, s, nil
		}
		if err := Pause(ctx, lookPause); err != nil {
			return nil, Server{}, err
		}
	}
}

// Find returns the server that proved itself, without trying the lock.
func (p Place) Find(ctx context.Context, within time.Duration) (Server, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("%w: %s", ErrNobody, p.Database))
	defer cancel()
	for {
		if s, ok := p.Last(); ok && s.Proves(ctx) == nil {
			return s, nil
		}
		if err := Pause(ctx, lookPause); err != nil {
			return Server{}, err
		}
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
