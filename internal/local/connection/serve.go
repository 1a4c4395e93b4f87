package connection

import (
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
	"syscall"
	"time"

	"github.com/askback/askback/internal/egress"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/store/sqlite"
)

// A Handler serves the requests to an instance.
type Handler interface {
	http.Handler
	// Stop ends waiting calls and streams. Requests in progress continue.
	Stop()
	// Finish is called after the last request.
	Finish()
}

// The limits of the HTTP server.
const (
	headerTime = 10 * time.Second
	// readTime is for a request with its body. Handlers may wait longer, and give the body more time
	// once they have authenticated the request: see package login.
	readTime  = 10 * time.Second
	idleTime  = 2 * time.Minute
	maxHeader = 64 << 10
)

// listen starts to serve the database, and writes the address to server.json.
func (i *Instance) listen() error {
	o := i.connector.options
	ln, err := i.newListener()
	if err != nil {
		return err
	}
	i.url = "http://" + localAddress(ln.Addr())
	i.conn.pages = o.PublicURL
	if i.conn.pages == "" {
		i.conn.pages = i.url
	}
	if i.secret, err = i.engine.NewSecret(); err != nil {
		return errors.Join(err, ln.Close())
	}
	i.serve(ln)
	i.connector.lastURL = i.url
	return i.announce(instance.Server{
		Instance: rand.Text(), URL: i.url, Pages: i.conn.pages, PID: os.Getpid(), Kind: o.Kind, Version: o.Version,
		Schema: sqlite.SchemaVersion, Secret: i.secret, Settings: instance.SettingsName(o.Settings),
	})
}

// newListener returns a listener. With [instance.KindServe], it listens on the given address only. Otherwise
// it prefers the address of the last server, because links contain it. If that address is in use, it listens
// on the given address or on any port.
func (i *Instance) newListener() (net.Listener, error) {
	o := i.connector.options
	if o.Kind == instance.KindServe {
		ln, err := net.Listen("tcp", o.Listen)
		if err != nil {
			err = fmt.Errorf("%w; use --listen to give another address", err)
		}
		return ln, err
	}
	last, _ := o.Place.Last()
	addresses := []string{o.Listen, "127.0.0.1:0"}
	for _, url := range []string{i.connector.lastURL, last.URL} {
		if address, ok := strings.CutPrefix(url, "http://"); ok && egress.IsLoopback(address) {
			addresses = append([]string{address}, addresses...)
		}
	}
	var errs []error
	for _, address := range addresses {
		ln, err := net.Listen("tcp", address)
		if err == nil {
			return ln, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// localAddress returns the address at which this machine reaches a listener. For a listener on all addresses,
// the result is on 127.0.0.1.
func localAddress(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

func (i *Instance) serve(ln net.Listener) {
	o := i.connector.options
	i.engine.Link(i.conn.pages)
	i.handler = o.Handler(i)
	handler := checkHost(ln.Addr(), i.conn.pages, i.handler)
	if o.Middleware != nil {
		handler = o.Middleware(handler)
	}
	i.server = &http.Server{
		Handler: handler, ConnState: i.unused.track,
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	i.server.Protocols = new(http.Protocols)
	i.server.Protocols.SetHTTP1(true)
	i.server.Protocols.SetUnencryptedHTTP2(true) // for proxies: many streams on one connection
	i.server.RegisterOnShutdown(i.unused.close)
	i.listener, i.served = ln, make(chan error, 1)
	go func() {
		err := i.server.Serve(ln)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		i.served <- err
		if err != nil {
			i.fail(err)
		}
	}()
}

// announcePause is the time between two attempts to write server.json.
const announcePause = time.Second

// announce writes server.json. If the disk is full, it returns nil and tries again in the
// background, because clients that know the address can still read.
func (i *Instance) announce(s instance.Server) error {
	place, log := i.connector.options.Place, i.connector.options.Log
	err := place.Announce(s)
	if errors.Is(err, syscall.ENOSPC) && i.db.FreeReserve() {
		err = place.Announce(s)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	log.Warn("the disk is full: commands on this machine cannot find this server until there is room", "error", err)
	i.announcing.Go(func() {
		for errors.Is(err, syscall.ENOSPC) && pause.For(i.conn.closing, announcePause) == nil {
			err = place.Announce(s)
		}
		if i.conn.closing.Err() == nil {
			log.Info("commands on this machine can find this server", "error", err)
		}
	})
	return nil
}

// unusedConns are connections without a request so far. Browsers open such connections in advance, and
// [http.Server.Shutdown] would wait seconds for each connection.
type unusedConns struct {
	mu   sync.Mutex
	open map[net.Conn]struct{}
}

// track is the ConnState function of an [http.Server]. It keeps a connection until its
// first request.
func (u *unusedConns) track(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.open, conn)
		return
	}
	if u.open == nil {
		u.open = map[net.Conn]struct{}{}
	}
	u.open[conn] = struct{}{}
}

func (u *unusedConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for conn := range u.open {
		_ = conn.Close()
	}
}
