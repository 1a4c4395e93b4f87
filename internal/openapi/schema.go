package openapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed schemas/*.json
var files embed.FS

// written are the schemas as they were written, by name: a reader of the
// document finds the members in the order of wire.md.
var written = sync.OnceValues(func() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	names, err := fs.Glob(files, "schemas/*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !json.Valid(raw) {
			return nil, fmt.Errorf("%s is no JSON", name)
		}
		out[strings.TrimSuffix(path.Base(name), ".json")] = raw
	}
	return out, nil
})

// Schemas returns the names of all schemas, sorted.
func Schemas() []string {
	files, err := written()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(files))
}

// compiled is an object with a member for each schema, ready to judge: so all of
// them are compiled once. A reference of OpenAPI is one of JSON Schema where the
// components are definitions.
var compiled = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	files, err := written()
	if err != nil {
		return nil, err
	}
	all := jsonschema.Schema{Defs: map[string]*jsonschema.Schema{}, Properties: map[string]*jsonschema.Schema{}}
	for name, raw := range files {
		var s jsonschema.Schema
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), schemaPath, "#/$defs/")), &s); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		all.Defs[name], all.Properties[name] = &s, &jsonschema.Schema{Ref: "#/$defs/" + name}
	}
	return all.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
})

// Validate says whether JSON is what a schema promises.
func Validate(name string, raw []byte) error {
	all, err := compiled()
	if err != nil {
		return err
	}
	if _, ok := all.Schema().Defs[name]; !ok {
		return fmt.Errorf("there is no schema %q", name)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("this is no %s: %w", name, err)
	}
	if err := all.Validate(map[string]any{name: v}); err != nil {
		return fmt.Errorf("this is no %s: %w", name, err)
	}
	return nil
}
