package serverlog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/server/serverlog"
	"github.com/askback/askback/internal/wire/revision"
	"github.com/askback/askback/store/memstore"
)

// Every method of a client has a row in the table of methods. If the row has an event, the audited client
// records the event. Otherwise, the row has the reason why the method is not audited.
func TestEveryMethodIsAuditedOrExempt(t *testing.T) {
	table, err := os.ReadFile("../../access/testdata/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(table)) {
		if row := strings.Fields(line); len(row) == 3 && row[0] != "#" {
			rows[row[0]] = row[2]
		}
	}
	recorded := auditedMethods(t)
	for m := range reflect.TypeFor[askback.Client]().Methods() {
		audit, ok := rows[m.Name]
		switch {
		case !ok:
			t.Errorf("%s has no row", m.Name)
		case slices.Contains([]string{"read", "outcome", "progress", "own", "sends"}, audit):
			if len(recorded[m.Name]) > 0 {
				t.Errorf("%s records %q; its row has the reason %q", m.Name, recorded[m.Name], audit)
			}
		case !slices.Contains(recorded[m.Name], audit):
			t.Errorf("%s does not record %q, but %q", m.Name, audit, recorded[m.Name])
		}
		delete(rows, m.Name)
	}
	for name := range rows {
		t.Errorf("a client has no method %s", name)
	}
}

// auditedMethods returns the strings in each method of the audited client.
func auditedMethods(t *testing.T) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		if receiver, ok := f.Recv.List[0].Type.(*ast.Ident); !ok || receiver.Name != "auditedClient" {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				out[f.Name.Name] = append(out[f.Name.Name], text)
			}
			return true
		})
	}
	return out
}

// The audited client gives access to the revisions of the engine, so that asks are not copied.
func TestAuditedClientDoesNotCopyAsks(t *testing.T) {
	l := serverlog.New(io.Discard, serverlog.JSON, slog.LevelInfo)
	client := l.Audit(engine.New(memstore.New(), nil)).As(askback.Principal{Kind: askback.Responder, Name: "ana"})
	if _, ok := revision.In[revision.Source](client); !ok {
		t.Error("the audited client hides the revisions")
	}
}
