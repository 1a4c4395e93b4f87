package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/askback/askback/agent"
)

type transfer struct {
	To     string   `json:"to" jsonschema:"the account that gets the money"`
	Amount int      `json:"amount"`
	Notes  []string `json:"notes,omitempty"`
}

func pay(_ context.Context, t transfer) (map[string]int, error) {
	if t.Amount > 100 {
		return nil, errors.New("that is more than is there")
	}
	return map[string]int{t.To: t.Amount}, nil
}

func TestFunctionSchemaDescribesItsInput(t *testing.T) {
	f := agent.Func("pay", "Pays.", pay)
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct {
			Type        any
			Description string
		}
		Additional any `json:"additionalProperties"`
	}
	if err := json.Unmarshal(f.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || fmt.Sprint(schema.Required) != "[to amount]" || schema.Additional == nil ||
		schema.Properties["to"].Description != "the account that gets the money" ||
		schema.Properties["amount"].Type != "integer" {
		t.Errorf("got %s", f.Schema)
	}
	if f.ReadOnly || !f.Destructive {
		t.Errorf("a function that changes something: got read only %v, destructive %v", f.ReadOnly, f.Destructive)
	}
	if r := agent.ReadOnlyFunc("pay", "Pays.", pay); !r.ReadOnly || r.Destructive ||
		string(r.Schema) != string(f.Schema) {
		t.Errorf("a function that only reads: got %+v", r.ToolInfo)
	}
}

func TestFunctionGetsOnlyValidInputs(t *testing.T) {
	f := agent.Func("pay", "Pays.", pay)
	for _, tt := range []struct{ input, want, problem string }{
		{input: `{"to": "ana", "amount": 7}`, want: `{"ana":7}`},
		{input: `{"to": "ana", "amount": 7, "notes": ["rent"]}`, want: `{"ana":7}`},
		{input: `{"to": "ana", "amount": 700}`, problem: "that is more than is there"},
		{input: `{"to": "ana"}`, problem: "pay was not called, because its input is not valid"},
		{input: `{"to": "ana", "amount": "7"}`, problem: "amount"},
		{input: `{"to": "ana", "amount": 7, "currency": "EUR"}`, problem: "currency"},
		{input: `{"To": "ana", "amount": 7}`, problem: "To"},
		{input: `{"to": "ana", "amount": 1e300}`, problem: "amount"},
		{input: `[]`, problem: "not valid"},
	} {
		got, err := f.Call(t.Context(), json.RawMessage(tt.input))
		if got != tt.want || (err == nil) != (tt.problem == "") ||
			err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: got %q, %v", tt.input, got, err)
		}
	}
}

func TestFunctionsReturnTextsAndValues(t *testing.T) {
	text := agent.Func("text", "", func(_ context.Context, in struct{}) (string, error) { return "<b>", nil })
	raw := agent.Func("raw", "",
		func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	if raw.Schema != nil {
		t.Errorf("any object: got the schema %s", raw.Schema)
	}
	for _, tt := range []struct {
		f           agent.Function
		input, want string
	}{{text, `{}`, "<b>"}, {raw, `{"any":[1]}`, `{"any":[1]}`}} {
		if got, err := tt.f.Call(t.Context(), json.RawMessage(tt.input)); got != tt.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

func TestFunctionWithoutSchemaIsReported(t *testing.T) {
	text := agent.Func("text", "", func(_ context.Context, in string) (string, error) { return in, nil })
	channel := agent.Func("channel", "",
		func(_ context.Context, in struct{ C chan int }) (string, error) { return "", nil })
	for _, tt := range []struct {
		f    agent.Function
		want string
	}{
		{text, "agent support: the input of the tool text: string is not a struct"},
		{channel, "agent support: the input of the tool channel"},
		{
			agent.Function{ToolInfo: agent.ToolInfo{Tool: agent.Tool{Name: "empty"}}},
			"agent support: the tool empty has no function",
		},
	} {
		d, _ := support()
		d.Tools, d.Toolsets = []string{"bad"}, []agent.Toolset{agent.Functions("bad", tt.f)}
		if _, err := agent.NewRunner(d); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
		if tt.f.Call != nil {
			if got, err := tt.f.Call(t.Context(), json.RawMessage(`{}`)); err == nil {
				t.Errorf("it was called: %q", got)
			}
		}
	}
}

// A tool with its schema is made from a Go function. If an input is not valid, the model reads the reason.
func ExampleFunc() {
	type city struct {
		Name string `json:"name" jsonschema:"the name in English"`
		Days int    `json:"days,omitempty"`
	}
	tool := agent.ReadOnlyFunc("weather", "Look up the weather.", func(_ context.Context, c city) (string, error) {
		return "sunny in " + c.Name, nil
	})
	fmt.Println(tool.Call(context.Background(), json.RawMessage(`{"name": "Rome"}`)))
	_, err := tool.Call(context.Background(), json.RawMessage(`{"days": 3}`))
	fmt.Println(strings.HasPrefix(err.Error(), "weather was not called, because its input is not valid"))
	// Output:
	// sunny in Rome <nil>
	// true
}
