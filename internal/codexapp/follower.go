package codexapp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/askback/askback/internal/hook"
)

// A Follower is attached to an app-server, and asks people about the requests of all its
// threads.
type Follower struct {
	Asks    hook.Client
	Socket  string
	Version string // of this program
	// Following, if set, is called for each thread whose requests are asked. done is called when
	// they no longer are.
	Following func(thread string) (done func())
	// Note is called with what the user should know. Calls do not overlap.
	Note func(text string)
	// Retry is the time between two attempts to connect; zero is two seconds.
	Retry time.Duration

	noting sync.Mutex
}

// The reasons of withdrawn asks.
const (
	errAnswered hook.Reason = "Decided at the terminal of Codex"
	errDetached hook.Reason = "Askback was detached from Codex"
	errChanged  hook.Reason = "Codex changed the edits after it asked"
)

// Run follows the app-server until ctx ends. While no daemon listens on the socket, Run waits
// for one. An error is returned only if the other side is not an app-server.
func (f *Follower) Run(ctx context.Context) error {
	waiting := false
	for ctx.Err() == nil {
		conn, err := dial(ctx, f.Socket)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errNoDaemon):
			if !waiting {
				waiting = true
				f.note("Codex's daemon is not running: no program listens on " + f.Socket + ". Start codex at a terminal, or run codex app-server daemon start. Waiting for it …")
			}
		case err != nil:
			return fmt.Errorf("this is not the app-server of Codex: %w", err)
		default:
			waiting = false
			if err := newSession(f, conn).run(ctx); err != nil {
				return err
			}
		}
		f.pause(ctx)
	}
	return nil
}

func (f *Follower) pause(ctx context.Context) {
	retry := f.Retry
	if retry == 0 {
		retry = 2 * time.Second
	}
	select {
	case <-ctx.Done():
	case <-time.After(retry):
	}
}

func (f *Follower) note(text string) {
	f.noting.Lock()
	defer f.noting.Unlock()
	f.Note(text)
}
