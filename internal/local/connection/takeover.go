package connection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/local/instance"
	"github.com/askback/askback/internal/pause"
)

// takeOverTime is how long TakeOver waits for the database.
const takeOverTime = 10 * time.Second

// TakeOver opens the database in this process. If a waiting command has the database open, TakeOver asks the
// command to yield. If a server has the database open, TakeOver returns an error.
func (c *Connector) TakeOver(ctx context.Context) (*Instance, error) {
	limited, cancel := context.WithTimeoutCause(ctx, takeOverTime,
		errors.New("the database is in use and was not handed over"))
	defer cancel()
	for {
		lock, s, err := c.options.Place.Join(limited)
		if err == nil && lock == nil {
			if s.Kind == instance.KindServe {
				return nil, fmt.Errorf("a server is already running: %s (process %d); use it, or stop it first with "+
					"Ctrl+C in its terminal or kill %[2]d", s.URL, s.PID)
			}
			lock, err = c.requestYield(limited, s)
		}
		switch {
		case err != nil:
			return nil, err
		case lock != nil:
			return c.open(ctx, lock)
		}
	}
}

// requestYield asks the server s to yield and returns the lock. It returns nil if another process took the
// lock first. It is not an error if the server has already ended.
func (c *Connector) requestYield(ctx context.Context, s instance.Server) (*instance.Lock, error) {
	place, tokens := c.options.Place, c.options.Tokens
	if err := tokens.read(); err != nil { // the server may have just created the tokens
		return nil, err
	}
	user := httpapi.NewClient(s.URL, tokens.user, s.Client())
	if err := user.Yield(ctx); err != nil && !isLost(err) {
		return nil, fmt.Errorf("ask process %d to hand over %s: %w", s.PID, place.Database, err)
	}
	for {
		lock, err := instance.HoldDatabase(place.Database)
		if !errors.Is(err, instance.ErrHeld) {
			return lock, err
		}
		if now, ok := place.Last(); ok && now.Instance != s.Instance {
			return nil, nil
		}
		if err := pause.For(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
