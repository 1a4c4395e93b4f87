package openapi

import (
	"embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed schemas/*.json schemas/gen/*.json
var files embed.FS

// schemaFiles returns the content of the schema files by name of the schema. The nouns of
// the API have generated ones.
var schemaFiles = sync.OnceValue(func() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, folder := range []string{"schemas", "schemas/gen"} {
		entries, err := files.ReadDir(folder)
		if err != nil {
			panic(err) // impossible: the files are embedded
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok {
				continue
			}
			if out[name], err = files.ReadFile(folder + "/" + e.Name()); err != nil {
				panic(err)
			}
		}
	}
	return out
})
