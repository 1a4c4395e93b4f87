package sqlite

import (
	"maps"
	"sync/atomic"

	sqlite3 "zombiezen.com/go/sqlite"
)

// A recent record is not in the indices by owner. In these indices, the new records of a thousand owners
// would be in a thousand pages, and each commit would write many pages. Most records are settled and
// acknowledged while they are recent, so they are never added.
//
// A record is recent if its id sorts after the boundary of its kind. The writer moves the boundary when more
// than maxRecent records after the boundary are open, or more than maxRecent are unacked. It then adds the
// first agedRecords of these records to the indices. A List for one owner reads the older records from the
// indices, and examines every recent record.
var maxRecent, agedRecords = 256, 128 // only tests change these variables

const (
	selectBoundaries = `select kind, id from boundaries`
	setBoundary      = `insert into boundaries (kind, id) values (?1, ?2) on conflict (kind) do update set id = excluded.id`

	nthOpen    = `select id from records indexed by records_open where kind = ?1 and open = 1 and id > ?2 order by id limit 1 offset ?3`
	nthUnacked = `select id from records indexed by records_unacked where kind = ?1 and unacked = 1 and id > ?2 order by id limit 1 offset ?3`
	ageOpen    = `update records indexed by records_open set recent = 0 where kind = ?1 and open = 1 and id > ?2 and id <= ?3`
	ageUnacked = `update records indexed by records_unacked set recent = 0 where kind = ?1 and unacked = 1 and id > ?2 and id <= ?3`
)

// boundaries has the boundary of each kind of record. The writer changes it while readers use it.
type boundaries struct {
	byKind atomic.Pointer[map[string]string] // the map is never changed, only replaced
}

// of returns the boundary of a kind, or "" if all its records are recent.
func (b *boundaries) of(kind string) string { return (*b.byKind.Load())[kind] }

func (b *boundaries) set(kind, id string) {
	m := maps.Clone(*b.byKind.Load())
	m[kind] = id
	b.byKind.Store(&m)
}

// load reads the boundaries from the database.
func (b *boundaries) load(conn *sqlite3.Conn) error {
	m := map[string]string{}
	rows, err := conn.Prepare(selectBoundaries)
	if err != nil {
		return err
	}
	defer rows.Reset()
	for {
		row, err := rows.Step()
		if err != nil {
			return err
		}
		if !row {
			b.byKind.Store(&m)
			return nil
		}
		m[rows.ColumnText(0)] = rows.ColumnText(1)
	}
}

// countNew counts a new record. The counts decide when age is called.
func (w *writer) countNew(kind string) {
	if n, ok := w.untilAging[kind]; ok {
		w.untilAging[kind] = n - 1
		return
	}
	w.untilAging[kind] = 0 // there may be many recent records from before the start
}

// age moves the boundaries of the kinds that may have too many recent records. It is a part of the
// transaction of a batch, because a separate transaction would cost an fsync. The new boundaries are in
// w.moved until the transaction is committed. If age fails, the transaction must be rolled back and repeated
// without age. age tries again after more records were added.
func (w *writer) age() error {
	for kind, left := range w.untilAging {
		if left > 0 || w.full.Load() != nil {
			continue
		}
		w.untilAging[kind] = agedRecords
		for range maxMoves {
			moved, err := w.ageKind(kind)
			if err != nil {
				w.log.Warn("the indices by owner could not be extended; lists for one owner may be slow", "err", err)
				return err
			}
			if !moved {
				break
			}
		}
	}
	return nil
}

// maxMoves is the maximum number of times that a batch moves the boundary of a kind, so that its callers do
// not wait long.
const maxMoves = 4

// ageKind moves the boundary of a kind if the kind has more than maxRecent recent records. It reports whether
// the boundary moved.
func (w *writer) ageKind(kind string) (moved bool, err error) {
	from, ok := w.moved[kind]
	if !ok {
		from = w.boundaries.of(kind)
	}
	to, err := w.nextBoundary(kind, from)
	if err != nil || to == from {
		return false, err
	}
	err = run(w.stmt.ageOpen, kind, from, to)
	if err == nil {
		err = run(w.stmt.ageUnacked, kind, from, to)
	}
	if err == nil {
		err = run(w.stmt.setBoundary, kind, to)
	}
	w.moved[kind] = to
	return true, err
}

// keepBoundaries makes the boundaries of a committed transaction visible to readers.
func (w *writer) keepBoundaries() {
	for kind, id := range w.moved {
		w.boundaries.set(kind, id)
	}
	clear(w.moved)
}

// nextBoundary returns the new boundary of a kind, or from if the boundary need not move.
func (w *writer) nextBoundary(kind, from string) (to string, err error) {
	to = from
	for _, nth := range []*sqlite3.Stmt{w.stmt.nthOpen, w.stmt.nthUnacked} {
		last, err := queryText(nth, kind, from, maxRecent)
		if err != nil {
			return from, err
		}
		if last == "" {
			continue
		}
		id, err := queryText(nth, kind, from, agedRecords-1)
		if err != nil {
			return from, err
		}
		to = max(to, id)
	}
	return to, nil
}

// queryText returns the first column of the first row of a statement, or "".
func queryText(s *sqlite3.Stmt, args ...any) (text string, err error) {
	bind(s, args...)
	defer s.Reset()
	row, err := s.Step()
	if row {
		text = s.ColumnText(0)
	}
	return text, err
}
