package openapi

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed schemas/*.json
var files embed.FS

// schemaFiles returns the content of the schema files by name of the schema.
var schemaFiles = sync.OnceValue(func() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	entries, err := files.ReadDir("schemas")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	for _, e := range entries {
		raw, err := files.ReadFile("schemas/" + e.Name())
		if err != nil {
			panic(err)
		}
		out[strings.TrimSuffix(e.Name(), ".json")] = raw
	}
	return out
})
