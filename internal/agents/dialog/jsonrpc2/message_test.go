package jsonrpc2_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/agents/dialog/jsonrpc2"
	"github.com/askback/askback/internal/wire/jcs"
)

func TestMessagesAreRead(t *testing.T) {
	t.Parallel()
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for text, want := range map[string]jsonrpc2.Message{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":1}}`: {ID: raw(`1`), Method: "m", Params: raw(`{"x":1}`)},
		`{"id": 10e-1, "result": null}`:                          {ID: raw(`1`), Result: raw(`null`)},
		`{"id":"\u0061","error":{"code":1}}`:                     {ID: raw(`"a"`), Error: raw(`{"code":1}`)},
		`{"id":null,"method":"m"}`:                               {Method: "m"},
		`{"id":1,"method":7}`:                                    {ID: raw(`1`)},
	} {
		got, ok, err := jsonrpc2.Read([]byte(text))
		if diff := cmp.Diff(want, got); !ok || err != nil || diff != "" {
			t.Errorf("%s: %t, %v\n%s", text, ok, err, diff)
		}
		if want := want.Method != "" && want.ID != nil; got.IsRequest() != want {
			t.Errorf("%s: IsRequest is %t, want %t", text, got.IsRequest(), want)
		}
	}
	for text, failed := range map[string]bool{
		"": false, "null": false, "a line of a log": false, " []": false, "{}": false, `{"x":1}`: false,
		"{": true, `[{"method":"\ud800"}]`: true, `{"id":1,"id":2}`: true, `{"method":"m"}{}`: true,
		`{"method":"\ud800"}`: true, "{\"method\":\"\xff\"}": true,
		`{"method":"m","params":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`: true,
	} {
		if m, ok, err := jsonrpc2.Read([]byte(text)); ok || (err != nil) != failed {
			t.Errorf("%.40q is read as %+v, %t, %v", text, m, ok, err)
		}
	}
}

func TestValuesAreFoundAtPaths(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"a":{"b":"text","n":7},"l":["a"]}`)
	for _, c := range []struct {
		path         []string
		text, member string
	}{
		{[]string{"a", "b"}, `"text"`, "text"},
		{[]string{"a", "n"}, `7`, ""},
		{[]string{"a", "b", "c"}, ``, ""},
		{[]string{"l", "0"}, ``, ""},
		{[]string{"missing"}, ``, ""},
		{nil, string(raw), ""},
	} {
		if got := string(jsonrpc2.At(raw, c.path...)); got != c.text {
			t.Errorf("%q: At returned %s, want %s", c.path, got, c.text)
		}
		if got := jsonrpc2.StringAt(raw, c.path...); got != c.member {
			t.Errorf("%q: StringAt returned %q, want %q", c.path, got, c.member)
		}
	}
	v, err := jcs.Parse([]byte(`{"s":"text","n":7}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := jsonrpc2.StringOf(v, "s") + jsonrpc2.StringOf(v, "n") + jsonrpc2.StringOf(v, "x"); got != "text" {
		t.Errorf("StringOf returned %q", got)
	}
}
