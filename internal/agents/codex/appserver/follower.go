package appserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/pause"
)

// A Follower is attached to an app-server, and asks people about the requests of all its
// threads.
type Follower struct {
	Asks    hook.Client
	Socket  string
	Version string // the version of this program
	// Following, if not nil, is called for each thread that is followed. done, which may be nil, is called
	// when the thread is no longer followed.
	Following func(thread string) (done func())
	// Note is called with messages for the user. Calls do not overlap.
	Note func(text string)
	// Retry is the time between two attempts to connect; zero means two seconds.
	Retry time.Duration
}

// The reasons for withdrawing asks.
const (
	errAnswered hook.Reason = "Decided at the terminal of Codex"
	errDetached hook.Reason = "Askback was detached from Codex"
	errChanged  hook.Reason = "Codex changed the edits after it asked"
)

// Run follows the app-server until ctx ends. While there is no connection, Run retries. It returns an error
// only if the other side is not an app-server, or if Askback rejects the token.
func (f *Follower) Run(ctx context.Context) error {
	asker := f.asker()
	return asker.Run(ctx, func(ctx context.Context) error { return f.follow(ctx, asker) })
}

func (f *Follower) asker() *dialog.Asker {
	return &dialog.Asker{Client: f.Asks, Otherwise: "Codex asks only at its terminal", Notify: f.Note}
}

func (f *Follower) follow(ctx context.Context, asker *dialog.Asker) error {
	var noted error // why there is no connection
	for ctx.Err() == nil {
		conn, err := dial(ctx, f.Socket)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, websocket.ErrBadHandshake):
			return fmt.Errorf("this is not the app-server of Codex: %w", err)
		case err == nil:
			noted = nil
			if err := newSession(f, asker, conn).run(ctx); err != nil {
				return err
			}
		case noted == nil || errors.Is(noted, errNoDaemon) != errors.Is(err, errNoDaemon):
			noted = err
			asker.Note(noConnection(f.Socket, err))
		}
		_ = pause.For(ctx, cmp.Or(f.Retry, 2*time.Second))
	}
	return nil
}

// noConnection returns the note for an error of dial.
func noConnection(socket string, err error) string {
	if errors.Is(err, errNoDaemon) {
		return "Codex's daemon is not running: no program listens on " + socket +
			". Start codex at a terminal, or run codex app-server daemon start. Waiting for it …"
	}
	return "No connection to Codex's daemon: " + err.Error() + ". Trying again …"
}
