package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/claudehook"
	"github.com/askback/askback/internal/instance"
)

// How often a holder looks for hooks that have ended: those of this machine leave
// a file behind, of others only their calls are known.
const (
	abandonedPause = time.Second
	sweepPause     = 10 * time.Second
)

// A sweeper withdraws the asks of hooks that have ended without a word.
type sweeper struct {
	place  instance.Place
	engine *engine.Engine
	hooks  *claudehook.Sweeper
	log    *slog.Logger

	ofThis, ofAll string // the errors that were logged last, of abandoned and of Sweep
}

func newSweeper(place instance.Place, e *engine.Engine, log *slog.Logger) *sweeper {
	everyone := e.As(askback.Principal{Kind: askback.Admin, Name: userName(), Channel: askback.ChannelTerminal})
	return &sweeper{place: place, engine: e, hooks: &claudehook.Sweeper{
		List: everyone.List,
		Client: func(name string) claudehook.Client {
			return e.As(askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelTerminal})
		},
		Awaited: func(id string) bool { return e.Awaited(id) || place.Attended(id) },
	}, log: slog.New(logHandler(log))}
}

// abandoned withdraws what only processes of this machine that are gone waited
// for. It is exact, so a command that opens the database for a moment does it.
func (s *sweeper) abandoned(ctx context.Context) {
	everyone := s.engine.As(askback.Principal{Kind: askback.Admin, Name: userName(), Channel: askback.ChannelTerminal})
	err := s.place.Abandoned(func(id string) error {
		ask, err := everyone.Get(ctx, id)
		if errors.Is(err, askback.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.hooks.Withdraw(ctx, ask)
	})
	s.note(ctx, &s.ofThis, err)
}

// run looks again and again, until ctx ends.
func (s *sweeper) run(ctx context.Context) {
	own, all := time.NewTicker(abandonedPause), time.NewTicker(sweepPause)
	defer own.Stop()
	defer all.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-own.C:
			s.abandoned(ctx)
		case now := <-all.C:
			s.note(ctx, &s.ofAll, s.hooks.Sweep(ctx, now))
		}
	}
}

// note logs an error, once until there is another or none: on a full disk it is the same
// every second.
func (s *sweeper) note(ctx context.Context, last *string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != *last && ctx.Err() == nil {
		s.log.Warn("asks of hooks that have ended are not withdrawn yet", "error", err)
	}
	*last = text
}

// attending is the seat of a hook that leaves a note while it waits.
type attending struct {
	roaming
	place instance.Place
}

// Wait implements [askback.Asker]. Without the note, the ask of a killed hook stays
// open a little longer.
func (a attending) Wait(ctx context.Context, id string) (askback.Ask, error) {
	if done, err := a.place.Attend(id); err == nil {
		defer done()
	}
	return a.roaming.Wait(ctx, id)
}
