package engine

import (
	"sync"
	"time"
)

// digestTime is the time in which an agent may send a receiver the number of questions of
// [Settings.DigestAfter], each in a message of its own.
const digestTime = time.Minute

// digests hold back questions of an agent that asks one person too much at once. After a while,
// one message has one of them and the number of the others, which are in the inbox. What is held
// is forgotten when the process ends; then these questions are new ones. It is safe for
// concurrent use.
type digests struct {
	mu  sync.Mutex
	all map[digestKey]*heldBack
}

// A digestKey is a receiver and an agent.
type digestKey struct{ channel, target, owner string }

// heldBack has what was sent to one receiver, and what is held back.
type heldBack struct {
	sent    []time.Time     // the messages of the last digestTime
	due     time.Time       // when the next message is sent for all that are held; zero: nothing is held
	held    map[string]bool // the ids of deliveries
	covered map[string]bool // the ids of held deliveries that a message has counted
	carrier map[string]int  // the number of others, by the id of the delivery that counts them
}

// A digestPlan is what to do with a question.
type digestPlan struct {
	until time.Time // hold it back until then
	skip  bool      // another message has counted it
	more  int       // send it, with this number of others
}

// plan returns what to do with the delivery of a question. With a limit of 0, it is sent.
func (g *digests) plan(key digestKey, id string, limit int, now time.Time) digestPlan {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.all[key]
	if d == nil {
		if limit == 0 {
			return digestPlan{}
		}
		d = &heldBack{held: map[string]bool{}, covered: map[string]bool{}, carrier: map[string]int{}}
		g.all[key] = d
	}
	for len(d.sent) > 0 && !now.Before(d.sent[0].Add(digestTime)) {
		d.sent = d.sent[1:]
	}
	more, carries := d.carrier[id]
	switch {
	case carries: // it failed before
		return digestPlan{more: more}
	case d.covered[id]:
		delete(d.covered, id)
		return digestPlan{skip: true}
	case d.due.IsZero() && (limit == 0 || len(d.sent) < limit):
		d.sent = append(d.sent, now)
		return digestPlan{}
	case d.due.IsZero():
		d.due = d.sent[0].Add(digestTime)
	}
	if now.Before(d.due) {
		d.held[id] = true
		return digestPlan{until: d.due}
	}
	delete(d.held, id)
	d.covered, d.held = d.held, map[string]bool{}
	d.carrier = map[string]int{id: len(d.covered)}
	d.due, d.sent = time.Time{}, append(d.sent, now)
	return digestPlan{more: len(d.covered)}
}

// forget removes a delivery that is not needed any more. It reports whether it was held back, so
// that its receiver never got it.
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

// clean removes what no longer matters.
func (g *digests) clean(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, d := range g.all {
		idle := len(d.sent) == 0 || !now.Before(d.sent[len(d.sent)-1].Add(2*digestTime))
		if idle && len(d.held)+len(d.covered) == 0 {
			delete(g.all, key)
		}
	}
}
