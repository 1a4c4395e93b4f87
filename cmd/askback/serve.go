package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// Run serves until it is told to stop.
func (c *serveCommand) Run(ctx context.Context, io streams, all *commands) error {
	log := slog.New(slog.NewTextHandler(io.err, nil))
	ctx, gone := context.WithCancelCause(ctx)
	defer gone(nil)
	d, err := all.desk(serving{kind: local.KindServe, listen: c.Listen, publicURL: c.PublicURL, log: log, gone: gone})
	if err != nil {
		return err
	}
	d.remote = "" // a server is no guest
	at, err := d.takeOver(ctx)
	if err != nil {
		return err
	}
	log.Info("serving", "pages", at.pages, "database", d.place.Database)
	if !isLoopback(c.Listen) && c.PublicURL == "" {
		log.Warn("without --public-url, links name the address listened on, and browsers can log in only over https or on this machine")
	}
	<-ctx.Done()
	log.Info("stopping")
	err = at.close()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// takeOver becomes the holder. A command that holds the database only while it
// waits is asked to yield; another server is not.
func (d *desk) takeOver(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, yieldTime, errors.New("the database is in use and was not handed over"))
	defer cancel()
	for {
		lock, s, err := d.place.Join(ctx)
		if err != nil {
			return nil, err
		}
		if lock != nil {
			at, err := d.hold(context.WithoutCancel(ctx), lock)
			if err != nil {
				return nil, errors.Join(err, lock.Release())
			}
			return at, nil
		}
		if s.Kind == local.KindServe {
			return nil, fmt.Errorf("a server runs already: %s (process %d)", s.URL, s.PID)
		}
		if err := d.askToYield(ctx, s); err != nil {
			return nil, err
		}
	}
}

// askToYield asks once, and waits until the lock was free or somebody else
// serves. Whoever held it may be gone: that is as good.
func (d *desk) askToYield(ctx context.Context, s local.Server) error {
	user := httpapi.NewClient(s.URL, d.tokens.user, s.Client())
	if err := user.Yield(ctx); err != nil && !isLost(err) {
		return fmt.Errorf("ask process %d to hand over %s: %w", s.PID, d.place.Database, err)
	}
	for {
		lock, err := local.Hold(d.place.Database)
		if err == nil {
			return lock.Release()
		}
		if now, ok := d.place.Last(); ok && now.Instance != s.Instance {
			return nil
		}
		if err := local.Pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}
