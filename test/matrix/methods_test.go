package matrix

import (
	"errors"
	"iter"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/access"
	"github.com/askback/askback/store/memstore"
)

// The engine rejects every method of a client for a principal of a kind without permissions. The error names
// the action in the table of methods, and the table of permissions has a rule for that action.
func TestEveryMethodRequiresPermission(t *testing.T) {
	table, err := os.ReadFile("../../internal/access/testdata/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(memstore.New(), nil)
	ask, err := e.As(principals["owner"]).Ask(t.Context(),
		askback.Request{Questions: []askback.Question{{Text: "Name?"}}})
	if err != nil {
		t.Fatal(err)
	}
	client := reflect.ValueOf(e.As(askback.Principal{Kind: "stranger", Name: "eve"}))
	methods := reflect.TypeFor[askback.Client]()
	for m := range methods.Methods() {
		i := strings.Index("\n"+string(table), "\n"+m.Name+" ")
		if i < 0 {
			t.Errorf("%s has no row", m.Name)
			continue
		}
		action := access.Action(strings.Fields(string(table)[i:])[1])
		err := callMethod(t, client.MethodByName(m.Name), arguments(m.Name, ask))
		unnamed := m.Name == "Wait" || m.Name == "Messages" // the errors of these methods do not name the action
		if !errors.Is(err, askback.ErrForbidden) || !unnamed && !slices.Contains(words(err), string(action)) {
			t.Errorf("%s: got %v, want %s: forbidden", m.Name, err, action)
		}
		if !slices.ContainsFunc(askback.Kinds, func(k askback.Kind) bool { return access.Ever(k, action) }) {
			t.Errorf("%s: the table of permissions has no rule for %s", m.Name, action)
		}
	}
}

// words returns the words of an error, without spaces and colons.
func words(err error) []string {
	return strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || r == ':' })
}

// arguments returns valid arguments of a method after the context. It returns no arguments if zero values and
// the id of the ask are valid.
func arguments(method string, ask askback.Ask) []any {
	switch method {
	case "Session", "Messages":
		return []any{ask.SessionID}
	case "Send":
		return []any{ask.SessionID, askback.SendMessage{Text: "Hello."}}
	case "Events":
		return []any{""}
	case "Ask":
		return []any{askback.Request{Questions: ask.Questions}}
	case "Reassign":
		return []any{ask.ID, askback.Reassignment{To: []string{"ana"}}}
	case "Snooze":
		return []any{ask.ID, time.Now().Add(time.Hour)}
	}
	return []any{ask.ID}
}

// callMethod calls a method with a context and arguments, and returns its error. Missing arguments are zero.
func callMethod(t *testing.T, m reflect.Value, args []any) error {
	t.Helper()
	in := []reflect.Value{reflect.ValueOf(t.Context())}
	for i := 1; i < m.Type().NumIn(); i++ {
		in = append(in, reflect.Zero(m.Type().In(i)))
		if i <= len(args) && reflect.TypeOf(args[i-1]).AssignableTo(m.Type().In(i)) {
			in[i] = reflect.ValueOf(args[i-1])
		}
	}
	out := m.Call(in)
	if events, ok := out[0].Interface().(iter.Seq2[askback.Event, error]); ok {
		for _, err := range events {
			return err
		}
	}
	err, _ := out[len(out)-1].Interface().(error)
	return err
}
