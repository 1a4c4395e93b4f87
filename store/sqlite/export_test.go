package sqlite

import (
	"context"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// Connections returns every connection of a store: the writing connection, and the maximum number of reading
// connections. The store must not be in use.
func (s *Store) Connections(
	ctx context.Context,
) (write *sqlite3.Conn, read []*sqlite3.Conn, release func(), err error) {
	for range readers {
		conn, err := s.read.get(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		read = append(read, conn)
	}
	return s.writer.conn, read, func() {
		for _, conn := range read {
			s.read.put(conn)
		}
	}, nil
}

// The statements that search for rows: the statements of the writer, and the statements of the readers other
// than List.
var (
	Writes = []string{
		updateSame, updateState, updateAll, deleteRecord, selectHead, selectLast, deleteStream, deleteEvents,
		updateEffect, deleteEffect, deleteEffects, selectEffect, selectReady, selectClaimed, selectClaimedBy,
		selectHeld, nthOpen, nthUnacked, ageOpen, ageUnacked,
	}
	Reads = []string{
		selectID, selectKey, selectDue, selectHistory, selectStream, selectRecent, selectHeadAll, countOld,
		countRecent, countOpen, countWaiting, countClaimed, countDead,
	}
)

// ListSQL returns the statements of a List. For each of its listings, it returns three statements. They
// select all records, the last id of a window, and the records up to that id.
func ListSQL(q store.Query) (texts []string, args [][]any) {
	for _, l := range newListings(q, "boundary") {
		for _, one := range []query{l.sql(noEnd), l.endSQL(firstWindow), l.sql("x")} {
			texts, args = append(texts, one.text), append(args, one.args)
		}
	}
	return texts, args
}

// SubjectsSQL returns the statement of Subjects.
func SubjectsSQL(q store.SubjectQuery) (string, []any) {
	one := subjectsSQL(q)
	return one.text, one.args
}

// AllOpenSQL returns the statement that reports whether a window has no closed records.
func AllOpenSQL(q store.Query) (string, []any) {
	one := newListings(q, "boundary")[0].allOpenSQL("x")
	return one.text, one.args
}

// DeadSQL returns the statement of Dead.
func DeadSQL(q store.Query) (string, []any) { return deadSQL(q) }

func EffectsSQL(q store.Query) (string, []any) { return effectsSQL(q) }

// BreakHeadQuery makes every query of the writer for the newest event of a stream fail. The
// store must not be in use.
func (s *Store) BreakHeadQuery() (err error) {
	s.writer.stmt.head, err = s.writer.conn.Prepare("select json(?1)")
	return err
}

// SetMaxRecent sets maxRecent and agedRecords until the test ends. No store may be open.
func SetMaxRecent(t *testing.T, limit, aged int) {
	oldLimit, oldAged := maxRecent, agedRecords
	maxRecent, agedRecords = limit, aged
	t.Cleanup(func() { maxRecent, agedRecords = oldLimit, oldAged })
}

// Waiting returns the number of changes in the queue.
func (s *Store) Waiting() int { return len(s.queue) }

// Deletions returns the number of statements that delete the history in c.Prune.
func Deletions(c store.Change) (int, error) {
	all, err := groupByStream(c.Prune)
	return len(all), err
}

// ErrPage is the error for a page of the file that SQLite cannot read.
var ErrPage = errPage
