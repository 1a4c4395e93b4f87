package sqlite

import (
	"database/sql"
	"errors"

	sqlite3 "zombiezen.com/go/sqlite"
)

// bind sets the parameters of a statement. If an argument has a type that bind does not support, bind panics,
// because the call in this package is wrong.
func bind(s *sqlite3.Stmt, args ...any) {
	for i, arg := range args {
		param := i + 1
		switch v := arg.(type) {
		case string:
			s.BindText(param, v)
		case int64:
			s.BindInt64(param, v)
		case int:
			s.BindInt64(param, int64(v))
		case bool:
			s.BindBool(param, v)
		case []byte:
			bindBytes(s, param, v)
		case sql.NullString:
			bindText(s, param, v)
		case sql.NullInt64:
			bindNumber(s, param, v)
		default: // the message omits the value: otherwise every argument of every call would be allocated
			panic("bind: a parameter has an unexpected type")
		}
	}
}

func bindBytes(s *sqlite3.Stmt, param int, v []byte) {
	if v == nil {
		s.BindNull(param)
		return
	}
	s.BindBytes(param, v)
}

func bindText(s *sqlite3.Stmt, param int, v sql.NullString) {
	if !v.Valid {
		s.BindNull(param)
		return
	}
	s.BindText(param, v.String)
}

func bindNumber(s *sqlite3.Stmt, param int, v sql.NullInt64) {
	if !v.Valid {
		s.BindNull(param)
		return
	}
	s.BindInt64(param, v.Int64)
}

// run runs a prepared statement to its end and ignores its rows. It then sets the parameters to null, so that
// SQLite does not keep the data of a change in memory.
func run(s *sqlite3.Stmt, args ...any) error {
	bind(s, args...)
	row, err := s.Step()
	for row && err == nil {
		row, err = s.Step()
	}
	if err != nil {
		_ = s.ClearBindings() // Step has reset the statement
		return err
	}
	return errors.Join(s.Reset(), s.ClearBindings())
}

// execute prepares a statement and runs it to its end.
func execute(conn *sqlite3.Conn, text string) error {
	s, _, err := conn.PrepareTransient(text)
	if err != nil {
		return err
	}
	err = run(s)
	if closeErr := s.Finalize(); err == nil {
		err = closeErr // if run failed, Finalize would return the same error again
	}
	return err
}

// A scanner reads the columns of the current row of a statement in order. It sets bad if a value does not
// have the type that the schema requires.
type scanner struct {
	row *sqlite3.Stmt
	col int // the next column
	bad bool
}

// next returns the number of the next column. It reports whether the column has a value of the type want. It
// sets bad if the column has another type, or is null and not nullable.
func (s *scanner) next(want sqlite3.ColumnType, nullable bool) (col int, ok bool) {
	col = s.col
	s.col++
	switch s.row.ColumnType(col) {
	case want:
		return col, true
	case sqlite3.TypeNull:
		s.bad = s.bad || !nullable
	default:
		s.bad = true
	}
	return col, false
}

func (s *scanner) text() string {
	col, ok := s.next(sqlite3.TypeText, false)
	if !ok {
		return ""
	}
	return s.row.ColumnText(col)
}

func (s *scanner) nullText() sql.NullString {
	col, ok := s.next(sqlite3.TypeText, true)
	if !ok {
		return sql.NullString{}
	}
	return sql.NullString{String: s.row.ColumnText(col), Valid: true}
}

func (s *scanner) number() int64 {
	col, ok := s.next(sqlite3.TypeInteger, false)
	if !ok {
		return 0
	}
	return s.row.ColumnInt64(col)
}

func (s *scanner) nullNumber() sql.NullInt64 {
	col, ok := s.next(sqlite3.TypeInteger, true)
	if !ok {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: s.row.ColumnInt64(col), Valid: true}
}

func (s *scanner) flag() bool {
	n := s.number()
	s.bad = s.bad || n != 0 && n != 1
	return n == 1
}

// bytes returns a copy of a column that may be null. For an empty or null column it returns nil.
func (s *scanner) bytes() []byte {
	col, ok := s.next(sqlite3.TypeBlob, true)
	if !ok {
		return nil
	}
	n := s.row.ColumnLen(col)
	if n == 0 {
		return nil
	}
	b := make([]byte, n)
	s.row.ColumnBytes(col, b)
	return b
}
