package sqlite

import (
	"context"
	"errors"
	"strings"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// Subjects returns the records that events are about, newest event first. It reads the
// history backwards, so it needs no index of its own. It omits damaged records.
func (s *Store) Subjects(ctx context.Context, q store.SubjectQuery) (list []store.Subject, before int64, err error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	limit, examined := store.AtMost(q.Limit), 0
	statement := subjectsSQL(q)
	err = s.eachRow(ctx, statement.text, func(row *sqlite3.Stmt) (bool, error) {
		seq := row.ColumnInt64(subjectSeq)
		if len(list) == limit || q.Scan > 0 && examined == q.Scan {
			before = seq + 1
			return false, nil
		}
		examined++
		if row.ColumnType(0) == sqlite3.TypeNull { // the event or its record is not selected
			return true, nil
		}
		r, err := scanRecord(row)
		if damaged := (store.DamagedError{}); errors.As(err, &damaged) {
			s.damaged.add(damaged)
			return true, nil
		}
		list = append(list, store.Subject{Record: r, Seq: seq})
		return true, err
	}, statement.args...)
	if err != nil {
		return nil, 0, err
	}
	return list, before, nil
}

// subjectColumns are the columns of a record, and subjectSeq the number of the column after
// them, which has the seq of the event.
var (
	subjectColumns = "r." + strings.ReplaceAll(columns, ", ", ", r.")
	subjectSeq     = strings.Count(columns, ",") + 1
)

// subjectsSQL returns the statement of Subjects. It has a row for each event of the stream,
// so that those can be counted that are not selected. Of these, the columns of the record are
// null, and no record is read.
func subjectsSQL(q store.SubjectQuery) query {
	var on conditions
	on.add("r.kind = ?%d", q.Kind)
	types := make([]string, 0, len(q.Types))
	for _, t := range q.Types {
		on.add("?%d", t)
		types = append(types, on.terms[len(on.terms)-1])
	}
	on.terms = append(on.terms[:1], "r.id = case when h.type in ("+strings.Join(types, ", ")+") then case h.subject when '' then h.stream else h.subject end end")
	on.filter(q.Query)
	which := conditions{args: on.args}
	table := "history h"
	if q.Stream != "" {
		table += " indexed by history_stream"
		which.add("h.stream = ?%d", q.Stream)
	}
	which.add("h.seq >= ?%d", q.Since)
	if q.Before > 0 {
		which.add("h.seq < ?%d", q.Before)
	}
	return query{"select " + subjectColumns + ", h.seq from " + table + " left join records r indexed by records_id on " +
		strings.Join(on.terms, " and ") + " where " + strings.Join(which.terms, " and ") + " order by h.seq desc", which.args}
}
