package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rules holds the parts of a schema that its struct does not have, such as a limit, a pattern, an example, or
// a better description.
type rules struct {
	properties orderedJSON // the members to set in properties of the schema
	rest       orderedJSON // the members to set in the schema
}

// loadRules reads the rules of a schema. A schema without a file has no rules.
func loadRules(path string) (r rules, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err = json.Unmarshal(raw, &r.rest); err == nil {
		if properties, ok := r.rest.remove("properties"); ok {
			err = json.Unmarshal(properties, &r.properties)
		}
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// apply applies the rules to properties. A member that is null in the rules is removed. Rules of a request
// may add properties, such as other names of a member.
func (r rules) apply(properties *orderedJSON, f schemaForm) (*orderedJSON, error) {
	for _, name := range r.properties.names {
		given, known := properties.values[name]
		if !known {
			if f.reply {
				return nil, fmt.Errorf("the rules name %q, which is no member", name)
			}
			given = json.RawMessage("{}")
		}
		if string(r.properties.values[name]) == "null" {
			properties.remove(name)
			continue
		}
		var property, changes orderedJSON
		if err := errors.Join(json.Unmarshal(given, &property),
			json.Unmarshal(r.properties.values[name], &changes)); err != nil {
			return nil, fmt.Errorf("the rules of %s: %w", name, err)
		}
		for _, member := range changes.names {
			property.set(member, changes.values[member])
		}
		property.removeNulls()
		properties.set(name, property.raw())
	}
	return properties, nil
}
