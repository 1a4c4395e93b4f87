package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/config"
	"github.com/askback/askback/internal/gctune"
	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/loopback"
	"github.com/askback/askback/internal/pause"
	"github.com/askback/askback/internal/serverlog"
	"github.com/askback/askback/terminal"
)

type serveCommand struct {
	Listen    string `placeholder:"ADDRESS" help:"Listen on this address and port; 127.0.0.1:7575 if not given."`
	PublicURL string `name:"public-url" placeholder:"URL" help:"Tell where people reach this server, if not there."`
	LogFormat string `name:"log-format" placeholder:"FORMAT" help:"Write log lines as text or json; text if not given."`
	LogLevel  string `name:"log-level" placeholder:"LEVEL" help:"Write log lines from this level on: debug, info, warn or error; info if not given."`
}

// yieldTime is how long serve tries to get the database from commands that hold
// it while they wait.
const yieldTime = 10 * time.Second

// Run serves until it is told to stop.
func (c *serveCommand) Run(ctx context.Context, io streams, all *commands) error {
	records, err := c.records(io, all)
	if err != nil {
		return err
	}
	log := records.Logger
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	settings := newReloader(all.Config, log)
	d, err := all.desk(serving{kind: instance.KindServe, log: log, records: records, gone: gone, settings: settings})
	if err != nil {
		return err
	}
	if d.serve.listen, d.serve.publicURL, err = c.addresses(d.file); err != nil {
		return err
	}
	if err := checkIssuer(d.file.Login.OIDC, d.serve.publicURL); err != nil {
		return err
	}
	settings.holds(d.file, c.given(all))
	at, err := d.takeOver(ctx)
	if err != nil {
		return err
	}
	defer gctune.Start()()
	c.announce(io, all, d, at.pages)
	if !loopback.IsHost(d.serve.listen) && d.serve.publicURL == "" {
		log.Warn("without --public-url, links name this machine alone, and browsers elsewhere can log in only over https")
	}
	warnOfLogin(log, d.file)
	var group sync.WaitGroup
	if i := d.holder.issuer; i != nil {
		group.Go(func() { i.look(ctx) })
	}
	settings.run(ctx, d.holder.engine.Set)
	log.Info("stopping")
	group.Wait()
	closed := at.close()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return errors.Join(cause, closed)
	}
	if closed != nil {
		return closed
	}
	log.Info("stopped")
	return nil
}

// records opens the log, as the flags and then the settings file say.
func (c *serveCommand) records(io streams, all *commands) (*serverlog.Log, error) {
	file, err := all.settings()
	if err != nil {
		return nil, err
	}
	format := cmp.Or(c.LogFormat, file.Log.Format, serverlog.Text)
	if format != serverlog.Text && format != serverlog.JSON {
		return nil, usage("--log-format is text or json")
	}
	level, err := serverlog.ParseLevel(cmp.Or(c.LogLevel, file.Log.Level, "info"))
	if err != nil {
		return nil, usage("--log-level: " + err.Error())
	}
	return serverlog.New(io.err, format, level), nil
}

// announce writes where the server listens and what to do next: lines for a person at a
// terminal, and one line of the log otherwise.
func (c *serveCommand) announce(io streams, all *commands, d *desk, pages string) {
	if !terminal.IsTerminal(io.err) {
		d.serve.log.Info("serving", "pages", pages, "address", d.home, "database", d.place.Database)
		return
	}
	flags := ""
	if all.Config != "" {
		flags += " --config " + all.Config
	}
	if all.DB != "" {
		flags += " --db " + all.DB
	}
	text := "Askback listens on " + d.home + "\n"
	if pages != d.home {
		text += "People reach it at " + pages + "\n"
	}
	fmt.Fprintf(io.err, "%sThe database is %s\n\n"+
		"Log a browser in:  askback%s login\n"+
		"Ask a question:    askback%[3]s ask \"Which database?\" PostgreSQL SQLite\n"+
		"Stop the server:   Ctrl+C\n\n", text, d.place.Database, flags)
}

// addresses are where to listen, and where people reach this server: flags win over
// the settings file.
func (c *serveCommand) addresses(file config.Config) (listen, public string, err error) {
	listen = cmp.Or(c.Listen, file.Listen, defaultListen)
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return "", "", usage("--listen is address and port, as in " + defaultListen)
	}
	public, err = origin(cmp.Or(c.PublicURL, file.PublicURL))
	return listen, public, err
}

// given are the keys of the settings file that mean nothing here, because a flag or
// the environment says otherwise.
func (c *serveCommand) given(all *commands) (keys []string) {
	for key, said := range map[string]string{"listen": c.Listen, "public_url": c.PublicURL, "database": all.DB, "log": c.LogFormat + c.LogLevel} {
		if said != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// origin checks where people reach a server: pages stand at its root.
func origin(public string) (string, error) {
	public = strings.TrimRight(public, "/")
	u, err := url.Parse(public)
	if err != nil || public != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || public != u.Scheme+"://"+u.Host) {
		return "", usage("--public-url is scheme, name and port, as in https://ask.example.com")
	}
	return public, nil
}

// takeOver becomes the holder. A command that holds the database only while it
// waits is asked to yield; another server is not.
func (d *desk) takeOver(ctx context.Context) (*connection, error) {
	limited, cancel := context.WithTimeoutCause(ctx, yieldTime, errors.New("the database is in use and was not handed over"))
	defer cancel()
	for {
		lock, s, err := d.place.Join(limited)
		if err == nil && lock == nil {
			if s.Kind == instance.KindServe {
				return nil, fmt.Errorf("a server runs already: %s (process %d)", s.URL, s.PID)
			}
			lock, err = d.handedOver(limited, s)
		}
		switch {
		case err != nil:
			return nil, err
		case lock != nil:
			return d.hold(ctx, lock)
		}
	}
}

// handedOver asks a server to yield and returns the lock, or neither when
// somebody else got it first. Whoever held it may be gone: that is as good.
func (d *desk) handedOver(ctx context.Context, s instance.Server) (*instance.Lock, error) {
	if err := d.tokens.read(); err != nil { // that server may have made them just now
		return nil, err
	}
	user := httpapi.NewClient(s.URL, d.tokens.user, s.Client())
	if err := user.Yield(ctx); err != nil && !isLost(err) {
		return nil, fmt.Errorf("ask process %d to hand over %s: %w", s.PID, d.place.Database, err)
	}
	for {
		lock, err := instance.Hold(d.place.Database)
		if !errors.Is(err, instance.ErrHeld) {
			return lock, err
		}
		if now, ok := d.place.Last(); ok && now.Instance != s.Instance {
			return nil, nil
		}
		if err := pause.For(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
