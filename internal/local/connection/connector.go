// Package connection connects a command to Askback: to a remote server, to the process on
// this machine that has the database open, or to the database itself. In the last case
// this process becomes the local instance and can serve other commands.
package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
)

// Options configure a [Connector].
type Options struct {
	Place  instance.Place // the local database
	Remote string         // the address of a server, or "" to connect to the local database
	Tokens *Tokens
	Engine *engine.Options // the options of the engine, if this process opens the database
	Log    *slog.Logger    // nil disables logging

	// ServerOnly makes calls fail immediately if no server can be reached. This process then never opens the
	// database, and no call is repeated.
	ServerOnly bool

	// Kind is "" for a command that serves no other process while it has the database
	// open. Otherwise it is [instance.KindAsk] or [instance.KindServe], and the fields
	// below apply.
	Kind      string
	Listen    string // the address to listen on; if its port is in use, KindAsk uses another port
	PublicURL string // the address of the pages for people, or "" for the address of the listener
	Version   string // the version of this program
	Settings  string // the path of its settings file, or ""
	// Handler returns the handler of an instance.
	Handler func(*Instance) Handler
	// Middleware wraps the handler and all checks in front of it. It may be nil.
	Middleware func(http.Handler) http.Handler
	// OnFailure is called if the listener or the database fails. The caller then closes
	// the instance. If it is nil, the instance closes itself and the next call connects
	// again.
	OnFailure func(error)
	// OnDatabaseFailure is called after an instance closed itself because its database
	// failed. If it is nil, the next call returns the error.
	OnDatabaseFailure func(error)
}

// engineOptions returns the options of the engine, with the key of the state directory.
func (o Options) engineOptions() *engine.Options {
	options := engine.Options{}
	if o.Engine != nil {
		options = *o.Engine
	}
	options.SecretKey = o.Tokens.SecretKey
	return &options
}

// A Connector makes the calls of a command to a remote server, or to the process that has the local database
// open. That process can change during the command: it can end, or hand over the database to another process.
// Lost calls are then repeated.
type Connector struct {
	Agent  askback.AgentClient  // the client that asks
	User   askback.Client       // the client for the other calls of commands
	Person askback.PersonClient // the client that answers at the prompt, always as the local user

	options Options
	isLocal bool // options.Remote is the server of the local database

	mu      sync.Mutex
	conn    *conn
	reached bool // a server has replied

	// connecting holds one value while a call connects, which can take seconds, and
	// guards the fields below.
	connecting chan struct{}
	instance   *Instance // the latest instance of this process
	yielded    bool      // this process handed over the database; see [yieldedTime]
	lastURL    string    // the last known server of the database
}

// A conn is a connection to a server, or to the engine in this process.
type conn struct {
	agent, user, person askback.Client
	pages               string          // the address of the pages, or "" if the pages are not served
	closing             context.Context // ends when waiting calls have to use another connection
	end                 context.CancelFunc
	close               func() error
}

func newConn(agent, user, person askback.Client, pages string) *conn {
	c := &conn{agent: agent, user: user, person: person, pages: pages, close: func() error { return nil }}
	c.closing, c.end = context.WithCancel(context.Background())
	return c
}

// yieldedTime is the time for which a process that handed over the database searches for the next server
// before it opens the database again.
const yieldedTime = 2 * time.Second

// remoteTime is how long a command tries to reach a remote server for the first time. It is
// also the limit for each attempt to connect.
const remoteTime = 5 * time.Second

// New returns a Connector. The first call connects.
func New(o Options) *Connector {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Connector{options: o, connecting: make(chan struct{}, 1)}
	if last, ok := o.Place.Last(); ok {
		c.isLocal = o.Remote == last.URL
	}
	c.Agent = client{c, func(c *conn) askback.Client { return c.agent }}
	c.User = client{c, func(c *conn) askback.Client { return c.user }}
	c.Person = client{c, func(c *conn) askback.Client { return c.person }}
	return c
}

// Place returns the local database file, which has methods to find its server.
func (c *Connector) Place() instance.Place { return c.options.Place }

// IsLocal reports whether the calls go to the local database.
func (c *Connector) IsLocal() bool { return c.options.Remote == "" || c.isLocal }

// CanPrompt reports whether the user at the terminal may answer asks. For this, the database must be local,
// and the local user must have a token.
func (c *Connector) CanPrompt() bool { return c.IsLocal() && c.options.Tokens.user != "" }

// UserName returns the name with which User answers. With ASKBACK_TOKEN it returns "", because only the
// server knows the name of that token.
func (c *Connector) UserName() string {
	if c.options.Tokens.Given != "" {
		return ""
	}
	return UserName()
}

// Pages connects and returns the address of the pages for people. It returns "" if the pages are not served.
func (c *Connector) Pages(ctx context.Context) (string, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return "", err
	}
	return conn.pages, nil
}

// PageURL returns the address of the page of an ask, or "" if it is not known.
func (c *Connector) PageURL(a askback.Ask) string {
	if conn := c.current(); a.PageURL == "" && conn != nil {
		a = a.WithPageURL(conn.pages)
	}
	return a.PageURL
}

// IsInstance reports whether this process has opened the local database, and the database has not failed.
func (c *Connector) IsInstance() bool {
	c.connecting <- struct{}{}
	defer func() { <-c.connecting }()
	return c.instance != nil && c.instance.failure() == nil
}

// Close closes the connection. It also closes the [Instance] of this process, if there is
// one, and waits until it is closed.
func (c *Connector) Close() error {
	c.connecting <- struct{}{}
	i := c.instance
	<-c.connecting
	conn := c.current()
	c.lose(conn)
	var err error
	if i != nil {
		err = i.Close()
	}
	if conn != nil && (i == nil || conn != i.conn) {
		err = errors.Join(err, conn.close())
	}
	return err
}

// connect returns the current connection, or makes a connection. After the database failed in this process,
// it returns the error of the database.
func (c *Connector) connect(ctx context.Context) (*conn, error) {
	if conn := c.current(); conn != nil {
		return conn, nil
	}
	select {
	case c.connecting <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.connecting }()
	if conn := c.current(); conn != nil { // another call has connected
		return conn, nil
	}
	if c.instance != nil {
		if err := c.instance.failure(); err != nil {
			return nil, err // after a failure, only a new process can rely on the data that it reads
		}
	}
	conn, err := c.dial(ctx)
	if err == nil {
		c.mu.Lock()
		c.conn = conn
		c.mu.Unlock()
	}
	return conn, err
}

// current returns the connection, or nil if the connector is not connected.
func (c *Connector) current() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// lose drops failed if it is the current connection, so that the next call connects again.
func (c *Connector) lose(failed *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == failed {
		c.conn = nil
	}
}

// dial connects to the remote or the local server, or opens the database.
func (c *Connector) dial(ctx context.Context) (*conn, error) {
	if c.options.Remote != "" {
		return c.dialRemote()
	}
	if c.options.ServerOnly {
		return c.dialServer(ctx)
	}
	if c.yielded {
		if s, err := c.options.Place.Find(ctx, yieldedTime); err == nil {
			return c.attach(s)
		}
	}
	lock, s, err := c.options.Place.Join(ctx)
	switch {
	case err != nil:
		return nil, err
	case lock == nil:
		return c.attach(s)
	}
	i, err := c.open(ctx, lock)
	if err != nil {
		return nil, err
	}
	return i.conn, nil
}

// dialServer connects to the server in server.json, after the server proved its identity.
func (c *Connector) dialServer(ctx context.Context) (*conn, error) {
	s, ok := c.options.Place.Last()
	if !ok {
		return nil, fmt.Errorf("%w: no server has %s open", askback.ErrUnreachable, c.options.Place.Database)
	}
	if err := s.Proves(ctx); err != nil {
		return nil, err
	}
	return c.attach(s)
}

// attach returns a connection to a local server. The connection uses ASKBACK_TOKEN or, if it is not set, the
// tokens of the local user. It returns an error if there is no token.
func (c *Connector) attach(s instance.Server) (*conn, error) {
	tokens := c.options.Tokens
	if err := tokens.read(); err != nil { // the server may have just created the tokens
		return nil, err
	}
	agent, user := tokens.agent, tokens.user
	if tokens.Given != "" {
		agent, user = tokens.Given, tokens.Given
	}
	if agent == "" || user == "" {
		return nil, fmt.Errorf("process %d has %s open, and this user has no token for it: set ASKBACK_TOKEN", s.PID,
			c.options.Place.Database)
	}
	conn := newConn(nil, nil, nil, s.Pages)
	pool := s.Client()
	client := &http.Client{Transport: watchedTransport{pool.Transport, conn}}
	as := func(token string) askback.Client { return httpapi.NewClient(s.URL, token, client) }
	conn.agent, conn.user, conn.person = as(agent), as(user), as(tokens.user)
	conn.close = func() error { pool.CloseIdleConnections(); return nil }
	c.yielded = false
	c.lastURL = s.URL
	return conn, nil
}

// dialRemote connects to the server of [Options.Remote]. If c.isLocal is true, server.json must still contain
// that address, and the server must prove its identity.
func (c *Connector) dialRemote() (*conn, error) {
	remote := c.options.Remote
	if !c.isLocal {
		client := httpapi.NewClient(remote, c.options.Tokens.Given, remoteClient())
		return newConn(client, client, client, remote), nil
	}
	s, ok := c.options.Place.Last()
	if !ok || s.URL != remote {
		return nil, fmt.Errorf("%w: %s", askback.ErrUnreachable, remote)
	}
	return c.attach(s)
}

// remoteClient returns an HTTP client that limits the time to connect. It keeps connections for concurrent
// calls, such as the calls of the agents behind askback mcp.
func remoteClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	t.DialContext = (&net.Dialer{Timeout: remoteTime}).DialContext
	t.TLSHandshakeTimeout = remoteTime
	return &http.Client{Transport: t}
}

// A watchedTransport ends a connection when its server cannot be reached. Otherwise a stream would retry that
// server forever, although the next server may have another address.
type watchedTransport struct {
	next http.RoundTripper
	conn *conn
}

// RoundTrip implements [http.RoundTripper].
func (w watchedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.next.RoundTrip(r)
	if err != nil && r.Context().Err() == nil {
		w.conn.end()
	}
	return res, err
}
