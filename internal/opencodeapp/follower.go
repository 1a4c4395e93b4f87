// Package opencodeapp is a second client of a server of OpenCode. It asks people what OpenCode
// asks at its terminal, its desktop program or its pages, and the first answer counts. Nothing
// but an approval that was consumed is sent as one: after an error, the dialog of OpenCode
// decides.
package opencodeapp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback/internal/hook"
	"github.com/askback/askback/internal/opencodehook"
)

// A Follower is attached to a server of OpenCode, and asks people about the requests of all
// its sessions.
type Follower struct {
	Asks           hook.Client
	URL            string
	User, Password string   // of the server; no password means that it requires none
	Folders        []string // where requests may be open already, besides the folder of the server
	// Note is called with what the user should know. Calls do not overlap.
	Note func(text string)
	// Retry is the time between two attempts to connect; zero is two seconds.
	Retry time.Duration

	server *server
	noting sync.Mutex
	asking sync.WaitGroup

	mu      sync.Mutex
	ended   bool // no dialog may be opened
	dialogs map[string]*dialog
	folders []string // in which there were requests
}

// A dialog is a request without an answer.
type dialog struct {
	opencodehook.Event
	cancel context.CancelCauseFunc
}

// The reasons of withdrawn asks.
const (
	errAnswered hook.Reason = "Decided in OpenCode, or no longer needed"
	errDetached hook.Reason = "Askback was detached from OpenCode"

	errAmbiguous hook.Reason = "OpenCode asked about several calls with one id"
)

// Run follows the server until ctx ends, and connects again whenever the connection is lost.
// An error is returned only if the server rejects the password.
func (f *Follower) Run(ctx context.Context) error {
	f.server, f.dialogs, f.folders = newServer(f), map[string]*dialog{}, append([]string{""}, f.Folders...)
	waiting := false
	for ctx.Err() == nil {
		err := f.follow(ctx, func() { waiting = false })
		if status, ok := errors.AsType[errStatus](err); ok && status.status == 401 {
			return err
		}
		if !waiting && ctx.Err() == nil {
			waiting = true
			f.note("No connection to OpenCode at " + f.URL + ". Start opencode serve. Waiting for it …")
		}
		f.pause(ctx)
	}
	return nil
}

// follow handles the events of one connection. Asks stay open when the connection is lost,
// because the same requests are found again. When ctx ends they are withdrawn.
func (f *Follower) follow(ctx context.Context, connected func()) error {
	// The cause of its end is the reason that people read.
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(errDetached) })
	defer stop()
	f.setEnded(false)
	err := f.server.events(within, func(ev event) {
		if ev.Payload.Type == "server.connected" {
			connected()
			f.asking.Go(func() { f.find(within) })
			return
		}
		f.handle(within, ev)
	})
	f.setEnded(true)
	cancel(hook.ErrDetached) // does nothing if ctx has ended
	f.end(context.Cause(within), func(*dialog) bool { return true })
	f.asking.Wait()
	return err
}

func (f *Follower) setEnded(ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = ended
}

// find asks about the requests that are open already, in all folders in which there were some.
func (f *Follower) find(ctx context.Context) {
	f.mu.Lock()
	folders := slices.Clone(f.folders)
	f.mu.Unlock()
	for _, folder := range folders {
		all, err := f.server.open(ctx, folder)
		if err != nil {
			if ctx.Err() == nil {
				f.note("The open requests of OpenCode could not be read: " + err.Error())
			}
			continue
		}
		for _, ev := range all {
			f.begin(ctx, ev)
		}
	}
}

// handle handles an event. Unknown ones are ignored.
func (f *Follower) handle(ctx context.Context, ev event) {
	var p opencodehook.Properties
	_ = json.Unmarshal(ev.Payload.Properties, &p) // without properties nothing is found
	switch name := ev.Payload.Type; name {
	case opencodehook.QuestionAsked, opencodehook.PermissionAsked:
		if asked, ok := readEvent(name, ev.Folder, ev.Payload.Properties); ok {
			f.begin(ctx, asked)
		}
	case opencodehook.QuestionReplied, opencodehook.QuestionRejected, opencodehook.PermissionReplied:
		f.end(errAnswered, func(d *dialog) bool { return d.ID == p.RequestID })
	case "session.idle", "session.deleted":
		f.end(errAnswered, func(d *dialog) bool { return d.SessionID == p.SessionID })
	case "server.instance.disposed":
		f.end(errAnswered, func(d *dialog) bool { return d.Folder == ev.Folder })
	}
}

// begin asks about a request, unless it is asked about already.
func (f *Follower) begin(ctx context.Context, ev opencodehook.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || f.dialogs[ev.ID] != nil {
		return
	}
	if !slices.Contains(f.folders, ev.Folder) {
		f.folders = append(f.folders, ev.Folder)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	d := &dialog{ev, cancel}
	twice := f.isAmbiguous(ev)
	if f.dialogs[ev.ID] = d; twice {
		return
	}
	f.asking.Go(func() {
		defer cancel(nil)
		f.race(ctx, d)
	})
}

// isAmbiguous reports whether another open request is about a call with the same id, which the model can
// give to several calls. Their arguments could be mixed up, so only OpenCode asks about them.
func (f *Follower) isAmbiguous(ev opencodehook.Event) bool {
	found := false
	for id, d := range f.dialogs {
		if ev.CallID == "" || d.SessionID != ev.SessionID || d.MessageID != ev.MessageID || d.CallID != ev.CallID || d.Permission != ev.Permission {
			continue
		}
		found = true
		f.dialogs[id] = &dialog{d.Event, func(error) {}}
		d.cancel(errAmbiguous)
	}
	return found
}

// grace is how long a request must be open before people are asked. Programs such as opencode
// run reply to it at once.
const grace = 250 * time.Millisecond

// race asks people and, if they are first, replies to the request.
func (f *Follower) race(ctx context.Context, d *dialog) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(grace):
	}
	ev := d.Event
	if ev.Name == opencodehook.PermissionAsked {
		ev.Args = f.server.arguments(ctx, ev)
	}
	request, err := opencodehook.Request(ev)
	if err != nil {
		f.note("Asked by OpenCode alone: " + err.Error())
		return
	}
	ask, err := hook.Race(ctx, f.Asks, request, func(err error) {
		f.note("Askback cannot be reached, so OpenCode alone asks: " + err.Error())
	})
	if err != nil {
		if ctx.Err() == nil {
			f.note("Asked by OpenCode alone: " + err.Error())
		}
		return
	}
	reply, ok := opencodehook.Decide(ev, ask)
	if !f.close(d) || !ok {
		return
	}
	if err := f.server.reply(ctx, ev, reply); err != nil {
		f.note("OpenCode did not take the reply: " + err.Error())
		return
	}
	hook.Delivered(ctx, f.Asks, ask)
}

// close removes a dialog. It reports false if the dialog was answered elsewhere.
func (f *Follower) close(d *dialog) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.dialogs[d.ID] == d
	if was {
		delete(f.dialogs, d.ID)
	}
	return was
}

// end ends the dialogs that which selects.
func (f *Follower) end(cause error, which func(*dialog) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, d := range f.dialogs {
		if which(d) {
			delete(f.dialogs, id)
			d.cancel(cause)
		}
	}
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
