package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A reference to the first example of a schema is examplePrefix, the name of the schema, and exampleSuffix.
const (
	examplePrefix = "#/components/schemas/"
	exampleSuffix = "/examples/0"
)

// expandExamples replaces each reference in the examples of schemas by a copy of the example.
func expandExamples(schemas map[string]json.RawMessage) error {
	expanded := map[string]json.RawMessage{}
	for name, raw := range schemas {
		if !bytes.Contains(raw, []byte(exampleSuffix)) {
			continue
		}
		var s ordered[json.RawMessage]
		err := json.Unmarshal(raw, &s)
		if examples := s.at("examples"); err == nil && examples != nil {
			*examples, err = expand(schemas, *examples, 0)
		}
		if err == nil {
			expanded[name], err = json.Marshal(s)
		}
		if err != nil {
			return fmt.Errorf("schema %s: %w", name, err)
		}
	}
	for name, raw := range expanded {
		schemas[name] = raw
	}
	return nil
}

// maxReferences is the maximum depth of references in examples. A deeper example refers to itself.
const maxReferences = 8

// expand returns a value with its references replaced by the examples. depth is the number of references
// around the value.
func expand(schemas map[string]json.RawMessage, value json.RawMessage, depth int) (json.RawMessage, error) {
	var err error
	switch value[0] {
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return nil, err
		}
		for i := range items {
			if items[i], err = expand(schemas, items[i], depth); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	case '{':
		var members ordered[json.RawMessage]
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, err
		}
		if ref := members.at("$ref"); ref != nil {
			return referenced(schemas, *ref, depth+1)
		}
		for i := range members {
			if members[i].value, err = expand(schemas, members[i].value, depth); err != nil {
				return nil, err
			}
		}
		return json.Marshal(members)
	}
	return value, nil
}

// referenced returns the example to which ref refers, with the references in the example replaced. It returns
// an error if there is no such example, or if the example refers to itself.
func referenced(schemas map[string]json.RawMessage, ref json.RawMessage, depth int) (json.RawMessage, error) {
	var text string
	if err := json.Unmarshal(ref, &text); err != nil {
		return nil, err
	}
	name, _ := strings.CutPrefix(text, examplePrefix)
	name, _ = strings.CutSuffix(name, exampleSuffix)
	var s struct{ Examples []json.RawMessage }
	if raw, ok := schemas[name]; !ok || json.Unmarshal(raw, &s) != nil || len(s.Examples) == 0 {
		return nil, fmt.Errorf("there is no example %s", text)
	}
	if depth > maxReferences {
		return nil, fmt.Errorf("the example %s refers to itself", text)
	}
	return expand(schemas, s.Examples[0], depth)
}
