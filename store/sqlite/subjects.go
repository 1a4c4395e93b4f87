package sqlite

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	sqlite3 "zombiezen.com/go/sqlite"

	"github.com/askback/askback/store"
)

// Subjects returns the records that events are about, newest event first. If more may follow, before is the
// value of q.Before for the next call. Otherwise it is 0. Subjects reads the history backwards, so it needs
// no index for subjects. It omits damaged records, and skips pages that cannot be read.
func (s *Store) Subjects(ctx context.Context, q store.SubjectQuery) (list []store.Subject, before int64, err error) {
	if err := q.Check(); err != nil {
		return nil, 0, err
	}
	l := subjectList{query: q, limit: store.AtMost(q.Limit)}
	err = s.addSubjects(ctx, &l)
	k := skipper{at: cmp.Or(q.Before, math.MaxInt64), step: -1}
	for errors.Is(err, errPage) {
		more, pastErr := s.past(ctx, &k, l.last)
		switch {
		case pastErr != nil:
			return nil, 0, pastErr
		case more && k.at > q.Since:
			l.query.Before = k.at
			err = s.addSubjects(ctx, &l)
		case len(l.found) > 0:
			return l.found, 0, nil
		default:
			return nil, 0, err
		}
	}
	if err != nil {
		return nil, 0, err
	}
	return l.found, l.before, nil
}

// A subjectList is the result of Subjects so far.
type subjectList struct {
	query    store.SubjectQuery
	limit    int
	found    []store.Subject
	examined int
	last     int64 // the Seq of the last event that the last statement read, or 0 if it read no event
	before   int64 // the second result of Subjects
}

// addSubjects runs the statement of l and adds its records to l.found. If it stops at a limit, it sets
// l.before.
func (s *Store) addSubjects(ctx context.Context, l *subjectList) error {
	l.last = 0
	statement := subjectsSQL(l.query)
	return s.eachRow(ctx, statement.text, func(row *sqlite3.Stmt) (bool, error) {
		l.last = row.ColumnInt64(subjectSeq)
		if len(l.found) == l.limit || l.query.Scan > 0 && l.examined == l.query.Scan {
			l.before = l.last + 1
			return false, nil
		}
		l.examined++
		if row.ColumnType(0) == sqlite3.TypeNull { // the query does not select the event or its record
			return true, nil
		}
		r, err := scanRecord(row)
		if damaged := (store.DamagedError{}); errors.As(err, &damaged) {
			s.damaged.add(damaged)
			return true, nil
		}
		l.found = append(l.found, store.Subject{Record: r, Seq: l.last})
		return true, err
	}, statement.args...)
}

// subjectColumns are the columns of a record. subjectSeq is the index of the next column, the Seq of the
// event.
var (
	subjectColumns = "r." + strings.ReplaceAll(columns, ", ", ", r.")
	subjectSeq     = strings.Count(columns, ",") + 1
)

// subjectsSQL returns the statement of Subjects. The result of the statement has a row for each event of the
// stream, so that events that q does not select are counted. In the rows of these events, the columns of the
// record are null, and no record is read.
func subjectsSQL(q store.SubjectQuery) query {
	var on conditions
	on.add("r.kind = ?%d", q.Kind)
	types := make([]string, 0, len(q.Types))
	for _, t := range q.Types {
		on.add("?%d", t)
		types = append(types, on.terms[len(on.terms)-1])
	}
	on.terms = append(on.terms[:1], "r.id = case when h.type in ("+strings.Join(types, ", ")+
		") then case h.subject when '' then h.stream else h.subject end end")
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
	return query{
		"select " + subjectColumns + ", h.seq from " + table +
			" left join records r indexed by records_id on " +
			strings.Join(on.terms, " and ") + " where " + strings.Join(which.terms, " and ") + " order by h.seq desc",
		which.args,
	}
}
