package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"slices"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// effectColumns are the columns of effects, in the order of the parameters of
// insertEffect.
const effectColumns = `id, kind, subject_kind, subject, stream, due, created, attempts, node, dead, held, error, data, sum`

// kindColumn is the index of kind in effectColumns.
const kindColumn = 1

const (
	insertEffect = `insert into effects (` + effectColumns + `)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`
	selectEffect  = `select ` + effectColumns + ` from effects where id = ?1`
	updateEffect  = `update effects set due = ?2, attempts = ?3, node = ?4, dead = ?5, held = ?6, error = ?7, sum = ?8 where id = ?1`
	deleteEffect  = `delete from effects where id = ?1 and node is ?2`
	deleteEffects = `delete from effects indexed by effects_subject where subject_kind = ?1 and subject = ?2`
	selectReady   = `select ` + effectColumns + ` from effects indexed by effects_due
		where node is null and dead = 0 and held is null and due <= ?1 order by due, id`
	selectClaimed   = `select ` + effectColumns + ` from effects indexed by effects_node where node > ''`
	selectClaimedBy = `select ` + effectColumns + ` from effects indexed by effects_node where node = ?1`
	selectHeld      = `select ` + effectColumns + ` from effects indexed by effects_held where held = ?1`
)

// An effect is a [store.Effect] with a checksum.
type effect struct{ store.Effect }

// insertEffect writes a new effect.
func (w *writer) insertEffect(v *store.Effect) error {
	e := effect{Effect: *v}
	return w.changeOne(w.stmt.insertEffect,
		e.ID, e.Kind, e.SubjectKind, e.Subject, e.Stream, e.Due.UnixMilli(), e.Created.UnixMilli(),
		e.Attempts, textOrNull(e.Node), e.Dead, textOrNull(e.Held), e.Error, e.Data, e.sum())
}

// update writes the columns of an effect that can change.
func (w *writer) update(e *effect) error {
	return w.changeOne(w.stmt.updateEffect, e.ID, e.Due.UnixMilli(), e.Attempts, textOrNull(e.Node), e.Dead,
		textOrNull(e.Held), e.Error, e.sum())
}

func textOrNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// sum returns the checksum of all columns except sum. If Held is "", it equals the checksum of older
// versions, which had no column held.
func (e *effect) sum() int64 {
	return checksum(e.Data, func(b []byte) []byte {
		b = appendTexts(b, e.ID, e.Kind, e.SubjectKind, e.Subject, e.Stream, e.Node, e.Error)
		for _, n := range [...]int64{e.Due.UnixMilli(), e.Created.UnixMilli(), int64(e.Attempts)} {
			b = binary.AppendVarint(b, n)
		}
		if b = append(b, bit(e.Dead)); e.Held != "" {
			b = appendTexts(b, e.Held)
		}
		return b
	})
}

// scanEffect reads an effect from the current row. If the row is malformed or does not
// match its checksum, the error is a store.DamagedError.
func scanEffect(row *sqlite3.Stmt) (e effect, err error) {
	r := scanner{row: row}
	e.ID, e.Kind, e.SubjectKind, e.Subject, e.Stream = r.text(), r.text(), r.text(), r.text(), r.text()
	e.Due, e.Created, e.Attempts = instant(r.number()), instant(r.number()), int(r.number())
	node := r.nullText()
	e.Dead = r.flag()
	held := r.nullText()
	e.Node, e.Held, e.Error, e.Data = node.String, held.String, r.text(), r.bytes()
	sum := r.number()
	if r.bad || sum != e.sum() || node.Valid && node.String == "" || held.Valid && held.String == "" {
		return e, store.DamagedError{Kind: "effect", ID: e.ID}
	}
	return e, nil
}

// heartbeats maps each node to the time of its last heartbeat. The map is not in the file: only one process
// has the file open, and its first transaction frees all earlier claims.
type heartbeats map[string]time.Time

// silent returns the nodes that have had no heartbeat for store.HeartbeatTimeout, in order.
func (h heartbeats) silent(now time.Time) (nodes []string) {
	for node, at := range h {
		if now.Sub(at) >= store.HeartbeatTimeout {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// Beat records a heartbeat of a node in memory and returns now.
func (s *Store) Beat(ctx context.Context, node string, now time.Time) (time.Time, error) {
	if err := store.CheckNode(node); err != nil {
		return time.Time{}, err
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer leave()
	s.nodes.Lock()
	defer s.nodes.Unlock()
	s.heartbeats[node] = now
	return now, nil
}

// A claim contains the arguments and the result of a call of [Store.Claim].
type claim struct {
	node   string
	now    time.Time
	n      int
	limit  []store.KindLimit
	silent []string // nodes whose claims are freed

	effects []store.Effect // set by the writer
}

// Claim claims at most n due effects for a node, within the limits. It also records a heartbeat of the node,
// as Beat does, and frees the claims of nodes without a heartbeat for store.HeartbeatTimeout. The claims are
// on the disk when Claim returns.
func (s *Store) Claim(
	ctx context.Context, node string, now time.Time, n int, limit ...store.KindLimit,
) ([]store.Effect, error) {
	if _, err := s.Beat(ctx, node, now); err != nil {
		return nil, err
	}
	s.nodes.Lock()
	silent := s.heartbeats.silent(now)
	s.nodes.Unlock()
	r := &request{
		claim: &claim{node: node, now: now, n: store.AtMost(n), limit: limit, silent: silent},
		done:  make(chan struct{}),
	}
	if _, err := s.do(ctx, r); err != nil {
		return nil, err
	}
	s.nodes.Lock()
	defer s.nodes.Unlock()
	for _, node := range silent {
		if now.Sub(s.heartbeats[node]) >= store.HeartbeatTimeout {
			delete(s.heartbeats, node)
		}
	}
	return r.claim.effects, nil
}

// Dead returns the dead letters that q selects, in order of ID, or newest first if q.Newest is set. It uses
// only the Kind, Stream, After, Newest and Limit of q. It omits damaged dead letters.
func (s *Store) Dead(ctx context.Context, q store.Query) ([]store.Effect, error) {
	text, args := deadSQL(q)
	return s.effectList(ctx, q.Limit, text, args)
}

// deadSQL returns the statement of [Store.Dead] and its arguments.
func deadSQL(q store.Query) (text string, args []any) {
	c := conditions{terms: []string{"dead = 1"}}
	c.match("kind", q.Kind)
	c.match("stream", q.Stream)
	if q.After == "" {
		// this condition is true for every id; without it, SQLite would scan the index
		c.terms = append(c.terms, "id > ''")
	}
	c.after(q)
	return "select " + effectColumns + " from effects indexed by effects_dead" + c.where(q.Newest), c.args
}

// Effects returns the effects that q selects, in order of ID, or newest first if q.Newest is set. It uses
// only the Kind, After, Newest and Limit of q. It omits damaged effects.
func (s *Store) Effects(ctx context.Context, q store.Query) ([]store.Effect, error) {
	text, args := effectsSQL(q)
	return s.effectList(ctx, q.Limit, text, args)
}

// effectsSQL returns the statement of [Store.Effects] and its arguments. The statement reads the table, which
// is sorted by id.
func effectsSQL(q store.Query) (text string, args []any) {
	var c conditions
	if q.After == "" {
		c.terms = append(c.terms, "id > ''") // this condition is true for every id
	}
	c.match("kind", q.Kind)
	c.after(q)
	return "select " + effectColumns + " from effects" + c.where(q.Newest), c.args
}

// effectList returns the effects that a statement selects, at most limit. It omits damaged effects.
func (s *Store) effectList(ctx context.Context, limit int, text string, args []any) (list []store.Effect, err error) {
	found, err := collect(ctx, s, store.AtMost(limit), scanEffect, text, args...)
	for _, e := range found.list {
		list = append(list, e.Effect)
	}
	return list, err
}

// complete applies a completion: it deletes the effect, schedules the effect again, holds it or makes it a
// dead letter. The error is store.ErrConflict if the effect does not exist, or if its node differs from the
// node of the completion.
func (w *writer) complete(c *store.Completion) error {
	if !c.Dead && c.Retry.IsZero() && c.Held == "" {
		return w.changeOne(w.stmt.deleteEffect, c.ID, textOrNull(c.Node))
	}
	found, err := w.effects(1, w.stmt.effect, c.ID)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].Node != c.Node {
		return store.ErrConflict
	}
	e := found[0]
	e.Node, e.Error, e.Dead, e.Held = "", c.Error, c.Dead, c.Held
	if !c.Retry.IsZero() {
		e.Due = c.Retry
	}
	return w.update(&e)
}

// releaseHeld makes the effects that are held for a key claimable.
func (w *writer) releaseHeld(key string) error {
	held, err := w.effects(noLimit, w.stmt.held, key)
	if err != nil {
		return err
	}
	for _, e := range held {
		e.Held = ""
		if err := w.update(&e); err != nil {
			return err
		}
	}
	return nil
}

// claim frees the claims of silent nodes and claims effects for the node of c.
func (w *writer) claim(c *claim) error {
	c.effects = nil
	for _, node := range c.silent {
		if err := w.free(w.stmt.claimedBy, node); err != nil {
			return err
		}
	}
	ready, err := w.effectsOf(c.n, store.Limiter(c.limit), w.stmt.ready, c.now.UnixMilli())
	if err != nil {
		return err
	}
	for _, e := range ready {
		e.Node = c.node
		e.Attempts++
		if err := w.update(&e); err != nil {
			return err
		}
		c.effects = append(c.effects, e.Effect)
	}
	return nil
}

// freeOldClaims frees all claims that earlier processes left in the file. Each transaction calls it. After
// the first commit it does nothing. Open does not call it, so that a database on a full disk can be opened.
func (w *writer) freeOldClaims() error {
	if w.freed {
		return nil
	}
	return w.free(w.stmt.claimed)
}

// free frees the claims on the effects that a statement selects.
func (w *writer) free(stmt *sqlite3.Stmt, args ...any) error {
	claimed, err := w.effects(noLimit, stmt, args...)
	if err != nil {
		return err
	}
	for _, e := range claimed {
		e.Node = ""
		if err := w.update(&e); err != nil {
			return err
		}
	}
	return nil
}

// noLimit as an argument of effects selects all rows.
const noLimit = -1

// effects returns the first n undamaged rows of a statement. If n is noLimit, it returns all undamaged rows.
func (w *writer) effects(n int, stmt *sqlite3.Stmt, args ...any) ([]effect, error) {
	return w.effectsOf(n, func(string) bool { return true }, stmt, args...)
}

// effectsOf returns the first n undamaged rows of a statement for whose kind keep returns true. If n is
// noLimit, it returns all such rows.
func (w *writer) effectsOf(
	n int, keep func(kind string) bool, stmt *sqlite3.Stmt, args ...any,
) (list []effect, err error) {
	bind(stmt, args...)
	defer stmt.Reset()
	for len(list) != n {
		row, err := stmt.Step()
		if !row || err != nil {
			return list, err
		}
		if !keep(stmt.ColumnText(kindColumn)) {
			continue
		}
		e, err := scanEffect(stmt)
		if damaged, ok := err.(store.DamagedError); ok {
			w.damaged.add(damaged)
			continue
		}
		list = append(list, e)
	}
	return list, nil
}
