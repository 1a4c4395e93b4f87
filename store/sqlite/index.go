package sqlite

import (
	"context"
	"errors"
	"strings"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// perMillisecond is how many numbers in search_ids are reserved for the documents of one millisecond.
const (
	perMillisecond     = 4096
	perMillisecondText = "4096"
)

const (
	selectIndexed = `select seq from search_position`
	setIndexed    = `update search_position set seq = ?2 where seq = ?1`
	// The number of a document is the first free number in its millisecond. No row is selected if the record
	// does not exist or already has a document.
	nextDocument = `select max(?3, coalesce((select max(n) + 1 from search_ids where n >= ?3 and n < ?3 + ` +
		perMillisecondText + `), 0))
		where exists (select 1 from records indexed by records_id where kind = ?1 and id = ?2)
		and not exists (select 1 from search_ids where id = ?2)`
	insertDocumentID = `insert into search_ids (n, id) values (?1, ?2)`
	insertDocument   = `insert into search (rowid, words) values (?1, ?2)`
	deleteDocument   = `delete from search where rowid = (select n from search_ids where id = ?1)`
	deleteDocumentID = `delete from search_ids where id = ?1`

	selectDocuments = `select i.id from search join search_ids i on i.n = search.rowid
		where search match ?1 and search.rowid < coalesce((select n from search_ids where id = ?2), ?3)
		order by search.rowid desc limit ?4`
)

// indexWrites are the prepared statements that write the index.
type indexWrites struct {
	position, next, addID, add, remove, removeID *sqlite3.Stmt
}

func (s *indexWrites) prepare(conn *sqlite3.Conn) (err error) {
	for stmt, text := range map[**sqlite3.Stmt]string{
		&s.position: setIndexed,
		&s.next:     nextDocument,
		&s.addID:    insertDocumentID,
		&s.add:      insertDocument,
		&s.remove:   deleteDocument,
		&s.removeID: deleteDocumentID,
	} {
		if *stmt, err = conn.Prepare(text); err != nil {
			return err
		}
	}
	return nil
}

// Indexed returns the position of the index. A damaged index is created again, empty.
func (s *Store) Indexed(ctx context.Context) (seq int64, err error) {
	err = s.readIndex(ctx, func() error {
		found := false
		err := s.eachRow(ctx, selectIndexed, func(row *sqlite3.Stmt) (bool, error) {
			found, seq = true, row.ColumnInt64(0)
			return false, nil
		})
		if err == nil && !found {
			err = errIndexDamaged
		}
		return err
	})
	return seq, err
}

// UpdateIndex adds documents to the index. The writer commits them with other changes. If the index is
// damaged, it is created again, and the error is store.ErrConflict.
func (s *Store) UpdateIndex(ctx context.Context, u store.IndexUpdate) error {
	if err := u.Check(); err != nil {
		return err
	}
	size := 0
	for _, d := range u.Add {
		size += len(d.Words)
	}
	_, err := s.do(ctx, &request{index: &u, size: size, done: make(chan struct{})})
	return err
}

// Find returns the ids of the documents that q selects, newest first. A damaged index is created again,
// empty.
func (s *Store) Find(ctx context.Context, q store.Search) (ids []string, err error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	below := int64(1) << 62
	if !q.Before.IsZero() {
		below = q.Before.UnixMilli() * perMillisecond
	}
	err = s.readIndex(ctx, func() error {
		ids = nil
		return s.eachRow(ctx, selectDocuments, func(row *sqlite3.Stmt) (bool, error) {
			ids = append(ids, row.ColumnText(0))
			return true, nil
		}, matchText(q), q.After, below, store.AtMost(q.Limit))
	})
	return ids, err
}

// matchText returns a search in the syntax of FTS5. Each phrase is in quotes, so that FTS5 does not take a
// word for an operator.
func matchText(q store.Search) string {
	var b strings.Builder
	for i, w := range q.AnyOf {
		b.WriteString([]string{"(", " OR "}[min(i, 1)] + quoted(w))
	}
	if len(q.AnyOf) > 0 {
		b.WriteByte(')')
	}
	for i, p := range q.Phrases {
		if i > 0 || len(q.AnyOf) > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(quoted(p.Words...))
		if p.Prefix {
			b.WriteByte('*')
		}
	}
	return b.String()
}

func quoted(words ...string) string {
	return `"` + strings.ReplaceAll(strings.Join(words, " "), `"`, `""`) + `"`
}

// updateIndex writes an update of the index.
func (w *writer) updateIndex(u *store.IndexUpdate) error {
	if err := w.changeOne(w.stmt.index.position, u.From, u.To); err != nil {
		return err
	}
	for i := range u.Add {
		if err := w.addDocument(&u.Add[i]); err != nil {
			return err
		}
	}
	return w.flushIndex()
}

// flushIndex writes the data that FTS5 has in memory. Otherwise an error of the index would be an error of
// the whole transaction.
func (w *writer) flushIndex() error {
	return errors.Join(run(w.stmt.savepoint), run(w.stmt.release))
}

func (w *writer) addDocument(d *store.Document) error {
	next := w.stmt.index.next
	bind(next, d.Kind, d.ID, d.At.UnixMilli()*perMillisecond)
	row, err := next.Step()
	n := next.ColumnInt64(0)
	if err := errors.Join(err, next.Reset()); err != nil || !row {
		return err
	}
	if err := w.changeOne(w.stmt.index.addID, n, d.ID); err != nil {
		return err
	}
	return w.change(w.stmt.index.add, n, d.Words)
}

// unindex removes documents from the index and writes the data that FTS5 has in memory.
func (w *writer) unindex(ids []string) error {
	for _, id := range ids {
		if err := w.change(w.stmt.index.remove, id); err != nil {
			return err
		}
		if err := w.change(w.stmt.index.removeID, id); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return w.flushIndex()
}
