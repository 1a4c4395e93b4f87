package connection

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/agents"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/local/instance"
)

// The times between two searches for asks whose hooks have ended. The first search uses the files that hooks
// on this machine leave, and the second uses the calls that wait for the asks.
const (
	abandonedPause = time.Second
	sweepPause     = 10 * time.Second
)

// A sweeper withdraws the asks of hooks that ended without withdrawing them.
type sweeper struct {
	place  instance.Place
	engine *engine.Engine
	hooks  *hook.Sweeper
	log    *slog.Logger

	abandonedError, sweepError string // the errors of the last attempts
}

func newSweeper(place instance.Place, e *engine.Engine, log *slog.Logger) *sweeper {
	return &sweeper{place: place, engine: e, hooks: &hook.Sweeper{
		Programs: agents.WithHooks(),
		List:     e.As(localUser()).List,
		Client: func(name string) hook.Client {
			return e.As(askback.Principal{Kind: askback.Agent, Name: name, Channel: askback.ChannelTerminal})
		},
		Awaited: func(id string) bool { return e.Awaited(id) || place.Attended(id) },
	}, log: log}
}

// withdrawAbandoned withdraws asks if all processes on this machine that waited for them
// have ended. It withdraws no other asks, so even a short command that opens the database
// calls it.
func (s *sweeper) withdrawAbandoned(ctx context.Context) {
	client := s.engine.As(localUser())
	err := s.place.Abandoned(func(id string) error {
		ask, err := client.Get(ctx, id)
		if errors.Is(err, askback.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.hooks.Withdraw(ctx, ask)
	})
	s.logNew(ctx, &s.abandonedError, err)
}

// run withdraws the asks of hooks that have ended, until ctx ends.
func (s *sweeper) run(ctx context.Context) {
	abandoned, all := time.NewTicker(abandonedPause), time.NewTicker(sweepPause)
	defer abandoned.Stop()
	defer all.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-abandoned.C:
			s.withdrawAbandoned(ctx)
		case now := <-all.C:
			s.logNew(ctx, &s.sweepError, s.hooks.Sweep(ctx, now))
		}
	}
}

// logNew logs err unless it equals the error of the last attempt. On a full disk, every attempt fails.
func (s *sweeper) logNew(ctx context.Context, last *string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != *last && ctx.Err() == nil {
		s.log.Warn("asks of hooks that have ended are not withdrawn yet", "error", err)
	}
	*last = text
}
