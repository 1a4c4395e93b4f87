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

// schemaFiles returns the schemas by name, with their members in the order of the
// files.
var schemaFiles = sync.OnceValues(func() (map[string]json.RawMessage, error) {
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
			return nil, fmt.Errorf("%s is not valid JSON", name)
		}
		out[strings.TrimSuffix(path.Base(name), ".json")] = raw
	}
	return out, nil
})

// Schemas returns the names of all schemas, sorted.
func Schemas() []string {
	files, err := schemaFiles()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(files))
}

// allSchemas resolves all schemas once, as definitions of one schema with a property
// for each.
var allSchemas = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	files, err := schemaFiles()
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

// Validate returns an error if JSON does not match a schema.
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
		return fmt.Errorf("this is no %s: %w", name, err)
	}
	if err := all.Validate(map[string]any{name: v}); err != nil {
		return fmt.Errorf("this is no %s: %w", name, err)
	}
	return nil
}
