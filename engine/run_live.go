package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/askback/askback"
)

// A liveText is what the model of a run has written so far in its present request. It is not
// stored: the whole message is, when it is complete.
type liveText struct {
	hub     *hub
	session string
	request int

	mu    sync.Mutex
	text  strings.Builder
	ended bool
}

// begin returns the text of a new request of the run of a session.
func (h *hub) begin(session string, request int) *liveText {
	l := &liveText{hub: h, session: session, request: request}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[session] = l
	return l
}

// maxLive is the maximum length of a live text in bytes. What follows comes with the message.
const maxLive = 1 << 20

// add adds a piece of the text, and wakes the followers of the session.
func (l *liveText) add(piece string) {
	l.mu.Lock()
	more := piece != "" && !l.ended && l.text.Len() < maxLive
	if more {
		l.text.WriteString(strings.ToValidUTF8(piece, "�"))
	}
	l.mu.Unlock()
	if more {
		l.hub.mu.Lock()
		defer l.hub.mu.Unlock()
		l.hub.followers.wake(l.session, nil)
	}
}

// end ends the text. It is called before the message is committed, so that no piece of it comes
// after it.
func (l *liveText) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if l.hub.live[l.session] == l {
		delete(l.hub.live, l.session)
	}
}

// liveOf returns the text that the model of a session is writing, or nil.
func (h *hub) liveOf(session string) *liveText {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.live[session]
}

// after returns the text from an offset on, unless it has ended.
func (l *liveText) after(offset int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return ""
	}
	return l.text.String()[offset:]
}

// yieldLive yields what the reader has not got of the text that the model is writing.
func (f *eventStream) yieldLive(ctx context.Context, yield func(askback.Event, error) bool) error {
	if f.session == "" {
		return nil
	}
	l := f.client.engine.hub.liveOf(f.session)
	if l == nil {
		return nil
	}
	if l != f.live {
		isFor, err := f.client.isAskedBy(ctx, f.session) // the text may be part of an ask
		if err != nil {
			return err
		}
		f.live, f.liveSent, f.liveHidden = l, 0, !isFor
	}
	text := l.after(f.liveSent)
	if text == "" || f.liveHidden {
		return nil
	}
	data, err := json.Marshal(struct {
		Request int    `json:"request"`
		Offset  int    `json:"offset"`
		Text    string `json:"text"`
	}{l.request, f.liveSent, text})
	if err != nil {
		return err
	}
	f.liveSent += len(text)
	ev := askback.Event{
		Cursor: f.pos.cursor(), SessionID: f.session, Type: askback.EventMessageDelta, At: f.client.engine.clock(), Data: data,
	}
	if !yield(ev, nil) {
		return errStopped
	}
	return nil
}
