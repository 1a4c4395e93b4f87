package feed

import (
	"context"
	"encoding/json"

	"github.com/askback/askback"
)

// yieldLive yields the new part of the text that the model is writing. It yields nothing in a stream of all
// sessions, or if the principal may not read the text.
func (f *eventStream) yieldLive(ctx context.Context, yield func(askback.Event, error) bool) error {
	if f.session == "" {
		return nil
	}
	l := f.client.service.Hub.LiveOf(f.session)
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
	text := l.After(f.liveSent)
	if text == "" || f.liveHidden {
		return nil
	}
	data, err := json.Marshal(struct {
		Request int    `json:"request"`
		Offset  int    `json:"offset"`
		Text    string `json:"text"`
	}{l.Request, f.liveSent, text})
	if err != nil {
		return err
	}
	f.liveSent += len(text)
	ev := askback.Event{
		Cursor: f.pos.cursor(), SessionID: f.session, Type: askback.EventMessageDelta, At: f.client.service.Clock(),
		Data: data,
	}
	if !yield(ev, nil) {
		return errStopped
	}
	return nil
}
