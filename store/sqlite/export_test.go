package sqlite

import (
	"database/sql"

	"github.com/askback/askback/store"
)

// Connections returns the pools of the writer and the readers.
func Connections(path string) (write, read *sql.DB, err error) {
	if write, err = connect(path, false); err != nil {
		return nil, nil, err
	}
	read, err = connect(path, true)
	return write, read, err
}

// Readers is the number of connections that read.
const Readers = readers

// The statements that search for rows: those of the writer, and those of the readers
// other than List.
var (
	Writes = []string{updateSame, updateState, updateAll, deleteRecord, selectHead, selectSeq, deleteStream, deleteEvents, updateEffect, deleteEffect, deleteEffects, selectEffect, selectReady, selectClaimed, selectClaimedBy}
	Reads  = []string{selectID, selectKey, selectDue, selectHistory, selectStream, selectRecent, selectHeadAll}
)

// ListSQL returns the statement of a List.
func ListSQL(q store.Query) (string, []any) { return listSQL(q) }

// DeadSQL returns the statement of Dead.
func DeadSQL(q store.Query) (string, []any) { return deadSQL(q) }

// Waiting returns the number of changes in the queue.
func (s *Store) Waiting() int { return len(s.queue) }

// Deletions returns the number of statements that delete the history in c.Prune.
func Deletions(c store.Change) (int, error) {
	all, err := groupByStream(c.Prune)
	return len(all), err
}
