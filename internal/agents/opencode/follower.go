package opencode

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/agents/hook"
	"github.com/askback/askback/internal/pause"
)

// A Follower is attached to a server of OpenCode, and asks people about the requests of all
// its sessions.
type Follower struct {
	Asks           hook.Client
	URL            string
	User, Password string   // for the server; Password is "" if the server requires no password
	Folders        []string // further folders that may have open requests, besides the folder of the server
	// Note is called with messages for the user. Calls do not overlap.
	Note func(text string)
	// Retry is the time between two attempts to connect; zero means two seconds.
	Retry time.Duration

	server *server
	asker  *dialog.Asker

	mu      sync.Mutex
	folders []string // the folders that had requests, the latest last
}

// maxFolders is the maximum number of remembered folders.
const maxFolders = 100

// The reasons for withdrawing asks.
const (
	errAnswered hook.Reason = "Decided in OpenCode, or no longer needed"
	errDetached hook.Reason = "Askback was detached from OpenCode"

	errAmbiguous hook.Reason = "OpenCode asked about several calls with the same id"
)

// Run follows the server until ctx ends, and connects again whenever the connection is lost. It returns an
// error only if the server rejects the password, or Askback rejects the token.
func (f *Follower) Run(ctx context.Context) error {
	f.prepare()
	return f.asker.Run(ctx, f.keepFollowing)
}

func (f *Follower) prepare() {
	f.server = newServer(f)
	f.asker = &dialog.Asker{Client: f.Asks, Otherwise: "only OpenCode asks", Notify: f.Note}
}

// keepFollowing follows the server, and connects again whenever the connection is lost. It returns an error
// only if the server rejects or requires the password.
func (f *Follower) keepFollowing(ctx context.Context) error {
	noted := ""
	for ctx.Err() == nil {
		attached := false
		err := f.follow(ctx, func() {
			attached = true
			f.asker.NoteAttached("OpenCode at "+f.URL, "Its requests are in the inbox as well.")
		})
		problem, details := f.noConnection(err)
		switch status, ok := errors.AsType[errStatus](err); {
		case ctx.Err() != nil:
			return nil
		case ok && status.status == http.StatusUnauthorized && f.Password != "":
			return errors.New("the server of OpenCode rejects the password: check OPENCODE_SERVER_PASSWORD and " +
				"OPENCODE_SERVER_USERNAME")
		case ok && status.status == http.StatusUnauthorized:
			return errors.New("the server of OpenCode requires a password: set OPENCODE_SERVER_PASSWORD")
		case attached:
			noted = ""
			f.asker.Note("The connection to OpenCode at " + f.URL + " has ended. Waiting for it …")
		case problem != noted:
			noted = problem
			f.asker.Note(problem + details)
		}
		_ = pause.For(ctx, cmp.Or(f.Retry, 2*time.Second))
	}
	return nil
}

// noConnection returns the note for an error of follow, as a problem and its details. The details may differ
// between two attempts with the same problem.
func (f *Follower) noConnection(err error) (problem, details string) {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the note has the address
	}
	status, replied := errors.AsType[errStatus](err)
	switch {
	case err == nil:
		return "OpenCode at " + f.URL + " ends each connection. Trying again …", ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "No program listens at " + f.URL + ". Start opencode serve. Waiting for it …", ""
	case errors.Is(err, errForeign), replied && status.status < http.StatusInternalServerError:
		return "The program at " + f.URL + " is not a server of OpenCode", ": " + err.Error() + ". Waiting for one …"
	}
	return "No connection to OpenCode at " + f.URL, ": " + err.Error() + ". Trying again …"
}

// follow handles the events of one connection. Asks stay open when the connection is lost, because the same
// requests are found again. When ctx ends, the asks are withdrawn.
func (f *Follower) follow(ctx context.Context, attached func()) error {
	// The cause of the cancellation is the reason that people see.
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(errDetached) })
	defer stop()
	c := &connection{f: f}
	err := f.server.events(within, func(ev event) {
		if ev.Payload.Type == "server.connected" {
			attached()
			c.finding.Go(func() { c.find(within) })
			return
		}
		c.handle(within, ev)
	})
	cancel(hook.ErrDetached) // does nothing if ctx has ended
	c.dialogs.EndAll(context.Cause(within))
	c.finding.Wait()
	c.dialogs.Wait()
	return err
}

// remember records that a folder had a request.
func (f *Follower) remember(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.folders = append(slices.DeleteFunc(f.folders, func(known string) bool { return known == folder }), folder)
	if len(f.folders) > maxFolders {
		f.folders = f.folders[1:]
	}
}

// openFolders returns the folders that may have open requests. The folder of the server is "".
func (f *Follower) openFolders() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Concat([]string{""}, f.Folders, f.folders)
	slices.Sort(all)
	return slices.Compact(all)
}
