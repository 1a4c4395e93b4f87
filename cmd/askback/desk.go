package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local"
)

// A desk is where a command finds Askback: at the server it was told, at the
// local one, or in this very process, which then holds the database. Which of
// them it is can change at any time and is nobody's business: the seats go on.
type desk struct {
	place  local.Place
	tokens secrets
	remote string // ASKBACK_URL; the local lock is never taken then
	serve  serving

	agent roaming
	user  roaming

	mu      sync.Mutex
	at      *connection
	reached bool // a connection was made before
	yielded bool // this process gave the database up, and takes it back last
}

// A connection is one way to Askback, until it is lost.
type connection struct {
	agent, user askback.Seat
	pages       string // where people find pages; "" is nowhere
	closing     context.Context
	end         context.CancelFunc // makes what waits here go elsewhere
	close       func() error
}

func newConnection(agent, user askback.Seat, pages string) *connection {
	c := &connection{agent: agent, user: user, pages: pages, close: func() error { return nil }}
	c.closing, c.end = context.WithCancel(context.Background())
	return c
}

// guestTime is how long a process that gave the database up looks for whoever
// took it, before it takes it back.
const guestTime = 2 * time.Second

// remoteTime is how long a command looks for a server it never reached.
const remoteTime = 5 * time.Second

func (all *commands) desk(s serving) (*desk, error) {
	path, err := all.database()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	tokens, err := findSecrets()
	if err != nil {
		return nil, err
	}
	d := &desk{place: local.Place{Database: path}, tokens: tokens, remote: os.Getenv("ASKBACK_URL"), serve: s}
	if d.remote != "" && tokens.given == "" && !d.isLocal() {
		return nil, ended{exitRefused, "ASKBACK_URL names a server elsewhere, and it gets no local token: set ASKBACK_TOKEN"}
	}
	d.agent = roaming{d, func(c *connection) askback.Seat { return c.agent }}
	d.user = roaming{d, func(c *connection) askback.Seat { return c.user }}
	return d, nil
}

// isLocal says whether ASKBACK_URL names the server of the local database.
func (d *desk) isLocal() bool {
	s, ok := d.place.Last()
	return ok && s.URL == d.remote
}

// with opens a desk for one errand.
func (all *commands) with(ctx context.Context, s serving, do func(*desk) error) error {
	d, err := all.desk(s)
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.leave())
}

// leave ends what this process serves, if it does.
func (d *desk) leave() error {
	d.mu.Lock()
	at := d.at
	d.at = nil
	d.mu.Unlock()
	if at == nil {
		return nil
	}
	return at.close()
}

// connect returns the way to Askback there is, or finds one.
func (d *desk) connect(ctx context.Context) (*connection, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != nil {
		return d.at, nil
	}
	at, err := d.find(ctx)
	if err == nil {
		d.at = at
	}
	return at, err
}

// lose forgets a way that led nowhere, so that the next call finds another.
func (d *desk) lose(at *connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == at {
		d.at = nil
	}
}

func (d *desk) find(ctx context.Context) (*connection, error) {
	if d.remote != "" {
		return d.findRemote()
	}
	if d.yielded {
		if s, err := d.place.Find(ctx, guestTime); err == nil {
			return d.attach(s)
		}
	}
	lock, s, err := d.place.Join(ctx)
	switch {
	case err != nil:
		return nil, err
	case lock == nil:
		return d.attach(s)
	}
	at, err := d.hold(ctx, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return at, nil
}

// attach goes to a local server that proved itself.
func (d *desk) attach(s local.Server) (*connection, error) {
	agent, user := d.tokens.agent, d.tokens.user
	if d.tokens.given != "" {
		agent, user = d.tokens.given, d.tokens.given
	}
	if agent == "" {
		return nil, fmt.Errorf("another askback holds %s, and there is no token for it here: set ASKBACK_TOKEN", d.place.Database)
	}
	client := s.Client()
	at := newConnection(httpapi.NewClient(s.URL, agent, client), httpapi.NewClient(s.URL, user, client), s.URL)
	at.close = func() error { client.CloseIdleConnections(); return nil }
	d.yielded = false
	return at, nil
}

func (d *desk) findRemote() (*connection, error) {
	if d.tokens.given == "" {
		s, ok := d.place.Last()
		if !ok || s.URL != d.remote {
			return nil, fmt.Errorf("%w: %s", askback.ErrUnreachable, d.remote)
		}
		return d.attach(s)
	}
	seat := httpapi.NewClient(d.remote, d.tokens.given, nil)
	return newConnection(seat, seat, d.remote), nil
}

// prompts says whether whoever sits here may answer at the prompt: only as the
// local user, at the local database.
func (d *desk) prompts() bool { return d.remote == "" || d.isLocal() }

// page returns where people find the page of an ask, or "".
func (d *desk) page(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil || d.at.pages == "" {
		return ""
	}
	return d.at.pages + "/asks/" + id
}
