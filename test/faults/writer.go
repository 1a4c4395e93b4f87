package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/lifecycle"
	"github.com/askback/askback/store"
)

// writerCount is how many write at once, while others follow.
const writerCount = 64

// words are what was said to sessions, each time in other words, so that each
// is found in the history: once, or, where a call got lost, as often as it was
// made.
type words struct {
	mu    sync.Mutex
	tries map[string]int
	acked map[string]bool
}

func newWords() *words { return &words{tries: map[string]int{}, acked: map[string]bool{}} }

func (w *words) say(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[what]++
}

func (w *words) acknowledged(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked[what] = true
}

// compare holds what was said against a history.
func (w *words) compare(history []store.Event) (bad []violation) {
	found := map[string]int{}
	for _, e := range history {
		var h lifecycle.Event
		if err := json.Unmarshal(e.Data, &h); err != nil {
			bad = append(bad, violated(torn, "line %d: %v", e.Seq, err))
		}
		if what := spoken(e.Type, h); what != "" {
			found[what]++
		}
	}
	for what, tries := range w.tries {
		switch n := found[what]; {
		case n == 0 && w.acked[what]:
			bad = append(bad, violated(lost, "%q was acknowledged and is in no history", what))
		case n > tries:
			bad = append(bad, violated(doubled, "%q was said %d times and is in the history %d times", what, tries, n))
		}
	}
	return bad
}

// spoken are the words of a line that was said to a session; "" is another.
func spoken(kind string, h lifecycle.Event) string {
	if kind == "message" {
		return h.Text
	}
	return ""
}

// A writer is an agent in one of the sessions that are followed, or in one of its
// own, and the person who answers it.
type writer struct {
	person
	number  int
	agent   holder
	streams []stream
	words   *words
}

// A stream is a session that is followed from its beginning.
type stream struct{ key, id string }

// live writes until ctx ends, or something is wrong.
func (w *writer) live(ctx context.Context) {
	for n := 0; ctx.Err() == nil && w.fine(); n++ {
		w.once(ctx, n)
	}
}

// once asks, mostly answers, and mostly says something. What nobody answers ends
// when the person ends the turn of the session.
func (w *writer) once(ctx context.Context, n int) {
	at := w.streams[w.rand.IntN(len(w.streams))]
	id, ok := w.ask(ctx, n, at)
	if !ok {
		return
	}
	var settle func(context.Context)
	switch dice := w.rand.IntN(10); {
	case dice < 7:
		settle = w.answer(ctx, id)
	case dice < 9:
		settle = w.decline(id)
	}
	if settle != nil {
		settle(ctx)
	}
	switch dice := w.rand.IntN(20); {
	case dice < 6:
		said := w.said("message", n)
		w.tellSession(ctx, w.holder, at.id, said, askback.SendMessage{Text: said})
	case dice < 9:
		said := w.said("report", n)
		w.tellSession(ctx, w.agent, at.id, said, askback.Report{Text: said, Final: dice == 8})
	case dice < 11:
		w.endTurn(ctx, at.id)
	}
}

// endTurn cancels what the session asks; the next ask or message begins another turn. It
// says no words of its own: a turn that is over is not ended again.
func (w *writer) endTurn(ctx context.Context, id string) {
	_, _, err := call(ctx, w.line, w.holder.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
		return c.Send(ctx, id, askback.EndTurn{})
	})
	if !errors.Is(err, context.Canceled) {
		w.well(ctx, "end the turn", err)
	}
}

func (w *writer) said(what string, n int) string {
	return fmt.Sprintf("%s %d of writer %d", what, n, w.number)
}

// ask asks in a session that is followed, in one that begins with the ask, or
// in none.
func (w *writer) ask(ctx context.Context, n int, at stream) (id string, ok bool) {
	key := fmt.Sprintf("writer %d ask %d", w.number, n)
	r := request(key)
	r.Timeout, r.OnTimeout, r.SessionKey = 0, "", at.key
	switch w.rand.IntN(8) {
	case 0:
		r.SessionKey = fmt.Sprintf("run %d of writer %d", n/4, w.number)
	case 1:
		r.SessionKey = ""
	}
	asked, _, err := call(ctx, w.line, w.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
		return c.Ask(ctx, r)
	})
	if !w.well(ctx, "ask "+key, err) {
		return "", false
	}
	w.tell(ack{Op: opAsked, Key: ownedKey(w.agent.name, key), ID: asked.ID})
	return asked.ID, true
}

// tellSession says something until a server has heard it.
func (w *writer) tellSession(ctx context.Context, as holder, id, what string, t askback.Command) {
	_, _, err := call(ctx, w.line, as.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
		w.words.say(what)
		return c.Send(ctx, id, t)
	})
	if errors.Is(err, context.Canceled) || !w.well(ctx, what, err) {
		return
	}
	w.words.acknowledged(what)
}
