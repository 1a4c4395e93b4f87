package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/askback/askback"
	"github.com/askback/askback/httpapi"
	"github.com/askback/askback/internal/lifecycle"
	"github.com/askback/askback/store"
)

// writerCount is how many writers run concurrently.
const writerCount = 64

// runCount is the number of sessions of a writer that are not followed. All writers together must have fewer
// than 1000 open sessions, the maximum of an agent.
const runCount = 12

// sentTexts counts the texts that were sent to sessions. Each text is unique. An acknowledged text must be in
// the history, and no text may be there more often than it was sent.
type sentTexts struct {
	mu    sync.Mutex
	tries map[string]int
	acked map[string]bool
}

func newSentTexts() *sentTexts { return &sentTexts{tries: map[string]int{}, acked: map[string]bool{}} }

func (w *sentTexts) addTry(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[what]++
}

func (w *sentTexts) acknowledged(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked[what] = true
}

// compare returns violations if the messages in a history contradict the counts of the
// texts.
func (w *sentTexts) compare(history []store.Event) (bad []violation) {
	counts := map[string]int{}
	for _, e := range history {
		var h lifecycle.Event
		if err := json.Unmarshal(e.Data, &h); err != nil {
			bad = append(bad, violated(inconsistent, "event %d: %v", e.Seq, err))
		}
		if what := messageText(e.Type, h); what != "" {
			counts[what]++
		}
	}
	for what, tries := range w.tries {
		switch n := counts[what]; {
		case n == 0 && w.acked[what]:
			bad = append(bad, violated(lost, "%q was acknowledged and is not in the history", what))
		case n > tries:
			bad = append(bad,
				violated(duplicated, "%q was sent %d times and is in the history %d times", what, tries, n))
		}
	}
	return bad
}

// messageText returns the text of a message, or "" for an event of another type.
func messageText(kind string, h lifecycle.Event) string {
	if kind == "message" {
		return h.Text
	}
	return ""
}

// A writer is an agent in a followed or a new session, and the person who answers the agent.
type writer struct {
	person
	number    int
	agent     account
	streams   []stream
	sentTexts *sentTexts
}

// A stream is a session that is followed from its beginning.
type stream struct{ key, id string }

// run writes until ctx is done or there is a violation.
func (w *writer) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil && w.ok(); n++ {
		w.step(ctx, n)
	}
}

// step makes an ask, and answers or declines nine of ten. Sometimes it also sends a message
// or a report, or ends the turn. Asks without an answer end with the turn of the session.
func (w *writer) step(ctx context.Context, n int) {
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
		said := w.text("message", n)
		w.send(ctx, w.account, at.id, said, askback.SendMessage{Text: said})
	case dice < 9:
		said := w.text("report", n)
		w.send(ctx, w.agent, at.id, said, askback.Report{Text: said, Final: dice == 8})
	case dice < 11:
		w.endTurn(ctx, at.id)
	}
}

// endTurn ends the turn of a session, which cancels its open asks. The next ask or message
// begins another turn.
func (w *writer) endTurn(ctx context.Context, id string) {
	_, _, err := call(ctx,
		w.conn, w.account.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
			return c.Send(ctx, id, askback.EndTurn{})
		})
	if !errors.Is(err, context.Canceled) {
		w.noError(ctx, "end the turn", err)
	}
}

func (w *writer) text(what string, n int) string {
	return fmt.Sprintf("%s %d of writer %d", what, n, w.number)
}

// ask asks in a followed session, in another session of the writer, or without a session. It returns the id
// of the ask, and reports whether the ask was made.
func (w *writer) ask(ctx context.Context, n int, at stream) (id string, ok bool) {
	key := fmt.Sprintf("writer %d ask %d", w.number, n)
	r := request(key)
	r.Timeout, r.OnTimeout, r.SessionKey = 0, "", at.key
	switch w.rand.IntN(8) {
	case 0:
		r.SessionKey = fmt.Sprintf("run %d of writer %d", n/4%runCount, w.number)
	case 1:
		r.SessionKey = ""
	}
	asked, _, err := call(ctx,
		w.conn, w.agent.token, func(ctx context.Context, c *httpapi.Client) (askback.Ask, error) {
			return c.Ask(ctx, r)
		})
	if !w.noError(ctx, "ask "+key, err) {
		return "", false
	}
	w.record(ack{Op: opAsked, Key: ownedKey(w.agent.name, key), ID: asked.ID})
	return asked.ID, true
}

// send sends a command until a server accepts it, and records that its text was
// acknowledged.
func (w *writer) send(ctx context.Context, as account, id, what string, t askback.Command) {
	_, _, err := call(ctx, w.conn, as.token, func(ctx context.Context, c *httpapi.Client) (askback.Session, error) {
		w.sentTexts.addTry(what)
		return c.Send(ctx, id, t)
	})
	if errors.Is(err, context.Canceled) || !w.noError(ctx, what, err) {
		return
	}
	w.sentTexts.acknowledged(what)
}
