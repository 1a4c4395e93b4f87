package sqlite

import (
	"database/sql"

	"github.com/askback/askback/store"
)

// Connections returns both pools, so that a test can look at each connection.
func Connections(path string) (write, read *sql.DB, err error) {
	if write, err = connect(path, false); err != nil {
		return nil, nil, err
	}
	read, err = connect(path, true)
	return write, read, err
}

// Readers is how many connections read.
const Readers = readers

// Writes are the statements of the writer that look for rows, and Reads those
// of the readers beside List.
var (
	Writes = []string{updateSame, updateState, updateAll, deleteRecord, selectHead, selectSeq, deleteStream, deleteLines}
	Reads  = []string{selectID, selectKey, selectDue, selectHistory, selectStream, selectRecent, selectHeadAll}
)

// ListSQL is the statement of a List.
func ListSQL(q store.Query) (string, []any) { return listSQL(q) }

// Waiting is how many changes are in the queue.
func (s *Store) Waiting() int { return len(s.queue) }

// Deletions is how many statements delete the history that a change forgets.
func Deletions(c store.Change) (int, error) {
	all, err := groupByStream(c.Forget)
	return len(all), err
}
