package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local"
)

type serveCommand struct {
	Listen    string `default:"127.0.0.1:7575" help:"Address and port."`
	PublicURL string `name:"public-url" placeholder:"URL" help:"Where people reach this server, if not there."`
}

// yieldTime is how long serve tries to get the database from commands that hold
// it while they wait.
const yieldTime = 10 * time.Second

// gcPercent trades memory for speed: a server lives on small, short-lived
// things, and collecting half as often saves a tenth of its work.
const gcPercent = 200

// Run serves until it is told to stop.
func (c *serveCommand) Run(ctx context.Context, io streams, all *commands) error {
	public, err := origin(c.PublicURL)
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return usage("--listen is address and port, as in " + defaultListen)
	}
	log := slog.New(slog.NewTextHandler(io.err, nil))
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	d, err := all.desk(serving{kind: local.KindServe, listen: c.Listen, publicURL: public, log: log, gone: gone})
	if err != nil {
		return err
	}
	at, err := d.takeOver(ctx)
	if err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	log.Info("serving", "pages", at.pages, "database", d.place.Database)
	if !isLoopback(c.Listen) && public == "" {
		log.Warn("without --public-url, links name this machine alone, and browsers elsewhere can log in only over https")
	}
	<-ctx.Done()
	log.Info("stopping")
	if err := at.close(); err != nil {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	log.Info("stopped")
	return nil
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
			if s.Kind == local.KindServe {
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
func (d *desk) handedOver(ctx context.Context, s local.Server) (*local.Lock, error) {
	if err := d.tokens.read(); err != nil { // that server may have made them just now
		return nil, err
	}
	user := httpapi.NewClient(s.URL, d.tokens.user, s.Client())
	if err := user.Yield(ctx); err != nil && !isLost(err) {
		return nil, fmt.Errorf("ask process %d to hand over %s: %w", s.PID, d.place.Database, err)
	}
	for {
		lock, err := local.Hold(d.place.Database)
		if !errors.Is(err, local.ErrHeld) {
			return lock, err
		}
		if now, ok := d.place.Last(); ok && now.Instance != s.Instance {
			return nil, nil
		}
		if err := local.Pause(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
