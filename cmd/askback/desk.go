package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/instance"
)

// A desk is where a command finds Askback: at the server it was told, at the
// local one, or in this very process, which then holds the database. Which of
// them it is can change at any time and is nobody's business: the seats go on.
type desk struct {
	place  instance.Place
	tokens secrets
	remote string // ASKBACK_URL; the local lock is never taken then
	serve  serving
	file   config.Config // as it was when this process began

	isLocal bool // remote is the server of the local database

	agent  roaming // asks
	user   roaming // does what commands do for a person
	person roaming // answers at the prompt

	mu      sync.Mutex
	at      *connection
	reached bool // a server answered before

	// finding holds one while a call looks for a way to Askback, which can take seconds,
	// and guards what follows.
	finding chan struct{}
	holder  *holder // the last one this process was
	yielded bool    // this process gave the database up, and takes it back last
	home    string  // where the database was served last, as far as is known here
}

// A connection is one way to Askback, until it is lost.
type connection struct {
	agent, user, person askback.Client
	pages               string // where people find pages; "" is nowhere
	closing             context.Context
	end                 context.CancelFunc // makes what waits here go elsewhere
	close               func() error
}

func newConnection(agent, user, person askback.Client, pages string) *connection {
	c := &connection{agent: agent, user: user, person: person, pages: pages, close: func() error { return nil }}
	c.closing, c.end = context.WithCancel(context.Background())
	return c
}

// guestTime is how long a process that gave the database up looks for whoever
// took it, before it takes it back.
const guestTime = 2 * time.Second

// remoteTime is how long a command looks for a server it never reached.
const remoteTime = 5 * time.Second

func (all *commands) desk(s serving) (*desk, error) {
	file, err := all.settings()
	if err != nil {
		return nil, err
	}
	path, err := all.database(file)
	if err != nil {
		return nil, err
	}
	place, err := instance.At(path)
	if err != nil {
		return nil, err
	}
	tokens, err := findSecrets()
	if err != nil {
		return nil, err
	}
	if s.kind == instance.KindAsk { // while it waits it serves, where a server would
		s.listen, s.publicURL = cmp.Or(file.Listen, s.listen), file.PublicURL
	}
	d := &desk{place: place, tokens: tokens, serve: s, file: file, finding: make(chan struct{}, 1)}
	if s.kind != instance.KindServe { // a server is no guest
		d.remote = strings.TrimRight(os.Getenv("ASKBACK_URL"), "/")
	}
	if last, ok := place.Last(); ok {
		d.isLocal = d.remote == last.URL
	}
	if u, err := url.Parse(d.remote); d.remote != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, usage("ASKBACK_URL is no address of a server; write it as in http://127.0.0.1:7575")
	}
	if d.remote != "" && tokens.given == "" && !d.isLocal {
		return nil, ended{exitRefused, "ASKBACK_URL names a server elsewhere, and it gets no local token: set ASKBACK_TOKEN"}
	}
	d.agent = roaming{d, func(c *connection) askback.Client { return c.agent }}
	d.user = roaming{d, func(c *connection) askback.Client { return c.user }}
	d.person = roaming{d, func(c *connection) askback.Client { return c.person }}
	return d, nil
}

// with opens a desk for one errand. What was done stays done if the database is
// not closed well afterwards.
func (all *commands) with(io streams, s serving, do func(*desk) error) error {
	d, err := all.desk(s)
	if err != nil {
		return err
	}
	err = do(d)
	if left := d.leave(); left != nil {
		say(io.err, left.Error())
	}
	return err
}

// leave ends what this process serves, if it does, and waits for a hand-over
// that is under way.
func (d *desk) leave() error {
	d.finding <- struct{}{}
	h := d.holder
	<-d.finding
	at := d.current()
	d.lose(at)
	var err error
	if h != nil {
		err = h.end()
	}
	if at != nil && (h == nil || at != h.at) {
		err = errors.Join(err, at.close())
	}
	return err
}

// connect returns the way to Askback there is, or finds one.
func (d *desk) connect(ctx context.Context) (*connection, error) {
	if at := d.current(); at != nil {
		return at, nil
	}
	select {
	case d.finding <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.finding }()
	if at := d.current(); at != nil { // another call found it meanwhile
		return at, nil
	}
	if d.holder != nil {
		if err := d.holder.failure(); err != nil {
			return nil, err // another process may try; this one does not trust what it reads
		}
	}
	at, err := d.find(ctx)
	if err == nil {
		d.mu.Lock()
		d.at = at
		d.mu.Unlock()
	}
	return at, err
}

// current returns the way to Askback, nil if there is none at the moment.
func (d *desk) current() *connection {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at
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
	return d.hold(ctx, lock)
}

// attach goes to a local server that proved itself.
func (d *desk) attach(s instance.Server) (*connection, error) {
	if err := d.tokens.read(); err != nil { // the first holder made them just now
		return nil, err
	}
	agent, user := d.tokens.agent, d.tokens.user
	if d.tokens.given != "" {
		agent, user = d.tokens.given, d.tokens.given
	}
	if agent == "" || user == "" {
		return nil, ended{exitRefused, fmt.Sprintf("process %d holds %s, and there is no token for it here: set ASKBACK_TOKEN", s.PID, d.place.Database)}
	}
	at := newConnection(nil, nil, nil, s.Pages)
	client := s.Client()
	client.Transport = watched{client.Transport, at}
	seat := func(token string) askback.Client { return httpapi.NewClient(s.URL, token, client) }
	at.agent, at.user, at.person = seat(agent), seat(user), seat(d.tokens.user)
	at.close = func() error { client.CloseIdleConnections(); return nil }
	d.yielded = false
	d.home = s.URL
	return at, nil
}

// findRemote goes where ASKBACK_URL says. That is the local server only while
// server.json says so, and it has to prove itself there as well.
func (d *desk) findRemote() (*connection, error) {
	if !d.isLocal {
		seat := httpapi.NewClient(d.remote, d.tokens.given, remoteClient())
		return newConnection(seat, seat, seat, d.remote), nil
	}
	s, ok := d.place.Last()
	if !ok || s.URL != d.remote {
		return nil, fmt.Errorf("%w: %s", askback.ErrUnreachable, d.remote)
	}
	return d.attach(s)
}

// remoteClient gives up on an address that does not even connect.
func remoteClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: remoteTime}).DialContext
	t.TLSHandshakeTimeout = remoteTime
	return &http.Client{Transport: t}
}

// prompts says whether whoever sits here may answer at the prompt: only as the
// local user, at the local database.
func (d *desk) prompts() bool {
	return (d.remote == "" || d.isLocal) && d.tokens.user != ""
}

// page returns where people find the page of an ask, or "".
func (d *desk) page(a askback.Ask) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.PageURL == "" && d.at != nil {
		a = a.WithPageURL(d.at.pages)
	}
	return a.PageURL
}
