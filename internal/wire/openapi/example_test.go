package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/askback/askback/internal/wire/openapi"
)

func TestReferencesInExamplesAreExpanded(t *testing.T) {
	const parts = `{"type":"object","examples":[{"z":1,"parts":[{"$ref":"#/components/schemas/Part/examples/0"}],"a":{"id":"p2"}}]}`
	schemas := map[string]json.RawMessage{
		"Page":  json.RawMessage(`{"examples":[{"item":{"$ref":"#/components/schemas/Whole/examples/0"}}]}`),
		"Whole": json.RawMessage(parts),
		"Part":  json.RawMessage(`{ "examples": [ {"id": "p1"} ] }`),
	}
	if err := openapi.ExpandExamples(schemas); err != nil {
		t.Fatal(err)
	}
	const whole = `{"z":1,"parts":[{"id":"p1"}],"a":{"id":"p2"}}`
	for name, want := range map[string]string{
		"Page":  `{"examples":[{"item":` + whole + `}]}`,
		"Whole": `{"type":"object","examples":[` + whole + `]}`,
		"Part":  `{ "examples": [ {"id": "p1"} ] }`,
	} {
		if diff := cmp.Diff(want, string(schemas[name])); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestInvalidReferencesInExamplesAreErrors(t *testing.T) {
	for schema, want := range map[string]string{
		`{"examples":[{"$ref":"#/components/schemas/Other/examples/0"}]}`: "schema Part: there is no example " +
			"#/components/schemas/Other/examples/0",
		`{"examples":[[{"$ref":"#/components/schemas/Empty/examples/0"}]]}`: "schema Part: there is no example " +
			"#/components/schemas/Empty/examples/0",
		`{"examples":[{"p":{"$ref":"#/components/schemas/Part/examples/0"}}]}`: "schema Part: the example " +
			"#/components/schemas/Part/examples/0 refers to itself",
	} {
		schemas := map[string]json.RawMessage{"Part": json.RawMessage(schema), "Empty": json.RawMessage(`{}`)}
		if err := openapi.ExpandExamples(schemas); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", schema, err, want)
		}
	}
}
