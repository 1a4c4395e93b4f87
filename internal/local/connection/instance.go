package connection

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/store/sqlite"
)

// An Instance is this process while it has the local database open. It may serve other
// commands.
type Instance struct {
	connector  *Connector
	lock       *instance.Lock
	db         *sqlite.Store
	engine     *engine.Engine
	stopEngine context.CancelFunc
	engineDone chan error     // capacity 1
	sweeping   sync.WaitGroup // the sweeper and the watcher of files
	announcing sync.WaitGroup // repeated attempts to write server.json
	conn       *conn          // the connection of this process itself
	close      func() error   // closes once and always returns the same error

	// These fields are for other commands, and are not set if Kind is "".
	url      string // the address of the listener
	secret   string // for proofs
	handler  Handler
	server   *http.Server
	listener net.Listener
	served   chan error // capacity 1: the error that ended server
	unused   unusedConns
}

// The time limits of Close.
const (
	shutdownTime = 10 * time.Second // for requests in progress
	closeTime    = 20 * time.Second // for all of Close
)

var errSlowClose = errors.New(
	"the database could not be closed in time; no data is lost, but the next start takes longer",
)

// open opens the database. If Kind is not "", it also serves the database. If open fails, it releases the
// lock. Otherwise Close of the instance releases the lock.
func (c *Connector) open(ctx context.Context, lock *instance.Lock) (*Instance, error) {
	o := c.options
	if o.Kind != "" {
		instance.RemoveLeftovers(filepath.Dir(o.Place.Database))
		instance.RemoveLeftovers(o.Tokens.dir)
	}
	db, err := sqlite.Open(o.Place.Database, &sqlite.Options{Log: o.Log})
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	i := &Instance{
		connector: c, lock: lock, db: db, engine: engine.New(db, o.engineOptions()), engineDone: make(chan error, 1),
	}
	i.close = sync.OnceValue(i.closeAll)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	i.stopEngine = stop
	go func() { i.engineDone <- i.engine.Run(running) }()
	i.conn = newConn(nil, nil, nil, "")
	i.conn.close = i.close
	if err := i.start(ctx); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	sweep := newSweeper(o.Place, i.engine, o.Log)
	sweep.withdrawAbandoned(ctx)
	if o.Kind != "" {
		i.sweeping.Go(func() { sweep.run(running) })
		i.sweeping.Go(func() { i.watchFiles(running) })
	}
	c.instance, c.yielded = i, false
	go i.watch() // starts last, since it may close the instance
	return i, nil
}

func (i *Instance) start(ctx context.Context) error {
	o := i.connector.options
	if err := o.Tokens.create(ctx, i.engine); err != nil {
		return err
	}
	if err := i.authenticate(ctx); err != nil && o.Kind != instance.KindServe {
		return err
	}
	if o.Kind == "" {
		return nil
	}
	if err := i.engine.ReadDirectory(ctx); err != nil { // the channels start next, and need the people
		return err
	}
	if o.Kind == instance.KindServe {
		if err := i.checkRoutes(ctx); err != nil {
			return err
		}
	}
	return i.listen()
}

// checkRoutes returns an error if a route of the settings rejects each of its confirmations, because not
// enough people may approve them. Such a route of the API is only logged: an admin can correct it while the
// server runs.
func (i *Instance) checkRoutes(ctx context.Context) error {
	problems, err := i.engine.CheckDirectory(ctx)
	for _, p := range problems {
		if p.Alone && p.Source == askback.SourceSettings {
			err = errors.Join(err,
				fmt.Errorf(
					"%s; add the missing people, or correct the keys approvers, to or quorum in the settings file",
					p.Text,
				))
		}
	}
	return err
}

// authenticate creates the clients of this process with the tokens that it would send to a
// server. A revoked token is therefore rejected here, too.
func (i *Instance) authenticate(ctx context.Context) error {
	t := i.connector.options.Tokens
	for _, c := range []struct {
		client *askback.Client
		from   string
		token  string
	}{
		{&i.conn.agent, t.agentFile(), t.agent},
		{&i.conn.user, t.userFile(), t.user},
		{&i.conn.person, t.userFile(), t.user},
	} {
		if t.Given != "" && c.client != &i.conn.person {
			c.from, c.token = "ASKBACK_TOKEN", t.Given
		}
		p, err := i.engine.Authenticate(ctx, c.token)
		if err != nil {
			return fmt.Errorf("%s: %w", c.from, err)
		}
		*c.client = i.engine.As(p)
	}
	return nil
}

// Place returns the place of the database.
func (i *Instance) Place() instance.Place { return i.connector.options.Place }

// Engine returns the engine of the database.
func (i *Instance) Engine() *engine.Engine { return i.engine }

// Health returns the condition of the database.
func (i *Instance) Health() sqlite.Health { return i.db.Health() }

// URL returns the address that the instance listens on, or "" if it does not listen.
func (i *Instance) URL() string { return i.url }

// PublicURL returns the address of the pages for people, or "" if the instance does not
// listen.
func (i *Instance) PublicURL() string { return i.conn.pages }

// Proof returns the proof of this instance for a nonce. It returns "" while the instance closes, so that new
// commands look for the next instance.
func (i *Instance) Proof(nonce string) string {
	if i.conn.closing.Err() != nil {
		return ""
	}
	return instance.Proof(i.secret, nonce)
}

// Yield closes the instance in the background, so that another process can open the database. The next call
// of this process first looks for that process, for [yieldedTime]. Yield always returns nil.
func (i *Instance) Yield() error {
	c := i.connector
	c.connecting <- struct{}{}
	c.yielded = true
	<-c.connecting
	go func() {
		c.lose(i.conn)
		_ = i.Close() // an error loses no acknowledged change
	}()
	return nil
}

// watch waits until the instance closes. If the database fails before that, watch calls fail.
func (i *Instance) watch() {
	select {
	case <-i.db.Failed():
		i.fail(i.failure())
	case <-i.conn.closing.Done():
	}
}

// filesPause is the time between two checks that the database is still at its path.
const filesPause = time.Second

// watchFiles makes the instance fail if its database was moved, replaced or deleted, because later changes
// would be lost.
func (i *Instance) watchFiles(ctx context.Context) {
	tick := time.NewTicker(filesPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := i.lock.Check(); err != nil {
			i.connector.options.Log.Error("the database is not at its path any more", "error", err)
			go i.fail(err) // fail waits for this goroutine
			return
		}
	}
}

// fail ends an instance that cannot continue. It calls OnFailure or, if OnFailure is nil, closes the
// instance.
func (i *Instance) fail(err error) {
	o := i.connector.options
	if o.OnFailure != nil {
		o.OnFailure(err)
		return
	}
	i.conn.end()
	i.connector.lose(i.conn)
	_ = i.Close() // Connector.Close returns the error
	if o.OnDatabaseFailure != nil && i.failure() != nil {
		o.OnDatabaseFailure(err)
	}
}

// failure returns the reason why the database failed, or nil.
func (i *Instance) failure() error {
	select {
	case <-i.db.Failed():
		return i.db.Health().Failed
	default:
		return nil
	}
}

// Close ends waiting calls, finishes requests in progress, closes the database, removes server.json and
// releases the lock, in this order. If the database cannot be closed in time, it returns an error and keeps
// the lock. Only the first call closes the instance. All calls wait until the instance is closed, and return
// the same error.
func (i *Instance) Close() error { return i.close() }

func (i *Instance) closeAll() error {
	i.conn.end()
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	var errs []error
	if i.server != nil {
		errs = append(errs, i.stopServing())
	}
	i.announcing.Wait()
	i.stopEngine()
	closed := make(chan error, 1)
	go func() { closed <- i.closeStore() }()
	select {
	case err := <-closed:
		errs = append(errs, err)
	case <-limit.C:
		// The lock is kept until the process ends, so that no other process opens the
		// database before that.
		return errors.Join(append(errs, errSlowClose)...)
	}
	if i.server != nil {
		errs = append(errs, i.connector.options.Place.Retract())
	}
	return errors.Join(append(errs, i.lock.Release())...)
}

// stopServing ends waiting calls and finishes requests in progress, within shutdownTime. It
// also returns the error that ended the server before.
func (i *Instance) stopServing() error {
	i.handler.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := i.server.Shutdown(ctx)
	if err != nil {
		err = i.server.Close()
	}
	i.handler.Finish()
	return errors.Join(err, <-i.served)
}

// closeStore waits for the engine and the sweeper to end, and closes the database.
func (i *Instance) closeStore() error {
	err := <-i.engineDone
	i.sweeping.Wait()
	return errors.Join(err, i.db.Close())
}
