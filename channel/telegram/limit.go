package telegram

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/pause"
)

// Limits of Telegram (core.telegram.org/bots/faq, "My bot is hitting limits"). In all, about thirty messages
// a second are allowed. A chat gets one message a second with short bursts, and a group twenty messages a
// minute.
const (
	allPerSecond = 25
	chatBurst    = 20
	chatPause    = time.Second
	groupBurst   = 10
	groupPause   = 3 * time.Second
	// maxWait is the maximum wait before a message. The engine sends few messages at the same time to a chat,
	// so a longer wait means that Telegram requested the wait.
	maxWait  = 30 * time.Second
	maxChats = 10_000 // maximum number of chats whose times are stored
)

// A limiter keeps messages within the limits of Telegram. It stores the time of the next message to each
// chat. Messages of a burst may be sent before this time.
type limiter struct {
	now   func() time.Time
	burst int // size of a burst in a chat

	mu    sync.Mutex
	all   time.Time
	chats map[int64]time.Time
}

func newLimiter(now func() time.Time, burst int) *limiter {
	return &limiter{now: now, burst: burst, chats: map[int64]time.Time{}}
}

// errLimited is the error of a message that Telegram would reject.
var errLimited = errors.New("more messages in a short time than Telegram accepts")

// wait returns when a message to a chat may be sent. If the wait would be longer than maxWait, it returns an
// [askback.SendError] with the time of the wait.
func (l *limiter) wait(ctx context.Context, chatID int64) error {
	wait := l.reserve(chatID)
	switch {
	case wait > maxWait:
		return &askback.SendError{Err: errLimited, RetryAfter: wait}
	case wait <= 0:
		return nil
	}
	return pause.For(ctx, wait)
}

// reserve counts a message to a chat, and returns the time until the message may be sent. If the time is
// longer than maxWait, the message is not counted.
func (l *limiter) reserve(chatID int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.chats) > maxChats {
		for id, at := range l.chats {
			if at.Before(now) {
				delete(l.chats, id)
			}
		}
	}
	burst, pause := time.Duration(l.burst)*chatPause, chatPause
	if chatID < 0 {
		burst, pause = groupBurst*groupPause, groupPause
	}
	all, chat := later(l.all, now.Add(-time.Second)), later(l.chats[chatID], now.Add(-burst))
	all, chat = all.Add(time.Second/allPerSecond), chat.Add(pause)
	wait := max(all.Sub(now), chat.Sub(now))
	if wait <= maxWait {
		l.all, l.chats[chatID] = all, chat
	}
	return wait
}

// hold delays all messages to a chat for the time d, which Telegram requested.
func (l *limiter) hold(chatID int64, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chats[chatID] = later(l.chats[chatID], l.now().Add(d))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
