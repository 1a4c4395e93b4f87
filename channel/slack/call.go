package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// receiptSeparator separates the parts of a receipt. The parts are the channel, the timestamp of the message
// and, in a thread, the timestamp of the first message of the thread.
const receiptSeparator = ":"

func parseReceipt(receipt string) (channel, ts, thread string) {
	parts := append(strings.Split(receipt, receiptSeparator), "", "")
	return parts[0], parts[1], parts[2]
}

// post posts a message to a conversation, in the thread of the message parent unless parent is "". A reply in
// a thread is also shown in the channel, so that people notice it. If the thread cannot be used, post posts
// the message to the conversation.
func (c *Channel) post(ctx context.Context, conversation, parent string, m message) (receipt string, err error) {
	if err := c.pacer.wait(ctx, conversation); err != nil {
		return "", err
	}
	options := append(m.options(), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	threaded := options
	if parent != "" {
		threaded = append(options[:len(options):len(options)], slack.MsgOptionTS(parent), slack.MsgOptionBroadcast())
	}
	channel, ts, err := c.api.PostMessageContext(ctx, conversation, threaded...)
	if parent != "" && noThread(err) {
		parent = ""
		channel, ts, err = c.api.PostMessageContext(ctx, conversation, options...)
	}
	if err != nil {
		return "", c.failed("chat.postMessage", err)
	}
	receipt = channel + receiptSeparator + ts
	if parent != "" {
		receipt += receiptSeparator + parent
	}
	return receipt, nil
}

// edit replaces the message with this receipt by the message m.
func (c *Channel) edit(ctx context.Context, receipt string, m message) error {
	channel, ts, _ := parseReceipt(receipt)
	if ts == "" {
		return &askback.SendError{Err: errors.New("the receipt is not from Slack"), Final: true}
	}
	_, _, _, err := c.api.UpdateMessageContext(ctx, channel, ts, m.options()...)
	if err != nil {
		return c.failed("chat.update", err)
	}
	return nil
}

// tell shows a text to one member, in the conversation and the thread where the member acted. It does not
// wait for Slack.
func (c *Channel) tell(w where, text string) {
	c.working.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), tellTime)
		defer cancel()
		options := notePlain(text).options()
		if w.thread != "" {
			options = append(options, slack.MsgOptionTS(w.thread))
		}
		if _, err := c.api.PostEphemeralContext(ctx, w.channel, w.user, options...); err != nil {
			c.options.Log.Warn("Slack did not show a note", "member", w.user, "error",
				c.failed("chat.postEphemeral", err))
		}
	})
}

// tellTime is the time limit for a note to a member.
const tellTime = 10 * time.Second

// failures maps errors of Slack to the action that an operator can take.
var failures = map[string]string{
	"not_in_channel": "invite the app to the channel: /invite @Askback",
	"channel_not_found": "check channels.slack.channel, and invite the app to the channel if it is private: " +
		"/invite @Askback",
	"is_archived":  "the channel is archived; write another one in channels.slack.channel",
	"invalid_auth": "check channels.slack.bot_token",
	"not_authed":   "check channels.slack.bot_token",
	"token_revoked": "the token was revoked; install the app again and write the new one in " +
		"channels.slack.bot_token",
	"token_expired": "the token has expired; install the app again and write the new one in " +
		"channels.slack.bot_token",
	"account_inactive": "the app or its workspace was removed; install the app again",
	"missing_scope": "the app lacks a permission; compare it with docs/slack-manifest.yaml and " +
		"install it again",
	"restricted_action":     "the workspace does not allow the app to post there",
	"edit_window_closed":    "the workspace does not allow changing old messages",
	"message_not_found":     "the message was deleted",
	"user_not_found":        "there is no such member; check people[].slack",
	"user_disabled":         "this member is deactivated; check people[].slack",
	"cannot_dm_bot":         "this member is an app; check people[].slack",
	"messages_tab_disabled": "the app allows no direct messages; compare it with docs/slack-manifest.yaml",
	"invalid_blocks":        "Slack does not accept the form of the message",
	"msg_too_long":          "the message is too long",
	"msg_blocks_too_long":   "the message is too long",
}

// final lists the error codes after which the same call would fail again.
var final = []string{
	"message_not_found", "cant_update_message", "edit_window_closed", "user_not_found", "user_disabled",
	"cannot_dm_bot", "invalid_blocks", "msg_too_long", "msg_blocks_too_long", "no_text",
}

// A callError is an error of the Web API with its code.
type callError struct {
	askback.SendError
	code string
}

// Unwrap returns the [askback.SendError] for the engine.
func (e *callError) Unwrap() error { return &e.SendError }

// failed returns the error for a call of the Web API that failed with err, without text of the service.
func (c *Channel) failed(method string, err error) error {
	var limited *slack.RateLimitedError
	var reply slack.SlackErrorResponse
	var status slack.StatusCodeError
	out := &callError{}
	switch {
	case errors.As(err, &limited):
		out.Err, out.RetryAfter = fmt.Errorf("%s: Slack asks to slow down",
			method), max(limited.RetryAfter, time.Second)
	case errors.As(err, &status):
		out.Err = fmt.Errorf("%s: Slack replied %d %s", method, status.Code, http.StatusText(status.Code))
	case errors.As(err, &reply):
		out.code = code(reply.Err)
		out.Final = slices.Contains(final, out.code)
		out.Err = fmt.Errorf("%s: Slack replied %s", method, out.code)
		if fix := failures[out.code]; fix != "" {
			out.Err = fmt.Errorf("%w: %s", out.Err, fix)
		}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", method, err)
	default:
		out.Err, out.Cause = fmt.Errorf("%s: Slack did not reply", method), err
	}
	return out
}

// code returns s if it has the form of an error code of Slack. Otherwise it returns "an unknown error".
func code(s string) string {
	if len(s) > 60 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
		return "an unknown error"
	}
	return s
}

func codeOf(err error) string {
	var e *callError
	if errors.As(err, &e) {
		return e.code
	}
	return ""
}

func isGone(err error) bool { return codeOf(err) == "message_not_found" }

func isTooLong(err error) bool {
	return slices.Contains([]string{"invalid_blocks", "msg_too_long", "msg_blocks_too_long"}, codeOf(err))
}

// noThread reports whether err means that a message cannot be in the thread, for example because its parent
// was deleted.
func noThread(err error) bool {
	var reply slack.SlackErrorResponse
	return errors.As(err, &reply) && slices.Contains([]string{
		"cannot_reply_to_message", "thread_not_found", "restricted_action_thread_locked",
		"restricted_action_non_threadable_channel", "invalid_thread_ts",
	}, reply.Err)
}

// A pacer delays calls, so that there is a pause between two calls for the same key.
type pacer struct {
	pause time.Duration
	now   func() time.Time
	mu    sync.Mutex
	next  map[string]time.Time
}

// maxPaced is the number of keys above which keys without a wait are removed.
const maxPaced = 1000

// maxPause is the maximum time that a call waits. A call that would wait longer fails, and is tried again
// later.
const maxPause = 20 * time.Second

// wait returns when a call for key may begin. If the wait would be longer than maxPause, it immediately
// returns an [askback.SendError].
func (p *pacer) wait(ctx context.Context, key string) error {
	p.mu.Lock()
	now := p.now()
	if p.next == nil {
		p.next = map[string]time.Time{}
	}
	if len(p.next) > maxPaced {
		for k, at := range p.next {
			if at.Before(now) {
				delete(p.next, k)
			}
		}
	}
	begin := p.next[key]
	if begin.Before(now) {
		begin = now
	}
	if begin.Sub(now) > maxPause {
		p.mu.Unlock()
		return &askback.SendError{
			Err: errors.New("many messages wait for this channel of Slack"), RetryAfter: begin.Sub(now),
		}
	}
	p.next[key] = begin.Add(p.pause)
	p.mu.Unlock()
	return pause.For(ctx, begin.Sub(now))
}
