package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/login"
	"github.com/askback/askback/internal/loopback"
	"github.com/askback/askback/internal/serverlog"
	"github.com/askback/askback/mcpserver"
	"github.com/askback/askback/store/sqlite"
	"github.com/askback/askback/web"
)

// defaultListen is where the local server is found (wire.md §9).
const defaultListen = "127.0.0.1:7575"

// The limits of a server (wire.md §1).
const (
	maxOpen    = 1000             // asks of one agent that wait
	maxWaiters = 200              // calls of one agent that wait
	maxStreams = 200              // streams that one agent or person follows
	stopTime   = 10 * time.Second // for calls that are under way
	endTime    = 20 * time.Second // for all of the end
	// readTime is for a whole request with its body; how long a handler waits then
	// is its own affair.
	readTime = 2 * time.Minute
)

// serving says what this process does when it holds the database: nothing but
// its own errand, or serve others beside it.
type serving struct {
	kind      string // "" serves nobody; else instance.KindAsk or instance.KindServe
	listen    string
	publicURL string
	log       *slog.Logger
	records   *serverlog.Log // of requests and decisions; nil: none are kept
	gone      func(error)    // called when a server ends by itself
	failed    func(error)    // called when the database failed, after the end of what was served; nil: the next call is told
	settings  *reloader      // nil: there is no file to read again
}

// holder is the process that holds the database.
type holder struct {
	desk     *desk
	lock     *instance.Lock
	db       *sqlite.Store
	engine   *engine.Engine
	stopRun  context.CancelFunc
	ran      chan error
	sweeps   sync.WaitGroup
	api      *httpapi.Handler
	mcp      *mcpserver.Server
	pages    *web.Options
	issuer   *issuer // nil: there is none
	http     *http.Server
	unused   connections
	at       *connection
	later    sync.WaitGroup
	listener net.Listener
	served   chan error // holds what ended http
	ended    chan struct{}
	once     chan struct{} // holds one: the right to end
	err      error         // what went wrong at the end; set before ended is closed
}

// hold opens the database and, if that is the errand, serves it. The lock is
// this holder's from now on, and released when that fails.
func (d *desk) hold(ctx context.Context, lock *instance.Lock) (*connection, error) {
	db, err := sqlite.Open(d.place.Database, &sqlite.Options{Log: d.serve.log})
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	h := &holder{
		desk: d, lock: lock, db: db, ran: make(chan error, 1), ended: make(chan struct{}), once: make(chan struct{}, 1),
		engine: engine.New(db, engineOptions(d.file, d.serve)),
	}
	h.once <- struct{}{}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stopRun = stop
	go func() { h.ran <- h.engine.Run(running) }()
	h.at = newConnection(nil, nil, nil, "")
	h.at.close = h.end
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.end())
	}
	sweep := newSweeper(d.place, h.engine, d.serve.log)
	sweep.abandoned(ctx)
	if d.serve.kind != "" {
		h.sweeps.Go(func() { sweep.run(running) })
	}
	d.holder, d.yielded = h, false
	go h.watch() // not before: the end reads what is set above
	return h.at, nil
}

func (h *holder) open(ctx context.Context) error {
	if err := h.desk.tokens.fill(ctx, h.engine); err != nil {
		return err
	}
	if err := h.sit(ctx); err != nil && h.desk.serve.kind != instance.KindServe {
		return err
	}
	if h.desk.serve.kind == "" {
		return nil
	}
	return h.listen()
}

// sit takes the seats of this command, by the same tokens that it would show to
// a server: one that was revoked opens nothing here either.
func (h *holder) sit(ctx context.Context) error {
	t := h.desk.tokens
	for _, s := range []struct {
		seat   *askback.Client
		from   string
		secret string
	}{
		{&h.at.agent, t.agentFile(), t.agent}, {&h.at.user, t.userFile(), t.user}, {&h.at.person, t.userFile(), t.user},
	} {
		if t.given != "" && s.seat != &h.at.person {
			s.from, s.secret = "ASKBACK_TOKEN", t.given
		}
		who, err := h.engine.Authenticate(ctx, s.secret)
		if err != nil {
			return fmt.Errorf("%s: %w", s.from, err)
		}
		*s.seat = h.engine.As(who)
	}
	return nil
}

// listen serves the database, on the port of whoever served it last if that is
// free. Who only asks takes any port; who serves insists.
func (h *holder) listen() error {
	serve := h.desk.serve
	ln, err := h.port()
	if err != nil {
		return err
	}
	url := "http://" + reachable(ln.Addr())
	public := serve.publicURL
	if public == "" {
		public = url
	}
	secret, err := h.engine.NewSecret()
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	h.serveOn(ln, public, secret)
	h.at.pages, h.desk.home = public, url
	return h.announce(instance.Server{
		Instance: rand.Text(), URL: url, Pages: public, PID: os.Getpid(), Kind: serve.kind, Version: version(),
		Schema: sqlite.SchemaVersion, Secret: secret,
	})
}

// reachable is where this machine finds a listener: one on all addresses is on
// loopback too.
func reachable(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return at.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

func (h *holder) port() (net.Listener, error) {
	serve := h.desk.serve
	if serve.kind == instance.KindServe {
		ln, err := net.Listen("tcp", serve.listen)
		if err != nil {
			err = fmt.Errorf("%w; another address can be given with --listen", err)
		}
		return ln, err
	}
	last, _ := h.desk.place.Last()
	tries := []string{serve.listen, "127.0.0.1:0"}
	for _, home := range []string{h.desk.home, last.URL} { // links name it
		if at, isHTTP := strings.CutPrefix(home, "http://"); isHTTP && loopback.IsHost(at) {
			tries = append([]string{at}, tries...)
		}
	}
	var errs []error
	for _, at := range tries {
		ln, err := net.Listen("tcp", at)
		if err == nil {
			return ln, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (h *holder) serveOn(ln net.Listener, public, secret string) {
	o := &httpapi.Options{PublicURL: public, Version: version(), Log: h.desk.serve.log, MaxStreams: maxStreams, Proof: func(nonce string) string {
		if h.at.closing.Err() != nil {
			return "" // whoever comes now should look for the next holder
		}
		return instance.Proof(secret, nonce)
	}}
	o.Ready = h.ready
	if h.desk.serve.kind == instance.KindAsk {
		o.Yield = h.yield
	}
	h.engine.Link(public)
	mcp := &mcpserver.Options{PublicURL: public, Secret: h.desk.tokens.seal(), Version: version(), Log: h.desk.serve.log}
	h.pages = &web.Options{Zone: time.Local, Log: h.desk.serve.log, PublicURL: public}
	if i := h.desk.issuer(public); i != nil {
		h.issuer = &issuer{i, h.engine, h.desk.serve.log, new(atomic.Int64)}
		h.pages.Issuer, mcp.Issuer = i, h.issuer
	}
	h.mcp = mcpserver.New(mcp)
	h.api = httpapi.NewHandler(h.gate(), o)
	handler := invited(ln.Addr(), public, h.doors())
	if serve := h.desk.serve; serve.records != nil {
		handler = serve.records.Access(handler)
	}
	h.http = &http.Server{
		Handler: handler, ConnState: h.unused.note,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logHandler(h.desk.serve.log), slog.LevelDebug),
	}
	h.http.Protocols = new(http.Protocols)
	h.http.Protocols.SetHTTP1(true)
	h.http.Protocols.SetUnencryptedHTTP2(true) // many streams on one connection, for a proxy or a client that knows
	h.http.RegisterOnShutdown(h.unused.close)
	h.listener, h.served = ln, make(chan error, 1)
	go func() {
		err := h.http.Serve(ln)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		h.served <- err
		if err != nil {
			h.fail(err)
		}
	}()
}

// fail ends what this process serves, which cannot go on. A server stops, and says why.
// A command that serves while it waits finds another way, if there is one: what it
// serves is closed, and the error is said when the command ends.
func (h *holder) fail(err error) {
	if h.desk.serve.gone != nil {
		h.desk.serve.gone(err)
		return
	}
	h.at.end()
	h.desk.lose(h.at)
	_ = h.end() // the next caller of end gets the error
	if failed := h.desk.serve.failed; failed != nil && h.failure() != nil {
		failed(err)
	}
}

// watch looks whether the database fails.
func (h *holder) watch() {
	select {
	case <-h.db.Failed():
		h.fail(h.failure())
	case <-h.at.closing.Done():
	}
}

// failure is why the database takes nothing more from this process, or nil.
func (h *holder) failure() error {
	select {
	case <-h.db.Failed():
		return h.db.Health().Failed
	default:
		return nil
	}
}

// doors are all the ways in: the wire, also in the words of others, and the pages.
func (h *holder) doors() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/api/", "/conversations/", "/agent/", "/hooks/", "/metrics", "/healthz", "/readyz"} {
		mux.Handle(path, h.api)
	}
	mux.Handle(login.ResourcePath, h.mcp.Handler(h.gate()))
	if metadata := h.mcp.Metadata(); metadata != nil {
		mux.Handle(mcpserver.MetadataPath, metadata)
	}
	mux.Handle("/", web.New(h.gate(), h.pages))
	return mux
}

// gate is the engine, with an audit log where one is kept.
func (h *holder) gate() serverlog.Engine {
	if records := h.desk.serve.records; records != nil {
		return records.Audit(h.engine)
	}
	return h.engine
}

// yield hands the database over to whoever asks for it, and lets this process
// go on as a guest there. It answers before it happens.
func (h *holder) yield() error {
	d := h.desk
	d.finding <- struct{}{}
	d.yielded = true
	<-d.finding
	go func() {
		d.lose(h.at)
		_ = h.end() // what was acknowledged is on the disk; nobody is here to be told
	}()
	return nil
}

// end stops in this order: waits end, what is under way is finished, the database
// is closed, server.json goes, the lock is released. It happens once; who comes later
// waits for it, and is told the same.
func (h *holder) end() error {
	select {
	case <-h.once:
	case <-h.ended:
		return h.err
	}
	defer close(h.ended)
	h.at.end()
	limit := time.NewTimer(endTime)
	defer limit.Stop()
	var errs []error
	if h.http != nil {
		errs = append(errs, h.stopServing())
	}
	h.later.Wait()
	h.stopRun()
	closed := make(chan error, 1)
	go func() { closed <- h.closeStore() }()
	select {
	case err := <-closed:
		errs = append(errs, err)
	case <-limit.C:
		// The lock stays: it ends with the process, and no other process opens the database before.
		h.err = errors.Join(append(errs, errSlowEnd)...)
		return h.err
	}
	if h.http != nil {
		errs = append(errs, h.desk.place.Retract())
	}
	h.err = errors.Join(append(errs, h.lock.Release())...)
	return h.err
}

// stopServing finishes the calls that are under way, and tells what ended serving
// before.
func (h *holder) stopServing() error {
	h.api.Stop()
	h.mcp.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := h.http.Shutdown(ctx)
	if err != nil {
		err = h.http.Close()
	}
	h.mcp.Finish()
	return errors.Join(err, <-h.served)
}

// closeStore closes the database when nothing uses it any more.
func (h *holder) closeStore() error {
	err := <-h.ran
	h.sweeps.Wait()
	return errors.Join(err, h.db.Close())
}

var errSlowEnd = errors.New("the database could not be closed in time; nothing is lost, and the next start takes longer")

func logHandler(l *slog.Logger) slog.Handler {
	if l == nil {
		return slog.DiscardHandler
	}
	return l.Handler()
}
