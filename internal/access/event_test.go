package access_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/access"
)

// Each event type has a row in the table of shares, because events of other types are not sent.
func TestEveryEventTypeIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "EventType" {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s has no literal", spec.Names[0])
		}
		name, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		types++
		if !access.KnowsEvent(askback.EventType(name)) {
			t.Errorf("%s (%s) has no row in internal/access/event.go", spec.Names[0], name)
		}
		return true
	})
	if types < 30 {
		t.Errorf("found %d types of events in event.go, want at least 30", types)
	}
	if access.KnowsEvent("else") || access.Unaddressed("else") != access.None {
		t.Error("an unknown type of event is sent")
	}
}
