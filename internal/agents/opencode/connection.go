package opencode

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/agents/dialog"
	"github.com/askback/askback/internal/pause"
)

// A connection is one stream of events, with its open dialogs.
type connection struct {
	f       *Follower
	finding sync.WaitGroup
	dialogs dialog.Set[Event]
}

// find asks about the requests that are already open, in all folders that may have requests.
func (c *connection) find(ctx context.Context) {
	for _, folder := range c.f.openFolders() {
		all, err := c.f.server.open(ctx, folder)
		if err != nil {
			if ctx.Err() == nil {
				c.f.asker.Note("The open requests of OpenCode could not be read: " + err.Error())
			}
			continue
		}
		for _, ev := range all {
			c.begin(ctx, ev)
		}
	}
}

// handle handles an event. It ignores unknown events.
func (c *connection) handle(ctx context.Context, ev event) {
	var p Properties
	_ = json.Unmarshal(ev.Payload.Properties, &p) // without properties nothing is found
	switch name := ev.Payload.Type; name {
	case QuestionAsked, PermissionAsked:
		if asked, ok := readEvent(name, ev.Folder, ev.Payload.Properties); ok {
			c.begin(ctx, asked)
		}
	case QuestionReplied, QuestionRejected, PermissionReplied:
		c.dialogs.End(errAnswered, func(d Event) bool { return d.ID == p.RequestID })
	case "session.idle", "session.deleted":
		c.dialogs.End(errAnswered, func(d Event) bool { return d.SessionID == p.SessionID })
	case "server.instance.disposed":
		c.dialogs.End(errAnswered, func(d Event) bool { return d.Folder == ev.Folder })
	}
}

// begin asks about a request, unless people are already asked about it. The model can give several calls the
// same id. Their arguments could then be confused, so only OpenCode asks about such calls.
func (c *connection) begin(ctx context.Context, ev Event) {
	d := c.dialogs.Open(ctx, ev.ID, ev)
	if d == nil {
		return
	}
	c.f.remember(ev.Folder)
	c.dialogs.MuteAmbiguous(errAmbiguous, func(d Event) bool {
		return ev.CallID != "" && d.SessionID == ev.SessionID && d.MessageID == ev.MessageID && d.CallID == ev.CallID &&
			d.Permission == ev.Permission
	})
	c.dialogs.Ask(d, func(ctx context.Context) { c.ask(ctx, d) })
}

// grace is how long a request must be open before people are asked. Programs such as opencode run reply
// immediately.
const grace = 250 * time.Millisecond

// ask asks people and, if they are first, replies to the request.
func (c *connection) ask(ctx context.Context, d *dialog.Dialog[Event]) {
	if pause.For(ctx, grace) != nil {
		return
	}
	ev := d.About
	if ev.Name == PermissionAsked {
		ev.Args = c.f.server.arguments(ctx, ev)
	}
	p, err := prepare(ev)
	if err != nil {
		c.f.asker.NoteUnasked(err)
		return
	}
	c.f.asker.Ask(ctx, p.request, func(ask askback.Ask) bool {
		reply, ok := p.decide(ask)
		if !c.dialogs.Close(d) || !ok {
			return false
		}
		if err := c.f.server.reply(ctx, ev, reply); err != nil {
			c.f.asker.Note("OpenCode did not accept the answer: " + err.Error())
			return false
		}
		return true
	})
}
