package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/askback/askback/store"
)

// An effect is a stored effect.
type effect struct{ store.Effect }

func newEffect(e store.Effect) *effect {
	e = cloneEffect(e)
	e.Due, e.Created = milliseconds(e.Due), milliseconds(e.Created)
	return &effect{Effect: e}
}

func cloneEffect(e store.Effect) store.Effect {
	e.Data = copyOf(e.Data)
	return e
}

// effectsFit reports whether a change fits the stored effects. The effect of every completion must exist and
// be claimed by the Node of the completion. The id of every new effect must be free. An id is also free if
// the change deletes the record of the effect with this id.
func (s *Store) effectsFit(c store.Change) bool {
	for _, d := range c.Done {
		if e := s.effects[d.ID]; e == nil || e.Node != d.Node {
			return false
		}
	}
	for _, e := range c.Effects {
		old := s.effects[e.ID]
		if old == nil {
			continue
		}
		withSubject := func(d store.Ref) bool { return d.Kind == old.SubjectKind && d.ID == old.Subject }
		if !slices.ContainsFunc(c.Delete, withSubject) {
			return false
		}
	}
	return true
}

func (s *Store) complete(d store.Completion) {
	old := s.effects[d.ID]
	if !d.Dead && d.Retry.IsZero() && d.Held == "" {
		s.replaceEffect(old, nil)
		return
	}
	e := *old
	e.Node, e.Error, e.Dead, e.Held = "", d.Error, d.Dead, d.Held
	if !d.Retry.IsZero() {
		e.Due = milliseconds(d.Retry)
	}
	s.replaceEffect(old, &e)
}

// release makes the effects that are held for a key claimable.
func (s *Store) release(key string) {
	from := &effect{Effect: store.Effect{Held: key}}
	for _, old := range while(s.held.after(from), func(e *effect) bool { return e.Held == key }) {
		e := *old
		e.Held = ""
		s.replaceEffect(old, &e)
	}
}

// replaceEffect removes old from the map and the sorted lists and inserts e. Either effect may be nil.
func (s *Store) replaceEffect(old, e *effect) {
	if old != nil {
		delete(s.effects, old.ID)
		s.subjects.remove(old)
		s.queued.remove(old)
		s.orderOf(old).remove(old)
	}
	if e != nil {
		s.effects[e.ID] = e
		s.subjects.insert(e)
		s.queued.insert(e)
		s.orderOf(e).insert(e)
	}
}

// orderOf returns the list that contains an effect: dead, claimed, held or claimable.
func (s *Store) orderOf(e *effect) *sorted[effect] {
	switch {
	case e.Dead:
		return s.dead
	case e.Node != "":
		return s.claimed
	case e.Held != "":
		return s.held
	}
	return s.claimable
}

// deleteEffects deletes the effects of a record.
func (s *Store) deleteEffects(kind, id string) {
	from := &effect{Effect: store.Effect{SubjectKind: kind, Subject: id}}
	of := func(e *effect) bool { return e.SubjectKind == kind && e.Subject == id }
	for _, e := range while(s.subjects.after(from), of) {
		s.replaceEffect(e, nil)
	}
}

// Beat records a heartbeat of a node and returns now.
func (s *Store) Beat(ctx context.Context, node string, now time.Time) (time.Time, error) {
	if err := store.CheckNode(node); err != nil {
		return time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return time.Time{}, err
	}
	s.heartbeats[node] = now
	return now, nil
}

// Claim claims at most n effects that are due for a node, within the limits. It also records a heartbeat of
// the node. It frees the claims of nodes without a recent heartbeat.
func (s *Store) Claim(
	ctx context.Context, node string, now time.Time, n int, limit ...store.KindLimit,
) ([]store.Effect, error) {
	if err := store.CheckNode(node); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	s.heartbeats[node] = now
	s.freeClaims(now)
	var due []*effect
	within := store.Limiter(limit)
	for e := range s.claimable.ascend() {
		if len(due) == store.AtMost(n) || e.Due.After(now) {
			break
		}
		if within(e.Kind) {
			due = append(due, e)
		}
	}
	var list []store.Effect
	for _, old := range due {
		e := *old
		e.Node = node
		e.Attempts++
		s.replaceEffect(old, &e)
		list = append(list, cloneEffect(e.Effect))
	}
	return list, nil
}

// freeClaims frees the claims of nodes that have had no heartbeat for
// store.HeartbeatTimeout.
func (s *Store) freeClaims(now time.Time) {
	for node, at := range s.heartbeats {
		if now.Sub(at) < store.HeartbeatTimeout {
			continue
		}
		delete(s.heartbeats, node)
		from := &effect{Effect: store.Effect{Node: node}}
		for _, old := range while(s.claimed.after(from), func(e *effect) bool { return e.Node == node }) {
			e := *old
			e.Node = ""
			s.replaceEffect(old, &e)
		}
	}
}

// Dead returns the dead letters that q selects, in order of ID, or newest first if q.Newest is set.
func (s *Store) Dead(ctx context.Context, q store.Query) ([]store.Effect, error) {
	return s.listEffects(ctx, s.dead, q)
}

// Effects returns the effects that q selects, in order of ID, or newest first if q.Newest is set.
func (s *Store) Effects(ctx context.Context, q store.Query) ([]store.Effect, error) {
	q.Stream = ""
	return s.listEffects(ctx, s.queued, q)
}

// listEffects returns the effects in all that q selects, newest first if q.Newest is set. The list all must
// be sorted by ID.
func (s *Store) listEffects(ctx context.Context, all *sorted[effect], q store.Query) (list []store.Effect, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	effects := all.after(&effect{Effect: store.Effect{ID: q.After}})
	if q.Newest {
		effects = all.before(&effect{Effect: store.Effect{ID: cmp.Or(q.After, afterEveryID)}})
	}
	for e := range effects {
		if len(list) == store.AtMost(q.Limit) {
			break
		}
		if (q.Kind == "" || q.Kind == e.Kind) && (q.Stream == "" || q.Stream == e.Stream) {
			list = append(list, cloneEffect(e.Effect))
		}
	}
	return list, nil
}
