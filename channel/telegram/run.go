package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// An Engine links chats to people, and provides the clients of people.
type Engine interface {
	// ContactClient returns the contact with an address, and the client of its person. Approvals that the
	// person gives with this client for later calls end with the contact. The error is [askback.ErrNotFound]
	// if there is no such contact or it has ended, and [askback.ErrForbidden] if the person may not answer
	// now.
	ContactClient(
		ctx context.Context, channel, address string, via askback.Channel,
	) (askback.PersonClient, askback.Contact, error)
	// LinkContact links an address to the person with a one-time code. The error is [askback.ErrNotFound] if
	// no such code is valid.
	LinkContact(ctx context.Context, channel, code, address, label string) (askback.Contact, error)
	// ContactAt returns the contact with an address, or [askback.ErrNotFound].
	ContactAt(ctx context.Context, channel, address string) (askback.Contact, error)
	// RemoveContact deletes the contact with an address.
	RemoveContact(ctx context.Context, channel, address string) error
}

// Pauses after errors of getUpdates.
const (
	firstPause = time.Second
	maxPause   = time.Minute
	// conflictPause is the pause if another process polls with the same token. Telegram ends the earlier
	// poll, so two processes without a pause would end each other's polls all the time.
	conflictPause = 30 * time.Second
)

// Run reads updates and handles them until ctx ends. An update is confirmed only after its effect is
// committed. Two processes with the same token take turns.
func (c *Channel) Run(ctx context.Context, e Engine) {
	pauses := pause.Backoff{First: firstPause, Max: maxPause}
	for !c.begin(ctx) && pauses.Wait(ctx) == nil {
	}
	pauses.Reset()
	for offset := int64(0); ctx.Err() == nil; {
		all, err := c.api.updates(ctx, offset)
		if err == nil {
			offset, err = c.handleAll(ctx, e, all, offset)
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			_ = pause.For(ctx, c.pollFailed(err, pauses.Next())) // the loop ends with ctx
		default:
			pauses.Reset()
		}
	}
}

// begin reads the account of the bot and sets its commands. It reports whether the account could be read.
func (c *Channel) begin(ctx context.Context) bool {
	var me user
	if err := c.api.call(ctx, "getMe", struct{}{}, &me); err != nil {
		c.logFailure(ctx, "the bot of Telegram cannot be reached", err)
		return false
	}
	c.me.Store(&me)
	c.options.Log.Info("the bot of Telegram takes answers", "bot", "@"+me.Username)
	type command struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	var all []command
	for _, k := range commands {
		all = append(all, command{k.name, k.help})
	}
	if err := c.api.call(ctx, "setMyCommands", map[string]any{"commands": all}, nil); err != nil {
		c.logFailure(ctx, "the menu of the bot was not set", err)
	}
	return true
}

// pollFailed logs why updates were not read or not handled. It returns the pause before the next attempt. If
// the reason is unknown, the result is at least pause.
func (c *Channel) pollFailed(err error, pause time.Duration) time.Duration {
	var failed *apiError
	if !errors.As(err, &failed) {
		c.options.Log.Warn("reading updates of Telegram failed", "error", err, "retry", pause)
		return pause
	}
	switch failed.code {
	case http.StatusConflict:
		if failed.mentions("webhook is active") {
			c.options.Log.Error("this bot has a webhook, so its updates cannot be read: delete it with " +
				"deleteWebhook, or use another bot")
			return maxPause
		}
		c.options.Log.Warn("another process reads the updates of this bot; if it is not another server of the same "+
			"database, use another bot", "retry", conflictPause)
		return conflictPause
	case http.StatusUnauthorized, http.StatusNotFound:
		c.options.Log.Error("Telegram rejects the token: check channels.telegram.token in the settings", "error",
			failed)
		return maxPause
	}
	c.options.Log.Warn("reading updates of Telegram failed", "error", failed, "retry", max(pause, failed.retryAfter))
	return max(pause, failed.retryAfter)
}

// handleAll handles updates in their order. It returns the offset that confirms the handled updates. An error
// means that the effect of the next update could not be committed, so that this update must be handled again.
func (c *Channel) handleAll(ctx context.Context, e Engine, all []update, offset int64) (int64, error) {
	for _, u := range all {
		err := c.handle(ctx, e, u)
		if ctx.Err() != nil || isTransient(err) {
			return offset, err
		}
		if err != nil {
			c.logFailure(ctx, "handling an update of Telegram failed", err, "update", u.ID)
		}
		offset = max(offset, u.ID+1)
	}
	return offset, nil
}

// isTransient reports whether err is an error of the engine after which a retry can succeed.
func isTransient(err error) bool {
	for _, transient := range []error{
		askback.ErrBusy, askback.ErrFull, askback.ErrStopping, askback.ErrUnknown, askback.ErrUnreachable,
		askback.ErrDiskFull,
	} {
		if errors.Is(err, transient) {
			return true
		}
	}
	return false
}

// handle handles an update. Errors of Telegram are logged and not returned, because the effect of the update
// is already committed.
func (c *Channel) handle(ctx context.Context, e Engine, u update) error {
	switch {
	case u.Callback != nil:
		return c.pressed(ctx, e, *u.Callback)
	case u.MyChatMember != nil:
		m := u.MyChatMember
		if m.Chat.private() && m.New.Status == "kicked" {
			c.unlink(ctx, e, m.Chat.ID, "blocked")
		}
	case u.Message != nil:
		m := *u.Message
		switch {
		case m.MovedTo != 0 && c.allowed(m.Chat.ID):
			c.move(m.Chat.ID, m.MovedTo)
		case m.From == nil || m.From.IsBot:
		case m.Chat.private():
			return c.written(ctx, e, m)
		case c.allowed(m.Chat.ID) && c.isReplyToBot(m):
			return c.written(ctx, e, m)
		}
	}
	return nil
}

func (c *Channel) isReplyToBot(m message) bool {
	me := c.me.Load()
	return me != nil && m.ReplyTo != nil && m.ReplyTo.From != nil && m.ReplyTo.From.ID == me.ID
}

// unlink removes the contact of a private chat.
func (c *Channel) unlink(ctx context.Context, e Engine, chatID int64, why string) {
	err := e.RemoveContact(ctx, Name, address(chatID))
	switch {
	case errors.Is(err, askback.ErrNotFound):
	case err != nil:
		c.options.Log.Warn("a chat of Telegram was not unlinked", "error", err)
	default:
		c.options.Log.Info("a chat of Telegram was unlinked", "why", why)
	}
}

// address returns the address of a contact. The address is the id of the user, which is also the id of the
// private chat.
func address(userID int64) string { return strconv.FormatInt(userID, 10) }

// logFailure logs err with Telegram's text about the error. The log contains no token. If ctx has ended,
// logFailure logs nothing.
func (c *Channel) logFailure(ctx context.Context, what string, err error, more ...any) {
	if ctx.Err() != nil {
		return
	}
	more = append(more, "error", err)
	var sending *askback.SendError
	if errors.As(sendError(err), &sending) && sending.Cause != nil {
		more = append(more, "cause", sending.Cause)
	}
	c.options.Log.Warn(what, more...)
}
