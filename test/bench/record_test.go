package main

import (
	"context"
	"database/sql"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// openings has a row for each place in which record is compared with Askback.
var openings = []struct {
	place string
	open  func(context.Context, string) (subject, error)
}{{inProcess, openProduct}, {byPost, openProductWithHTTPAnswers}, {remote, openRemoteProduct}}

// The rows that record writes for asks have as many bytes in each column as the rows of Askback.
func TestRowsOfRecordHaveTheSizeOfAskbackRows(t *testing.T) {
	for _, o := range openings {
		got, want := written(t, recordOf(o.open)), written(t, o.open)
		if got.tables != want.tables {
			t.Errorf("%s: record wrote\n%s\nAskback wrote\n%s", o.place, got.tables, want.tables)
		}
		if !strings.Contains(want.tables, "records 8 rows") || !strings.Contains(want.tables, "history 13 rows") {
			t.Errorf("%s: Askback wrote\n%s\nwant 8 records and 13 events", o.place, want.tables)
		}
	}
}

// The transactions of record write as many pages as the transactions of Askback, so they change the same
// indices. The search index is not part of them: it is filled later, and not in this test.
func TestTransactionsOfRecordWriteAsManyPagesAsAskback(t *testing.T) {
	for _, o := range openings {
		got, want := written(t, recordOf(o.open)), written(t, o.open)
		if got.pages != want.pages || want.pages == 0 {
			t.Errorf("%s: record wrote %d pages, Askback wrote %d", o.place, got.pages, want.pages)
		}
	}
}

// writing is the amount that a subject wrote for eight asks and five answers.
type writing struct {
	tables string // the sizes of the rows
	pages  int64  // the growth of the write-ahead log
}

func written(t *testing.T, open func(context.Context, string) (subject, error)) writing {
	t.Helper()
	path := filepath.Join(t.TempDir(), "written.db")
	s, err := open(context.WithValue(t.Context(), withoutIndex{}, true), path)
	if err != nil {
		t.Fatal(err)
	}
	before := loggedPages(t, path)
	for i := range 8 {
		id, err := s.ask(t.Context())
		if err == nil && i < 5 {
			err = s.answer(t.Context(), id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w := writing{pages: loggedPages(t, path) - before}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	w.tables = weigh(t, path)
	return w
}

// loggedPages returns the number of pages in the write-ahead log of a database.
func loggedPages(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const header, frame = 32, 24 + 4096 // sqlite.org/fileformat.html, section 4.1
	return max(info.Size()-header, 0) / frame
}

// weigh returns a report on the asks in the database at path: the number of rows in each table and of bytes
// in each column.
func weigh(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	for _, table := range list(t, db, `select name from sqlite_master where type = 'table' and name not glob 'goose*' and name not glob 'sqlite*' order by 1`) {
		of := " from " + table
		switch table {
		case "records":
			of += ` where kind = 'ask'`
		case "history":
			of += ` where subject glob 'ask_*'`
		}
		fmt.Fprintf(&out, "%s %s rows\n", table, list(t, db, `select count(*)`+of)[0])
		for _, column := range list(t, db, `select name from pragma_table_info('`+table+`')`) {
			weight := `length(cast(` + column + ` as blob))`
			if strings.HasSuffix(column, "sum") { // checksums have the same length but other digits
				weight = column + ` is not null`
			}
			if column == "seq" { // with tokens, Askback has more events
				weight = `0`
			}
			bytes := list(t, db, `select coalesce(sum(`+weight+`), 0)`+of)[0]
			fmt.Fprintf(&out, "  %s %s bytes\n", column, bytes)
		}
	}
	return out.String()
}

func list(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// The statements, pragmas and batches of record match the source of the store.
func TestRecordRunsTheStatementsOfTheStore(t *testing.T) {
	constants, lists := storeSource(t)
	for name, got := range map[string]string{
		"columns": recordColumns, "insertRecord": recordInsert, "updateState": recordUpdate,
		"eventColumns": historyColumns, "insertEvent": historyInsert, "batchLength": fmt.Sprint(recordBatch),
	} {
		if want := constants[name]; got != want {
			t.Errorf("%s: record has\n%s\nthe store has\n%s", name, got, want)
		}
	}
	if want := slices.Concat(lists["settings"], lists["extra"]); !slices.Equal(recordSettings, want) {
		t.Errorf("record has the pragmas %q, the store has %q", recordSettings, want)
	}
}

// storeSource reads the source of the store. It returns its constants, and the first list of strings that is
// assigned to each variable.
func storeSource(t *testing.T) (constants map[string]string, lists map[string][]string) {
	t.Helper()
	files, err := filepath.Glob("../../store/sqlite/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of the store: %v", err)
	}
	expressions := map[string]ast.Expr{}
	lists = map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, value := range n.Values {
					addValue(lists, expressions, n.Names[i].Name, value)
				}
			case *ast.AssignStmt:
				if name, ok := n.Lhs[0].(*ast.Ident); ok {
					addValue(lists, nil, name.Name, n.Rhs[0])
				}
			}
			return true
		})
	}
	constants = map[string]string{}
	for name := range expressions {
		if v := evaluate(expressions, expressions[name]); v.Kind() == constant.String {
			constants[name] = constant.StringVal(v)
		} else {
			constants[name] = v.ExactString()
		}
	}
	return constants, lists
}

// addValue adds a list of strings to lists, unless the name already has a list. It adds a value that is
// not a list to expressions, unless expressions is nil.
func addValue(lists map[string][]string, expressions map[string]ast.Expr, name string, value ast.Expr) {
	literal, ok := value.(*ast.CompositeLit)
	switch {
	case ok && lists[name] == nil:
		for _, element := range literal.Elts {
			if v := evaluate(nil, element); v.Kind() == constant.String {
				lists[name] = append(lists[name], constant.StringVal(v))
			}
		}
	case !ok && expressions != nil:
		expressions[name] = value
	}
}

// evaluate returns the value of a constant expression, or an unknown value.
func evaluate(names map[string]ast.Expr, e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		if named := names[e.Name]; named != nil {
			return evaluate(names, named)
		}
	case *ast.BinaryExpr:
		if x, y := evaluate(names, e.X), evaluate(names, e.Y); e.Op == token.ADD && x.Kind() == y.Kind() {
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return constant.MakeUnknown()
}
