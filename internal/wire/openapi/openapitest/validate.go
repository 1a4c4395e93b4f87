// Package openapitest validates JSON against the schemas of the API, for tests.
package openapitest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/askback/askback/internal/wire/openapi"
)

// allSchemas resolves all schemas once. The schemas become the definitions of a single schema, which has a
// property for each definition.
var allSchemas = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	raw, err := openapi.Document(openapi.Info{}, nil)
	if err != nil {
		return nil, err
	}
	var document struct {
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "#/components/schemas/", "#/$defs/")),
		&document); err != nil {
		return nil, err
	}
	all := jsonschema.Schema{Defs: document.Components.Schemas, Properties: map[string]*jsonschema.Schema{}}
	for name := range all.Defs {
		all.Properties[name] = &jsonschema.Schema{Ref: "#/$defs/" + name}
	}
	return all.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
})

// Validate returns an error if raw does not match the schema with the given name, or if that
// schema does not exist.
func Validate(name string, raw []byte) error {
	all, err := allSchemas()
	if err != nil {
		return err
	}
	if _, ok := all.Schema().Defs[name]; !ok {
		return fmt.Errorf("unknown schema %q", name)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("this is not a valid %s: %w", name, err)
	}
	if err := all.Validate(map[string]any{name: v}); err != nil {
		return fmt.Errorf("this is not a valid %s: %w", name, err)
	}
	return nil
}
