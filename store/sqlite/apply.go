package sqlite

import (
	"errors"

	codes "modernc.org/sqlite/lib"
	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// columns are the columns of records, in the order of the parameters of the statements that write a record.
const columns = `kind, id, version, stream, key, open, owner, agent, status, names, created, updated, due, state, fixed, unacked, recent, sum, fixed_sum`

// eventColumns are the columns of history, in the order of the parameters of insertEvent.
const eventColumns = `seq, stream, n, subject, type, at, data, sum`

// ofStream is stored as the subject of an event whose subject equals its stream, such as an event about the
// session itself. Older versions stored the name of the stream as the subject.
const ofStream = ""

const (
	insertRecord = `insert into records (` + columns + `)
		values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)`

	// SQLite rewrites an index if one of its columns is set, even to the same value. So three updates are
	// tried in turn. The first update matches if no indexed column changes. The second update sets open, due,
	// unacked and recent. The third update sets all columns. The first update writes three to six pages fewer
	// than the other updates. If it does not match, it costs one look-up.
	updateSame = `update records indexed by records_id set version = ?3, ` + unindexed + `
		where kind = ?1 and id = ?2 and version = ?3 - 1 and stream = ?4 and key is ?5 and owner = ?7
		and open = ?6 and due is ?13 and unacked = ?16`
	updateState = `update records indexed by records_id set version = ?3, open = ?6, due = ?13, unacked = ?16, recent = ?17, ` + unindexed + `
		where kind = ?1 and id = ?2 and version = ?3 - 1 and stream = ?4 and key is ?5 and owner = ?7`
	updateAll = `update records indexed by records_id set version = ?3, open = ?6, due = ?13, unacked = ?16, recent = ?17,
		stream = ?4, key = ?5, owner = ?7, ` + unindexed + `
		where kind = ?1 and id = ?2 and version = ?3 - 1`
	unindexed = `agent = ?8, status = ?9, names = ?10, created = ?11, updated = ?12, state = ?14,
		fixed = coalesce(?15, fixed), sum = ?18, fixed_sum = coalesce(?19, fixed_sum)`

	deleteRecord = `delete from records indexed by records_id where kind = ?1 and id = ?2 and version = ?3`

	insertEvent = `insert into history (` + eventColumns + `) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`
	selectHead  = `select ` + eventColumns + ` from history indexed by history_stream
		where stream = ?1 order by seq desc`
	selectLast = `select coalesce(max(seq), 0), (select coalesce(max(stream), '') from history indexed by history_stream) from history`

	// The next Seq depends on the newest event of all streams, and the next StreamSeq on the newest event of
	// the stream. deleteStream keeps the newest event of all streams. deleteEvents keeps both events.
	deleteStream = `delete from history indexed by history_stream where stream = ?1
		and seq < (select max(seq) from history)`
	// No index contains the subject, so this statement reads every event of the stream. Therefore it deletes
	// the events of all given subjects together.
	deleteEvents = `delete from history indexed by history_stream where stream = ?1
		and subject in (select value from json_each(?2))
		and seq < (select max(seq) from history indexed by history_stream where stream = ?1)`
)

// writes are the prepared statements of the writer.
type writes struct {
	begin, commit, rollback  *sqlite3.Stmt
	savepoint, undo, release *sqlite3.Stmt

	insert, drop, event, head, last *sqlite3.Stmt
	pruneStream, pruneSubjects      *sqlite3.Stmt
	update                          [3]*sqlite3.Stmt // the statements updateSame, updateState and updateAll

	insertEffect, updateEffect, deleteEffect, deleteEffects *sqlite3.Stmt
	effect, ready, claimed, claimedBy, held                 *sqlite3.Stmt

	nthOpen, nthUnacked, ageOpen, ageUnacked, setBoundary *sqlite3.Stmt

	index indexWrites
}

func (s *writes) prepare(conn *sqlite3.Conn) (err error) {
	for stmt, text := range map[**sqlite3.Stmt]string{
		&s.begin:         "begin immediate",
		&s.commit:        "commit",
		&s.rollback:      "rollback",
		&s.savepoint:     "savepoint one",
		&s.undo:          "rollback to one",
		&s.release:       "release one",
		&s.insert:        insertRecord,
		&s.update[0]:     updateSame,
		&s.update[1]:     updateState,
		&s.update[2]:     updateAll,
		&s.drop:          deleteRecord,
		&s.event:         insertEvent,
		&s.head:          selectHead,
		&s.last:          selectLast,
		&s.pruneStream:   deleteStream,
		&s.pruneSubjects: deleteEvents,
		&s.insertEffect:  insertEffect,
		&s.updateEffect:  updateEffect,
		&s.deleteEffect:  deleteEffect,
		&s.deleteEffects: deleteEffects,
		&s.effect:        selectEffect,
		&s.ready:         selectReady,
		&s.claimed:       selectClaimed,
		&s.claimedBy:     selectClaimedBy,
		&s.held:          selectHeld,
		&s.nthOpen:       nthOpen,
		&s.nthUnacked:    nthUnacked,
		&s.ageOpen:       ageOpen,
		&s.ageUnacked:    ageUnacked,
		&s.setBoundary:   setBoundary,
	} {
		if *stmt, err = conn.Prepare(text); err != nil {
			return err // the driver has copied the text
		}
	}
	return s.index.prepare(conn)
}

// change runs a statement that may change any number of rows. If it succeeds, it sets
// w.written.
func (w *writer) change(s *sqlite3.Stmt, args ...any) error {
	err := run(s, args...)
	w.written = w.written || err == nil
	return err
}

// changeOne runs a statement that must change one row. If the statement succeeds, changeOne sets w.written.
// If no row changes, or an id or a key is taken, the error is store.ErrConflict.
func (w *writer) changeOne(s *sqlite3.Stmt, args ...any) error {
	err := run(s, args...)
	switch {
	case isTaken(err):
		return store.ErrConflict
	case err != nil:
		return err
	case w.conn.Changes() == 0:
		return store.ErrConflict
	}
	w.written = true
	return nil
}

// isTaken reports whether err means that another row has the same id or key. In this case nothing was
// written, because SQLite checks every index before it writes a row.
func isTaken(err error) bool {
	code := codeOf(err)
	return code == codes.SQLITE_CONSTRAINT_UNIQUE || code == codes.SQLITE_CONSTRAINT_PRIMARYKEY
}

// apply writes a request into the open transaction. It sets w.written if a part of the request was written,
// even if it returns an error.
func (w *writer) apply(r *request) error {
	w.written = false
	if r.claim != nil {
		return w.claim(r.claim)
	}
	if r.index != nil {
		return indexError(w.updateIndex(r.index))
	}
	if r.restore != nil {
		return w.restore(r.restore)
	}
	for i := range r.complete {
		if err := w.complete(&r.complete[i]); err != nil {
			return err
		}
	}
	for _, key := range r.release {
		if err := w.releaseHeld(key); err != nil {
			return err
		}
	}
	for _, d := range r.drop {
		if err := w.changeOne(w.stmt.drop, d.Kind, d.ID, d.Version); err != nil {
			return err
		}
		if err := w.change(w.stmt.deleteEffects, d.Kind, d.ID); err != nil {
			return err
		}
	}
	if err := w.unindex(r.unindex); err != nil {
		return indexError(err)
	}
	for i := range r.put {
		if err := w.put(&r.put[i]); err != nil {
			return err
		}
	}
	for i := range r.effects {
		if err := w.insertEffect(&r.effects[i]); err != nil {
			return err
		}
	}
	for _, p := range r.prune {
		if err := w.prune(p); err != nil {
			return err
		}
	}
	for i := range r.events {
		if err := w.append(&r.events[i]); err != nil {
			return err
		}
		if i == 0 {
			r.first = w.seq
		}
	}
	return nil
}

func (w *writer) put(c *cells) error {
	c.recent = c.id > w.boundaries.of(c.kind)
	if c.version == 1 {
		w.countNew(c.kind)
		return w.putCells(w.stmt.insert, c)
	}
	updates := w.stmt.update[:]
	if !c.open {
		// The change probably closes the record, so that updateSame would not match. If the
		// record was closed before, it is in few of the indices that updateState rewrites.
		updates = updates[1:]
	}
	for _, update := range updates {
		if err := w.putCells(update, c); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return store.ErrConflict
}

// putCells runs a statement that writes a record. If no row matches, or the id or the key is taken, the error
// is store.ErrConflict.
func (w *writer) putCells(s *sqlite3.Stmt, c *cells) error {
	return w.changeOne(s, c.kind, c.id, c.version, c.stream, c.key, c.open, c.owner, c.agent, c.status, c.names,
		c.created, c.updated, c.due, c.state, c.fixed, c.unacked, c.recent, c.sum, c.fixedSum)
}

func (w *writer) append(e *store.Event) error {
	if w.seq == unknownSeq {
		if err := w.readLast(); err != nil {
			return err
		}
	}
	n, err := w.headOf(e.Stream)
	if err != nil {
		return err
	}
	at := e.At.UnixMilli()
	sum := sumEvent(e, w.seq+1, n+1, at)
	subject := e.Subject
	if subject == e.Stream {
		subject = ofStream
	}
	if err := w.change(w.stmt.event, w.seq+1, e.Stream, n+1, subject, e.Type, at, e.Data, sum); err != nil {
		return err
	}
	w.seq++
	w.heads[e.Stream] = n + 1
	return nil
}

func (w *writer) prune(p pruning) error {
	if p.subjects != nil {
		return w.change(w.stmt.pruneSubjects, p.stream, string(p.subjects))
	}
	w.forgetHead(p.stream)
	return w.change(w.stmt.pruneStream, p.stream)
}

// readLast sets w.seq to the newest Seq, and w.newAfter to the last name of a stream.
func (w *writer) readLast() error {
	row := w.stmt.last
	defer row.Reset()
	if _, err := row.Step(); err != nil {
		return err
	}
	w.seq, w.newAfter = row.ColumnInt64(0), row.ColumnText(1)
	return nil
}

// headOf returns the StreamSeq of the newest event of a stream, or 0 if the stream is empty. If the stream is
// not in w.heads and w.heads is full, headOf deletes an entry, so that the caller can add an entry. The names
// of streams sort by time. So a new stream usually sorts after the streams from before the start, and needs
// no query.
func (w *writer) headOf(stream string) (n int64, err error) {
	if n, ok := w.heads[stream]; ok {
		return n, nil
	}
	if stream <= w.newAfter {
		if n, err = w.queryHead(stream); err != nil {
			return 0, err
		}
	}
	if len(w.heads) >= maxHeads {
		for old := range w.heads {
			w.forgetHead(old)
			break
		}
	}
	return n, nil
}

// forgetHead deletes a stream from w.heads, so that headOf will query it.
func (w *writer) forgetHead(stream string) {
	delete(w.heads, stream)
	w.newAfter = max(w.newAfter, stream)
}

func (w *writer) queryHead(stream string) (n int64, err error) {
	var h head
	rows := w.stmt.head
	bind(rows, stream)
	defer rows.Reset()
	for more := true; more; {
		row, err := rows.Step()
		if err != nil {
			return 0, err
		}
		more = row && h.add(rows)
	}
	return h.streamSeq, nil
}
