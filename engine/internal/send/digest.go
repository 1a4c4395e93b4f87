package send

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// digestTime is the period in which DigestAfter of [txn.Settings] limits the messages with a question of one
// agent to a receiver.
const digestTime = time.Minute

// digests holds back questions of an agent that asks one person too many at a time. After a while, one
// message has one of these questions and the number of the other questions, which are in the inbox. A digests
// value is safe for concurrent use.
//
// When the process ends, the questions that were held back are lost from memory. The next process treats them
// as new questions, after it has read from the store which messages were sent in the last digestTime.
type digests struct {
	mu  sync.Mutex
	all map[digestKey]*heldBack
}

// A digestKey identifies the questions of one agent to one receiver.
type digestKey struct{ channel, target, owner string }

// A heldBack is the state of one digestKey: the messages that were sent lately, and the deliveries that are
// held back.
type heldBack struct {
	sent    []sentMessage     // the messages of the last digestTime, oldest first
	due     time.Time         // when the next message is sent for all held deliveries; zero: no delivery is held
	held    map[string]bool   // the ids of the deliveries that are held back
	covered map[string]bool   // the ids of held deliveries that a message has counted
	carrier map[string]others // the other questions that a delivery counts, keyed by its id, until the delivery is sent
}

// An others is the number of other questions that a delivery counts, and the time of the count.
type others struct {
	n  int
	at time.Time // the time when the questions were counted
}

// A sentMessage is a message with a question. It counts once, even if it is sent again.
type sentMessage struct {
	id string // the id of the delivery
	at time.Time
}

// newHeldBack returns a heldBack with the messages that were sent to a receiver.
func newHeldBack(sent []sentMessage) *heldBack {
	return &heldBack{sent: sent, held: map[string]bool{}, covered: map[string]bool{}, carrier: map[string]others{}}
}

// knows reports whether messages to the receiver of a key are counted already.
func (g *digests) knows(key digestKey) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.all[key] != nil
}

// restore sets the messages that another process has sent, unless a delivery was planned since then.
func (g *digests) restore(key digestKey, sent []sentMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all[key] == nil && len(sent) > 0 {
		g.all[key] = newHeldBack(sent)
	}
}

// A digestPlan is the decision to hold back, skip or send the delivery of a question.
type digestPlan struct {
	until time.Time // not zero: hold the delivery back until this time
	skip  bool      // do not send the delivery, because another message has counted it
	more  int       // send the delivery, with this number of other questions
}

// plan returns a plan that sends, holds back or skips the delivery of a question, and records the plan. With
// a limit of 0, the delivery is sent, unless it was held back or counted before.
func (g *digests) plan(key digestKey, id string, limit int, now time.Time) digestPlan {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.all[key]
	if d == nil {
		if limit == 0 {
			return digestPlan{}
		}
		d = newHeldBack(nil)
		g.all[key] = d
	}
	for len(d.sent) > 0 && !now.Before(d.sent[0].at.Add(digestTime)) {
		d.sent = d.sent[1:]
	}
	counted, carries := d.carrier[id]
	switch {
	case carries: // this delivery failed before
		return digestPlan{more: counted.n}
	case d.covered[id]:
		delete(d.covered, id)
		return digestPlan{skip: true}
	case slices.ContainsFunc(d.sent, func(m sentMessage) bool { return m.id == id }): // this delivery failed before
		return digestPlan{}
	case d.due.IsZero() && (limit == 0 || len(d.sent) < limit):
		d.sent = append(d.sent, sentMessage{id, now})
		return digestPlan{}
	case d.due.IsZero():
		d.due = d.sent[0].at.Add(digestTime)
	}
	if now.Before(d.due) {
		d.held[id] = true
		return digestPlan{until: d.due}
	}
	delete(d.held, id)
	d.covered, d.held = d.held, map[string]bool{}
	d.carrier[id] = others{len(d.covered), now}
	d.due, d.sent = time.Time{}, append(d.sent, sentMessage{id, now})
	return digestPlan{more: len(d.covered)}
}

// forget removes a delivery that is no longer needed. It reports whether the delivery was held back, so that
// its receiver never got it.
func (g *digests) forget(key digestKey, id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.all[key]
	if d == nil || !d.held[id] && !d.covered[id] {
		return false
	}
	delete(d.held, id)
	delete(d.covered, id)
	return true
}

// wasSent removes the number of other questions that a delivery counts, because the delivery is not sent
// again.
func (g *digests) wasSent(key digestKey, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := g.all[key]; d != nil {
		delete(d.carrier, id)
	}
}

// carrierTime is longer than a delivery can take with all its attempts.
const carrierTime = 5 * 24 * time.Hour

// clean removes entries that are no longer needed.
func (g *digests) clean(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, d := range g.all {
		maps.DeleteFunc(d.carrier, func(_ string, c others) bool { return now.Sub(c.at) > carrierTime })
		idle := len(d.sent) == 0 || !now.Before(d.sent[len(d.sent)-1].at.Add(2*digestTime))
		if idle && len(d.held)+len(d.covered)+len(d.carrier) == 0 {
			delete(g.all, key)
		}
	}
}

// maxRestored is the maximum number of asks of an agent that are read to count its messages before a restart.
// Most agents may make fewer asks in two minutes.
const maxRestored = 500

// restoreDigest reads which messages an earlier process sent to a receiver, if this process has just started.
// After an error, it counts no messages.
func (w *worker) restoreDigest(ctx context.Context, key digestKey, now time.Time) {
	if now.Sub(w.started) >= digestTime || w.digests.knows(key) {
		return
	}
	var sent []sentMessage
	read := 0
	for row, err := range w.service.Rows(ctx,
		store.Query{Kind: txn.KindAsk, Owner: key.owner, Newest: true, Limit: txn.ListChunk}) {
		if err != nil {
			w.service.Log.Warn("messages sent before the restart are not counted", "error", err)
			return
		}
		// an ask may be made a digestTime before its message, and messages of the last digestTime count
		if read++; read > maxRestored || now.Sub(row.Created) > 2*digestTime {
			break
		}
		s, err := txn.DecodeAsk(row)
		if err != nil {
			continue
		}
		for _, d := range s.Deliveries {
			if d.Channel == key.channel && d.Target == key.target && d.Event == askback.EventQuestionPending &&
				d.Status == askback.DeliverySent && now.Sub(d.At) < digestTime {
				sent = append(sent, sentMessage{d.ID, d.At})
			}
		}
	}
	slices.SortFunc(sent, func(a, b sentMessage) int { return a.at.Compare(b.at) })
	w.digests.restore(key, sent)
}
